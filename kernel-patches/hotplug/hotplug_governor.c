// SPDX-License-Identifier: GPL-2.0-only
/*
 * A governor of pseudo CPU hotplug: as few CPUs are in as the load needs.
 *
 *   /sys/kernel/lull/hotplug/governor/enabled      the switch
 *   /sys/kernel/lull/hotplug/governor/latency_us   a CPU comes back within this time
 *   /sys/kernel/lull/hotplug/governor/load         percent of the CPUs that may be used
 *   /sys/kernel/lull/hotplug/governor/hysteresis   percent less before CPUs leave
 *   /sys/kernel/lull/hotplug/governor/hold_us      and for how long
 *   /sys/kernel/lull/hotplug/governor/stats        samples, and CPUs in and out
 *
 * A timer looks at the scheduler's sums twice within latency_us, on the first CPU,
 * which is always in. When tasks wait at both looks, a CPU comes back. While that
 * first CPU is the only one, and idle, there is no timer; the next switch to a task
 * starts it. All is done by the timer's callback: no thread has to be scheduled on
 * CPUs that are too few already.
 *
 * Locking. What the callback works on is its own: a timer has one callback at a
 * time. lull_governor_mutex is for who starts and stops it. The system's lock is
 * below both, and so are those of run queues, one at a time.
 */
#define pr_fmt(fmt) "lull: hotplug: governor: " fmt

#include <linux/arch_topology.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/sched/topology.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "hotplug.h"
#include "hotplug_governor.h"
#include "hotplug_sched.h"
#include "lull.h"

/* PELT halves what a CPU did this long ago. */
#define LULL_GOVERNOR_HALF_LIFE (32 * NSEC_PER_MSEC)

static DEFINE_MUTEX(lull_governor_mutex);
/* Under the mutex: what root wants, whether the system is on. */
static bool lull_governor_wanted;
static bool lull_governor_allowed;

/* Whether both are so. */
static bool lull_governor_running;
/* There is no timer: one CPU is in, and idle. */
static bool lull_governor_asleep;

/* As after boot. */
static unsigned int lull_governor_latency_us = 5000;
static unsigned int lull_governor_load = 80;
static unsigned int lull_governor_hysteresis = 25;
static unsigned int lull_governor_hold_us = 20000;

/**
 * struct lull_governor_state - what the callback remembers
 * @order: possible CPUs, small ones first
 * @possible: how many
 * @idle_since: when a CPU was first seen idle, 0 if it was not at the last look
 * @running: tasks at the last look
 * @peaks: the most tasks that were seen in this period of hold_us, and in the last
 * @peaks_since: when this period began
 * @low_since: since when fewer CPUs would do
 */
static struct lull_governor_state {
	unsigned int order[NR_CPUS];
	unsigned int possible;
	u64 idle_since[NR_CPUS];
	unsigned int running;
	unsigned int peaks[2];
	u64 peaks_since;
	u64 low_since;
} lull_governor;

/* Written by the callback, and read at any time. */
static struct {
	unsigned long samples;
	unsigned long in;
	unsigned long out;
} lull_governor_stats;

static void lull_governor_count(unsigned long *what)
{
	WRITE_ONCE(*what, *what + 1);
}

/**
 * lull_governor_decay - what is left of the use of a CPU that is idle
 * @util: its use when it became idle, which the scheduler does not keep up to date
 * @idle_ns: how long ago that was
 *
 * Return: the use now, as PELT would have it, with straight lines between halvings.
 */
unsigned long lull_governor_decay(unsigned long util, u64 idle_ns)
{
	u64 halvings = div64_u64(idle_ns, LULL_GOVERNOR_HALF_LIFE);
	u64 rest = idle_ns - halvings * LULL_GOVERNOR_HALF_LIFE;

	if (halvings >= BITS_PER_LONG)
		return 0;
	util >>= halvings;

	return util - div64_u64((util / 2) * rest, LULL_GOVERNOR_HALF_LIFE);
}

/**
 * lull_governor_choose - the CPUs that a load needs
 * @cpus: all there are, in the order in which they are taken; the first one always is
 * @count: how many; at least 1
 * @percent: how much of the CPUs may be used
 * @crowd: as many CPUs at least
 * @peak: more CPUs than this could not all be used
 * @wish: the CPUs
 *
 * One of them is large enough for the largest load that a single CPU has now.
 */
