// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any interrupt, as kernel/irq/timings.c predicts it: to compare with predictions
 * of who knows the device.
 *
 *   /sys/kernel/lull/anticipation/irqs         1: predict, 0: do not
 *   /sys/kernel/lull/anticipation/irqs_stats   root's: how well
 *
 * Upstream learns the pauses between the interrupts that a CPU took, looks for a
 * pattern that repeats, and says when the CPU's next interrupt is due, but not
 * which one that is. It has had no user since it was merged; this is one. How far
 * off it was is learned here, and where that is too much nothing is asked of the
 * CPU, as with the other predictions.
 *
 * Only an interrupt that finds its CPU idle counts: for another nobody has to wake.
 */
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>
#include <trace/events/irq.h>

#include "expect.h"
#include "lull.h"
#include "timings.h"

/**
 * struct lull_timings_cpu - a CPU's next interrupt
 * @event: what is expected
 * @due: when, in ns of CLOCK_MONOTONIC, be it asked for or not; 0 for never
 * @error_ns: how far such predictions were off, on average over the last eight or so
 * @accuracy: counts
 *
 * The CPU's own, with interrupts off.
 */
struct lull_timings_cpu {
	struct wake_ahead_event event;
	u64 due;
	u64 error_ns;
	struct wake_ahead_accuracy accuracy;
};

static DEFINE_PER_CPU(struct lull_timings_cpu, lull_timings_cpus);
static DEFINE_STATIC_KEY_FALSE(lull_timings_on);

/* Serialises the switches: that of the system, and this prediction's. */
static DEFINE_MUTEX(lull_timings_lock);
static bool lull_timings_wanted;
static bool lull_timings_system;
static bool lull_timings_running;

static bool lull_timings_counts(const struct irqaction *action)
{
	return !(action->flags & (__IRQF_TIMER | IRQF_PERCPU));
}

/* Before an interrupt's handler, on the CPU that takes it. */
static void lull_timings_probe(void *unused, int irq, struct irqaction *action)
{
	struct lull_timings_cpu *cpu = this_cpu_ptr(&lull_timings_cpus);
	u64 came;

	if (!is_idle_task(current) || !lull_timings_counts(action))
		return;

	came = cpu->event.since + wake_ahead_came(&cpu->event, &cpu->accuracy);
	if (cpu->due) {
		cpu->error_ns += (abs_diff(came, cpu->due) + 7) / 8;
		cpu->error_ns -= cpu->error_ns / 8;
	}
	cpu->due = 0;
}

/* lull_timings_idle - this CPU has nothing to do; with interrupts off */
void lull_timings_idle(void)
{
	struct lull_timings_cpu *cpu = this_cpu_ptr(&lull_timings_cpus);
	struct lull_prediction prediction;
	u64 clock, next, now, due;

	if (!static_branch_unlikely(&lull_timings_on))
		return;

	clock = local_clock();
	now = ktime_get();
	next = irq_timings_next_event(clock);
	/*
	 * It says the present of what is overdue, and nonsense where interrupts come less
	 * than once in a quarter of a second: such a distance is beyond its own tables.
	 */
	if (next == U64_MAX || next <= clock || next - clock > NSEC_PER_SEC)
		return;
	due = now + next - clock;
	/* The same as before, but for the two clocks' way of counting. */
	if (cpu->due && abs_diff(due, cpu->due) < WAKE_AHEAD_MARGIN_NS)
		return;

	cpu->due = due;
	cpu->event.task.owner = "interrupt";
	prediction.ns = due - now;
	prediction.error_ns = cpu->error_ns;
	wake_ahead_expect(&cpu->event, -1, smp_processor_id(),
			  lull_prediction_is_useful(&prediction) ? &prediction : NULL);
}

/* Makes a change of a switch true. */
static int lull_timings_apply(void)
{
	bool run = lull_timings_wanted && lull_timings_system;
	int cpu, error;

	lockdep_assert_held(&lull_timings_lock);

	if (run == lull_timings_running)
		return 0;
	if (run) {
		error = register_trace_irq_handler_entry(lull_timings_probe, NULL);
		if (error)
			return error;
		irq_timings_enable();
		static_branch_enable(&lull_timings_on);
		lull_timings_running = true;
		return 0;
	}

	static_branch_disable(&lull_timings_on);
	irq_timings_disable();
	unregister_trace_irq_handler_entry(lull_timings_probe, NULL);
	/* An idle loop that is at it counts as a reader, as a probe does. */
	tracepoint_synchronize_unregister();
	for_each_possible_cpu(cpu) {
		wake_ahead_forget(&per_cpu_ptr(&lull_timings_cpus, cpu)->event);
		per_cpu_ptr(&lull_timings_cpus, cpu)->due = 0;
		per_cpu_ptr(&lull_timings_cpus, cpu)->error_ns = 0;
	}
	lull_timings_running = false;
	return 0;
}

/**
 * lull_timings_start - anticipation is on
 *
 * Return: 0 or an error.
 */
int lull_timings_start(void)
{
	int error;

	guard(mutex)(&lull_timings_lock);
	lull_timings_system = true;
	error = lull_timings_apply();
	if (error)
		lull_timings_system = false;
	return error;
}

/* lull_timings_stop - it is not, and what was learned is forgotten */
void lull_timings_stop(void)
{
	guard(mutex)(&lull_timings_lock);
	lull_timings_system = false;
	lull_timings_apply();
}

static ssize_t irqs_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(lull_timings_wanted));
}

static ssize_t irqs_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	bool before;
	ssize_t done;
	int error;

	guard(mutex)(&lull_timings_lock);
	before = lull_timings_wanted;
	done = lull_store_bool(&lull_timings_wanted, buf, count);
	if (done < 0)
		return done;
	error = lull_timings_apply();
	if (error)
		WRITE_ONCE(lull_timings_wanted, before);
	return error ?: done;
}

static struct kobj_attribute irqs_attr = __ATTR_RW(irqs);

static ssize_t irqs_stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct lull_timings_cpu *own;
	ssize_t length = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		own = per_cpu_ptr(&lull_timings_cpus, cpu);
		/* Counters of CPUs that go on counting. */
		length += data_race(sysfs_emit_at(buf, length,
						  "%d seen %llu predicted %llu hits %llu early %llu late %llu error_ns %llu\n",
						  cpu, own->accuracy.seen, own->accuracy.predicted,
						  own->accuracy.hits, own->accuracy.early,
						  own->accuracy.late, own->error_ns));
	}

	return length;
}

static struct kobj_attribute irqs_stats_attr = __ATTR(irqs_stats, 0400, irqs_stats_show, NULL);

const struct attribute *const lull_timings_attrs[] = {
	&irqs_attr.attr,
	&irqs_stats_attr.attr,
	NULL
};