void lull_governor_choose(const struct lull_governor_cpu *cpus, unsigned int count,
			  unsigned int percent, unsigned int crowd, unsigned int peak,
			  struct cpumask *wish)
{
	unsigned long util = 0, capacity, largest = 0;
	unsigned int i, weight, host = 0;

	for (i = 0; i < count; i++) {
		util += cpus[i].util;
		/* Several tasks can be given a CPU each. */
		if (cpus[i].running <= 1)
			largest = max(largest, cpus[i].util);
	}

	for (i = 1; i < count && cpus[host].capacity * percent < largest * 100; i++)
		if (cpus[i].capacity > cpus[host].capacity)
			host = i;

	cpumask_clear(wish);
	cpumask_set_cpu(cpus[0].cpu, wish);
	capacity = cpus[0].capacity;
	weight = 1;
	if (host) {
		cpumask_set_cpu(cpus[host].cpu, wish);
		capacity += cpus[host].capacity;
		weight++;
	}
	for (i = 1; i < count; i++) {
		if (weight >= crowd && (weight >= peak || util * 100 <= capacity * percent))
			break;
		if (i == host)
			continue;
		cpumask_set_cpu(cpus[i].cpu, wish);
		capacity += cpus[i].capacity;
		weight++;
	}
}

/* The CPUs that may be in or out, in their order. Returns how many. */
static unsigned int lull_governor_look(struct lull_governor_cpu *cpus, u64 now)
{
	struct lull_governor_cpu *cpu;
	unsigned int i, count = 0;
	u64 *idle_since;

	for (i = 0; i < lull_governor.possible; i++) {
		cpu = &cpus[count];
		cpu->cpu = lull_governor.order[i];
		/* One that is isolated is none that others' work can leave for. */
		if (!cpu_active(cpu->cpu) || !housekeeping_cpu(cpu->cpu, HK_TYPE_DOMAIN))
			continue;
		count++;
		cpu->capacity = arch_scale_cpu_capacity(cpu->cpu);
		cpu->util = 0;
		cpu->running = 0;
		if (lull_pseudo_offline(cpu->cpu))
			continue;
		cpu->util = sched_cpu_util(cpu->cpu);
		cpu->running = lull_pseudo_running(cpu->cpu);
		idle_since = &lull_governor.idle_since[cpu->cpu];
		if (cpu->running)
			*idle_since = 0;
		else if (!*idle_since)
			*idle_since = now;
		else
			cpu->util = lull_governor_decay(cpu->util, now - *idle_since);
	}

	return count;
}

/* The most tasks at once lately. */
static unsigned int lull_governor_peak(unsigned int running, u64 now)
{
	unsigned int *peaks = lull_governor.peaks;

	if (now - lull_governor.peaks_since > READ_ONCE(lull_governor_hold_us) * NSEC_PER_USEC) {
		peaks[1] = peaks[0];
		peaks[0] = 0;
		lull_governor.peaks_since = now;
	}
	peaks[0] = max(peaks[0], running);

	return max(peaks[0], peaks[1]);
}

/* Those of @cpus that are not in @in leave. What cannot be done now is tried again. */
static void lull_governor_apply(const struct lull_governor_cpu *cpus, unsigned int count,
				const struct cpumask *was, const struct cpumask *in, bool waiting)
{
	struct cpumask out;
	unsigned int i;

	cpumask_clear(&out);
	for (i = 0; i < lull_governor.possible; i++)
		if (lull_pseudo_offline(lull_governor.order[i]))
			cpumask_set_cpu(lull_governor.order[i], &out);
	for (i = 0; i < count; i++)
		cpumask_assign_cpu(cpus[i].cpu, &out, !cpumask_test_cpu(cpus[i].cpu, in));

	if (lull_pseudo_set(&out))
		return;

	for (i = 0; i < count; i++) {
		if (cpumask_test_cpu(cpus[i].cpu, was) && !cpumask_test_cpu(cpus[i].cpu, in)) {
			lull_governor_count(&lull_governor_stats.out);
		} else if (!cpumask_test_cpu(cpus[i].cpu, was) &&
			   cpumask_test_cpu(cpus[i].cpu, in)) {
			lull_governor_count(&lull_governor_stats.in);
			/* A CPU that comes back sleeps on. It is to pull what waits. */
			if (waiting)
				lull_pseudo_pull(cpus[i].cpu);
		}
	}
}

/* One look, and what follows. Returns the first CPU, and whether it is idle and alone. */
static unsigned int lull_governor_step(bool *quiet)
{
	static struct lull_governor_cpu cpus[NR_CPUS];
	unsigned int i, count, crowd, peak, running = 0;
	int load, low;
	struct cpumask in, up, down;
	u64 now = ktime_get_ns();

	*quiet = false;
	count = lull_governor_look(cpus, now);
	/* As while a machine suspends. */
	if (!count)
		return smp_processor_id();

	cpumask_clear(&in);
	for (i = 0; i < count; i++) {
		running += cpus[i].running;
		if (!lull_pseudo_offline(cpus[i].cpu))
			cpumask_set_cpu(cpus[i].cpu, &in);
	}
	crowd = min(running, lull_governor.running);
	lull_governor.running = running;
	peak = lull_governor_peak(running, now);
	lull_governor_count(&lull_governor_stats.samples);

	load = READ_ONCE(lull_governor_load);
	low = max(1, load - (int)READ_ONCE(lull_governor_hysteresis));
	lull_governor_choose(cpus, count, load, crowd, peak, &up);
	lull_governor_choose(cpus, count, low, running, peak, &down);
	cpumask_or(&down, &down, &up);

	if (!cpumask_subset(&up, &in)) {
		cpumask_or(&up, &up, &in);
		lull_governor_apply(cpus, count, &in, &up, crowd > cpumask_weight(&in));
		lull_governor.low_since = now;
	} else if (cpumask_subset(&in, &down)) {
		lull_governor.low_since = now;
		*quiet = !running && cpumask_equal(&in, cpumask_of(cpus[0].cpu));
	} else if (now - lull_governor.low_since >=
		   READ_ONCE(lull_governor_hold_us) * NSEC_PER_USEC) {
		lull_governor_apply(cpus, count, &in, &down, false);
		lull_governor.low_since = now;
	}

	return cpus[0].cpu;
}

static enum hrtimer_restart lull_governor_sample(struct hrtimer *timer);
static void lull_governor_begin(struct irq_work *interrupt);

static struct hrtimer lull_governor_timer;
static struct irq_work lull_governor_interrupt = IRQ_WORK_INIT_HARD(lull_governor_begin);

static ktime_t lull_governor_period(void)
{
	return ns_to_ktime(READ_ONCE(lull_governor_latency_us) * (NSEC_PER_USEC / 2));
}

/* On this CPU. */
static void lull_governor_start(void)
{
	if (READ_ONCE(lull_governor_running))
		hrtimer_start(&lull_governor_timer, lull_governor_period(),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void lull_governor_begin(struct irq_work *interrupt)
{
	lull_governor_start();
}

static enum hrtimer_restart lull_governor_sample(struct hrtimer *timer)
{
	unsigned int first;
	bool quiet;

	if (!READ_ONCE(lull_governor_running))
		return HRTIMER_NORESTART;

	first = lull_governor_step(&quiet);
	if (first != smp_processor_id()) {
		irq_work_queue_on(&lull_governor_interrupt, first);
		return HRTIMER_NORESTART;
	}
	if (quiet) {
		/* A task that comes now is switched to later, on this CPU. */
		WRITE_ONCE(lull_governor_asleep, true);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, lull_governor_period());

	return HRTIMER_RESTART;
}

/* Any CPU, its run queue locked. */
static void lull_governor_switch(void *data, bool preempt, struct task_struct *prev,
				 struct task_struct *next, unsigned int state)
{
	if (!READ_ONCE(lull_governor_asleep) || is_idle_task(next) ||
	    lull_pseudo_offline(smp_processor_id()))
		return;
	if (xchg(&lull_governor_asleep, false))
		lull_governor_start();
}

/* Needs the mutex. */
static int lull_governor_switch_on(void)
{
	struct lull_governor_state *state = &lull_governor;
	unsigned int cpu, i;
	int error;

	error = register_trace_sched_switch(lull_governor_switch, NULL);
	if (error)
		return error;

	memset(state, 0, sizeof(*state));
	for_each_possible_cpu(cpu) {
		for (i = state->possible++; i; i--) {
			if (arch_scale_cpu_capacity(state->order[i - 1]) <=
			    arch_scale_cpu_capacity(cpu))
				break;
			state->order[i] = state->order[i - 1];
		}
		state->order[i] = cpu;
	}
	state->low_since = ktime_get_ns();
	state->peaks_since = state->low_since;

	WRITE_ONCE(lull_governor_asleep, false);
	WRITE_ONCE(lull_governor_running, true);
	/* The callback finds the CPU where it belongs. */
	guard(irqsave)();
	lull_governor_start();

	return 0;
}

/* Needs the mutex. */
static void lull_governor_switch_off(void)
{
	WRITE_ONCE(lull_governor_running, false);
	unregister_trace_sched_switch(lull_governor_switch, NULL);
	tracepoint_synchronize_unregister();
	/* Whoever starts the timer from now on has not seen that, and is one of these. */
	hrtimer_cancel(&lull_governor_timer);
	irq_work_sync(&lull_governor_interrupt);
	hrtimer_cancel(&lull_governor_timer);
	pseudo_cpu_up(cpu_possible_mask);
}

/* Needs the mutex. */
static int lull_governor_settle(void)
{
	bool run = lull_governor_wanted && lull_governor_allowed;

	if (run == lull_governor_running)
		return 0;
	if (run)
		return lull_governor_switch_on();

	lull_governor_switch_off();
	return 0;
}

/**
 * lull_governor_run - the system is on, or it is about to be off
 * @on: which
 *
 * Context: process context; sleeps.
 */
void lull_governor_run(bool on)
{
	guard(mutex)(&lull_governor_mutex);

	lull_governor_allowed = on;
	if (lull_governor_settle())
		pr_warn("no memory, it stays off\n");
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(lull_governor_wanted));
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	unsigned int wanted;
	int error;

	if (kstrtouint(buf, 10, &wanted) || wanted > 1)
		return -EINVAL;

	guard(mutex)(&lull_governor_mutex);

	WRITE_ONCE(lull_governor_wanted, wanted);
	error = lull_governor_settle();
	if (error)
		WRITE_ONCE(lull_governor_wanted, false);

	return error ? error : count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static LULL_NUMBER(latency_us, lull_governor_latency_us, 200, 1000000);
static LULL_NUMBER(load, lull_governor_load, 1, 100);
static LULL_NUMBER(hysteresis, lull_governor_hysteresis, 0, 100);
static LULL_NUMBER(hold_us, lull_governor_hold_us, 0, 1000000);

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "samples %lu in %lu out %lu\n",
			  READ_ONCE(lull_governor_stats.samples),
			  READ_ONCE(lull_governor_stats.in), READ_ONCE(lull_governor_stats.out));
}

static struct kobj_attribute stats_attr = __ATTR_RO_MODE(stats, 0400);

static const struct attribute *const lull_governor_attrs[] = {
	&enabled_attr.attr,
	&lull_number_latency_us.attr.attr,
	&lull_number_load.attr.attr,
	&lull_number_hysteresis.attr.attr,
	&lull_number_hold_us.attr.attr,
	&stats_attr.attr,
	NULL
};

static struct kobject *lull_governor_kobj;

/**
 * lull_governor_create - make the governor's files
 * @parent: the system's directory
 *
 * Context: process context, once.
 * Return: 0, or a negative errno, and the caller calls lull_governor_remove().
 */
int __init lull_governor_create(struct kobject *parent)
{
	hrtimer_init(&lull_governor_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	lull_governor_timer.function = lull_governor_sample;

	lull_governor_kobj = kobject_create_and_add("governor", parent);
	if (!lull_governor_kobj)
		return -ENOMEM;

	return sysfs_create_files(lull_governor_kobj, lull_governor_attrs);
}

/**
 * lull_governor_remove - remove them, if there are any
 *
 * Context: process context, while the system is not used yet.
 */
void __init lull_governor_remove(void)
{
	kobject_put(lull_governor_kobj);
	lull_governor_kobj = NULL;
}
