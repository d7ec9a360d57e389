// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that is awake exactly when work comes.
 *
 *   /sys/kernel/lull/anticipation/learn   1: wake by exit latencies that were seen
 *   /sys/kernel/lull/anticipation/stats   root's: counts, and what was learned
 *
 * Who knows when a CPU will be needed gives it a window (wake_ahead_begin()).
 * The idle loop asks the plan of its CPU before it asks the governor:
 *
 *   before a window   the deepest state that the CPU can leave in time; a timer
 *                     wakes it one exit latency before the window. No deeper
 *                     than the governor says if the window's owner may not
 *   in a window       the deepest state that may be left within the bound, C1 as
 *                     a rule; a timer ends it. If it is another one, no deeper than
 *                     the governor says, likewise
 *   no window         the governor is asked, as always
 *
 * A CPU that is busy needs no timer: the plan is looked at when it goes idle.
 * One that idles when a request comes from elsewhere is interrupted, unless it
 * is to look at its plan soon enough.
 */
#include <linux/cpu.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/tick.h>
#include <trace/events/ipi.h>

#include <asm/arch_timer.h>

#include "anticipation.h"
#include "block.h"
#include "idle.h"
#include "lull.h"
#include "routed.h"
#include "timings.h"

#define CREATE_TRACE_POINTS
#include "anticipation_trace.h"

DEFINE_STATIC_KEY_FALSE(lull_ahead_on);

/**
 * struct lull_ahead_cpu - a CPU's plan and what the CPU does with it
 * @lock: protects the plan, and what is in it
 * @plan: the windows
 * @programs: how many of them are of programs
 * @on: whether requests are taken
 * @look_ns: when the CPU, if it sleeps, looks at its plan again; U64_MAX if it
 * does not sleep by its plan
 * @timer: wakes the CPU
 * @state: in which it slept when the timer was set
 * @most: the deepest state that the plan allows, where the governor is asked too
 * @start: the window that it is woken for, or U64_MAX
 * @first: the request for that window, or NULL if it has ended since
 * @pid: who made it
 * @learned: exit latencies
 * @counts: how windows ended
 * @wakes: how often the timer woke the CPU for a window
 * @late: how often the window had begun by then
 * @late_most_ns: by how much at most
 * @ahead_sum_ns: by how much the CPU was too early the other times, in all
 * @dated: the end of the last sleep that an interrupt was dated back from
 * @interrupts: that the CPU had taken by that interrupt, with it
 */
struct lull_ahead_cpu {
	raw_spinlock_t lock;
	struct lull_plan plan;
	unsigned int programs;
	bool on;
	u64 look_ns;
	struct hrtimer timer;
	int state;
	int most;
	u64 start;
	const struct wake_ahead *first;
	pid_t pid;
	struct lull_learned learned[CPUIDLE_STATE_MAX];
	u64 counts[WAKE_AHEAD_OUTCOMES];
	u64 wakes;
	u64 late;
	u64 late_most_ns;
	u64 ahead_sum_ns;
	u64 dated;
	unsigned long interrupts;
};

static DEFINE_PER_CPU(struct lull_ahead_cpu, lull_ahead_cpus);
static unsigned int lull_ahead_learns = 1;

static struct wake_ahead *to_ahead(struct lull_window *window)
{
	return container_of(window, struct wake_ahead, window);
}

static void lull_ahead_finish(struct lull_ahead_cpu *cpu, struct wake_ahead *ahead,
			      enum wake_ahead_outcome outcome)
{
	lockdep_assert_held(&cpu->lock);

	lull_plan_remove(&cpu->plan, &ahead->window);
	cpu->programs -= !!ahead->dead;
	if (cpu->first == ahead)
		cpu->first = NULL;
	WRITE_ONCE(ahead->counts[outcome], ahead->counts[outcome] + 1);
	cpu->counts[outcome]++;
	trace_lull_ahead_end(ahead, outcome);
	/* Pairs with wake_ahead_planned(): from here on, its owner may free it. */
	smp_store_release(&ahead->planned, false);
}

/* The windows that have passed, and those whose owner has gone. */
static void lull_ahead_tidy(struct lull_ahead_cpu *cpu, u64 now)
{
	struct lull_window *window;
	struct wake_ahead *ahead;
	int i;

	while ((window = lull_plan_over(&cpu->plan, now)))
		lull_ahead_finish(cpu, to_ahead(window), WAKE_AHEAD_MISS);

	for (i = cpu->plan.count - 1; i >= 0; i--) {
		ahead = to_ahead(cpu->plan.windows[i]);
		if (ahead->dead && ahead->dead(ahead))
			lull_ahead_finish(cpu, ahead, WAKE_AHEAD_DROPPED);
	}
}

static u64 lull_ahead_exit_ns(const struct lull_ahead_cpu *cpu, const struct cpuidle_state *state,
			      int index)
{
	if (!READ_ONCE(lull_ahead_learns))
		return state->exit_latency_ns;

	return lull_learned_ns(&cpu->learned[index], state->exit_latency_ns);
}

static void lull_ahead_states(const struct lull_ahead_cpu *cpu, struct cpuidle_driver *drv,
			      struct cpuidle_device *dev, struct lull_plan_state *states)
{
	s64 most = cpuidle_governor_latency_req(dev->cpu);
	int i;

	for (i = 0; i < drv->state_count; i++) {
		const struct cpuidle_state *state = &drv->states[i];

		states[i].usable = !dev->states_usage[i].disable && state->exit_latency_ns <= most;
		states[i].exit_ns = lull_ahead_exit_ns(cpu, state, i);
		states[i].residency_ns = state->target_residency_ns;
	}
}

static const struct wake_ahead *lull_ahead_first(const struct lull_ahead_cpu *cpu, u64 start)
{
	unsigned int i;

	for (i = 0; i < cpu->plan.count; i++)
		if (cpu->plan.windows[i]->start == start)
			return to_ahead(cpu->plan.windows[i]);

	return NULL;
}

/* Whether a window that holds this moment is of an owner who may not slow down others. */
static bool lull_ahead_inside_never_deeper(const struct lull_ahead_cpu *cpu, u64 now)
{
	const struct lull_window *window;
	unsigned int i;

	for (i = 0; i < cpu->plan.count; i++) {
		window = cpu->plan.windows[i];
		if (window->start <= now && window->end > now &&
		    to_ahead(cpu->plan.windows[i])->never_deeper)
			return true;
	}

	return false;
}

/*
 * Chooses a state, and says when the CPU has to look again. @never_deeper is set if
 * the governor may know better, of interrupts that come before the window, or in it.
 */
static int lull_ahead_choose(struct lull_ahead_cpu *cpu, struct cpuidle_driver *drv,
			     struct cpuidle_device *dev, u64 now, u64 timer_ns,
			     bool *never_deeper)
{
	struct lull_plan_state states[CPUIDLE_STATE_MAX];
	struct lull_outlook outlook;
	int state;

	lull_plan_look(&cpu->plan, now, &outlook);
	lull_ahead_states(cpu, drv, dev, states);
	cpu->start = U64_MAX;

	if (outlook.inside) {
		cpu->look_ns = outlook.until;
		state = lull_plan_choose(states, drv->state_count, outlook.bound_ns, timer_ns,
					 U64_MAX);
		/* No governor says less than the first state. */
		*never_deeper = state && lull_ahead_inside_never_deeper(cpu, now);
		return state;
	}

	*never_deeper = lull_ahead_first(cpu, outlook.until)->never_deeper;
	state = lull_plan_choose(states, drv->state_count, U32_MAX, timer_ns,
				 outlook.until - now);
	/* A state that is light enough for the window is not left for it. */
	if (state == 0 || states[state].exit_ns <= outlook.next_bound_ns) {
		cpu->look_ns = outlook.next_until;
		return state;
	}

	cpu->look_ns = outlook.until - states[state].exit_ns;
	cpu->start = outlook.until;
	cpu->first = lull_ahead_first(cpu, outlook.until);
	cpu->pid = cpu->first->pid;
	return state;
}

/**
 * __lull_ahead_select - how to sleep by the plan
 * @drv: the CPU's states
 * @dev: the CPU
 * @state: is set to the state
 *
 * Called by the idle loop in place of a governor. The tick is stopped or kept,
 * and the timer is set.
 *
 * Return: whether the plan says it alone; else the governor is to be asked, and then
 * __lull_ahead_most().
 */
bool __lull_ahead_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, int *state)
{
	struct lull_ahead_cpu *cpu = this_cpu_ptr(&lull_ahead_cpus);
	ktime_t to_tick, to_timer;
	bool never_deeper;
	u64 now, look_ns;

	lockdep_assert_irqs_disabled();

	lull_routed_idle();
	lull_timings_idle();
	cpu->most = INT_MAX;

	/* An empty plan stays empty until this CPU is interrupted. */
	hrtimer_try_to_cancel(&cpu->timer);
	to_timer = tick_nohz_get_sleep_length(&to_tick);
	now = ktime_get();

	raw_spin_lock(&cpu->lock);
	lull_ahead_tidy(cpu, now);
	if (!cpu->on || !cpu->plan.count) {
		cpu->look_ns = U64_MAX;
		cpu->start = U64_MAX;
		raw_spin_unlock(&cpu->lock);
		return false;
	}
	*state = lull_ahead_choose(cpu, drv, dev, now, max_t(s64, to_timer, 0), &never_deeper);
	cpu->state = *state;
	look_ns = cpu->look_ns;
	raw_spin_unlock(&cpu->lock);

	hrtimer_start(&cpu->timer, ns_to_ktime(look_ns), HRTIMER_MODE_ABS_PINNED_HARD);
	/* A state that is lighter than the plan's is left sooner, so that the timer may stay. */
	if (never_deeper) {
		cpu->most = *state;
		return false;
	}
	if (*state || look_ns - now > TICK_NSEC || tick_nohz_tick_stopped())
		tick_nohz_idle_stop_tick();
	else
		tick_nohz_idle_retain_tick();

	return true;
}

/**
 * __lull_ahead_most - how to sleep by the governor and the plan
 * @state: which the governor has chosen
 *
 * Return: the lighter of the governor's state and the plan's, if there is one.
 */
int __lull_ahead_most(int state)
{
	struct lull_ahead_cpu *cpu = this_cpu_ptr(&lull_ahead_cpus);

	if (cpu->most == INT_MAX)
		return state;
	cpu->state = min(state, cpu->most);
	return cpu->state;
}

/* When this CPU had left its last sleep, and when it had begun it. */
static void lull_ahead_slept(const struct lull_idle_sleep *sleep, u64 *entered, u64 *left)
{
	u32 rate = arch_timer_get_cntfrq();
	u64 now = ktime_get();
	u64 ago = __arch_counter_get_cntvct() - sleep->left;

	*left = now - mul_u64_u32_div(ago, NSEC_PER_SEC, rate);
	*entered = *left - mul_u64_u32_div(sleep->left - sleep->entered, NSEC_PER_SEC, rate);
}

/* lull_ahead_left_at - when this CPU had left its last sleep, in ns of CLOCK_MONOTONIC */
u64 lull_ahead_left_at(void)
{
	struct lull_idle_sleep sleep;
	u64 entered, left;

	lull_idle_last(&sleep);
	lull_ahead_slept(&sleep, &entered, &left);
	return left;
}

/*
 * A CPU has left an idle state. If a timer woke it, the exit latency is known: it
 * began when the timer was due. One that was due while the CPU was still on its
 * way into the state tells nothing.
 */
static void lull_ahead_left(unsigned int number, unsigned int depth)
{
	struct lull_ahead_cpu *cpu = this_cpu_ptr(&lull_ahead_cpus);
	struct cpuidle_device *dev = __this_cpu_read(cpuidle_devices);
	struct lull_idle_sleep sleep;
	u64 due, entered, left;

	lull_idle_last(&sleep);
	due = dev ? ktime_to_ns(READ_ONCE(dev->next_hrtimer)) : 0;
	if (!due || sleep.state < 0)
		return;
	lull_ahead_slept(&sleep, &entered, &left);
	if (left < due ||
	    due < entered + cpuidle_get_cpu_driver(dev)->states[sleep.state].exit_latency_ns)
		return;

	raw_spin_lock(&cpu->lock);
	lull_learn(&cpu->learned[sleep.state], left - due);
	raw_spin_unlock(&cpu->lock);
}

/* In hard interrupt context, on the CPU, if it has not gone offline meanwhile. */
static enum hrtimer_restart lull_ahead_fire(struct hrtimer *timer)
{
	struct lull_ahead_cpu *cpu = container_of(timer, struct lull_ahead_cpu, timer);
	u64 due = ktime_to_ns(hrtimer_get_expires(timer));
	struct lull_idle_sleep sleep;
	u64 entered, ready;

	if (cpu != this_cpu_ptr(&lull_ahead_cpus))
		return HRTIMER_NORESTART;

	lull_idle_last(&sleep);
	lull_ahead_slept(&sleep, &entered, &ready);
	/* One that something else had woken was ready all the time. */
	ready = max(ready, due);
	raw_spin_lock(&cpu->lock);
	if (cpu->start != U64_MAX) {
		cpu->wakes++;
		if (ready > cpu->start) {
			cpu->late++;
			cpu->late_most_ns = max(cpu->late_most_ns, ready - cpu->start);
		} else {
			cpu->ahead_sum_ns += cpu->start - ready;
		}
		trace_lull_ahead_wake(smp_processor_id(),
				      cpu->first ? cpu->first->owner : "ended", cpu->pid,
				      cpu->start, cpu->state, ready - due);
	}
	raw_spin_unlock(&cpu->lock);

	return HRTIMER_NORESTART;
}

/* Whether a CPU that idles would be late for a window if it is not told of it. */
static bool lull_ahead_must_tell(const struct lull_ahead_cpu *cpu, int number, u64 start)
{
	u64 ready = cpu->start == U64_MAX ? cpu->look_ns : cpu->start;

	return number != smp_processor_id() && idle_cpu(number) && start < ready;
}

/**
 * wake_ahead_begin - ask for a CPU to be ready
 * @ahead: the request; one in force is ended first, as by wake_ahead_end()
 * @cpu: the CPU
 * @start: from when, in ns of CLOCK_MONOTONIC; may be over
 * @duration_ns: for how long, at least 1
 * @bound_ns: the longest exit latency that the CPU may then have; 0 for its
 * first state
 *
 * Context: any but an NMI; not with a lock of the scheduler or of timers held.
 * Two calls for the same request must not race.
 * Return: 0; -EOPNOTSUPP if the system is off, -ENODEV if there is no such CPU
 * online, -ETIME if the window is over, -ENOSPC if the CPU has too many.
 */
int wake_ahead_begin(struct wake_ahead *ahead, int cpu, u64 start, u64 duration_ns, u32 bound_ns)
{
	struct lull_ahead_cpu *own;
	unsigned long flags;
	u64 now = ktime_get();
	bool tell = false;
	int error;

	wake_ahead_end(ahead);
	if (!static_branch_unlikely(&lull_ahead_on))
		return -EOPNOTSUPP;
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENODEV;
	if (!duration_ns || start + duration_ns < start || start + duration_ns <= now)
		return -ETIME;

	own = per_cpu_ptr(&lull_ahead_cpus, cpu);
	ahead->cpu = cpu;
	ahead->window = (struct lull_window){
		.start = start,
		.end = start + duration_ns,
		.bound_ns = bound_ns,
	};

	raw_spin_lock_irqsave(&own->lock, flags);
	error = own->on ? 0 : -EOPNOTSUPP;
	if (!error) {
		lull_ahead_tidy(own, now);
		if (ahead->dead && own->programs >= LULL_PLAN_PROGRAMS)
			error = -ENOSPC;
		else
			error = lull_plan_add(&own->plan, &ahead->window);
	}
	if (!error) {
		own->programs += !!ahead->dead;
		WRITE_ONCE(ahead->planned, true);
		trace_lull_ahead_begin(ahead);
		tell = lull_ahead_must_tell(own, cpu, start);
	}
	raw_spin_unlock_irqrestore(&own->lock, flags);

	if (tell)
		smp_send_reschedule(cpu);

	return error;
}

/**
 * wake_ahead_end - what was expected has come, or will not
 * @ahead: the request, in force or not
 *
 * It counts as a hit inside its window, as early before, else as a miss.
 *
 * Context: as wake_ahead_begin().
 * Return: whether it was in force.
 */
bool wake_ahead_end(struct wake_ahead *ahead)
{
	struct lull_ahead_cpu *own;
	enum wake_ahead_outcome outcome;
	unsigned long flags;
	bool planned;
	u64 now;

	if (!wake_ahead_planned(ahead))
		return false;

	own = per_cpu_ptr(&lull_ahead_cpus, ahead->cpu);
	now = ktime_get();
	raw_spin_lock_irqsave(&own->lock, flags);
	planned = ahead->planned;
	if (planned) {
		outcome = now < ahead->window.start ? WAKE_AHEAD_EARLY :
			  now < ahead->window.end   ? WAKE_AHEAD_HIT :
						      WAKE_AHEAD_MISS;
		lull_ahead_finish(own, ahead, outcome);
	}
	raw_spin_unlock_irqrestore(&own->lock, flags);

	return planned;
}

/**
 * wake_ahead_planned - whether a request is in force
 * @ahead: the request
 *
 * Return: true from wake_ahead_begin() on, until it is ended or dropped, or its
 * CPU has seen that its window is over.
 */
bool wake_ahead_planned(struct wake_ahead *ahead)
{
	/* Pairs with lull_ahead_finish(). */
	return smp_load_acquire(&ahead->planned);
}

/**
 * wake_ahead_exit_ns - how late a CPU may be that no plan has woken
 * @cpu: the CPU
 *
 * Context: as wake_ahead_begin().
 * Return: the exit latency of the deepest state that it may use, as its plan has it; 0 if it has
 * none but the first.
 */
u64 wake_ahead_exit_ns(int cpu)
{
	struct lull_ahead_cpu *own = per_cpu_ptr(&lull_ahead_cpus, cpu);
	struct cpuidle_device *dev = per_cpu(cpuidle_devices, cpu);
	struct cpuidle_driver *drv = dev ? cpuidle_get_cpu_driver(dev) : NULL;
	struct lull_plan_state states[CPUIDLE_STATE_MAX];
	int i;

	if (!drv)
		return 0;

	scoped_guard(raw_spinlock_irqsave, &own->lock)
		lull_ahead_states(own, drv, dev, states);
	for (i = drv->state_count - 1; i > 0; i--)
		if (states[i].usable)
			return states[i].exit_ns;

	return 0;
}

/**
 * wake_ahead_arrival - when the interrupt that is being handled came
 *
 * @dated: is set to whether the time is right, and not too late by an exit latency
 *
 * An interrupt that ends a sleep came one exit latency before the CPU had left
 * the idle state. While that is not known yet, it is not taken off. The first that
 * asks is taken for that interrupt. A later one comes when it is handled, also if the
 * CPU still idles.
 *
 * Context: in the interrupt, with interrupts off, while the system is on.
 * Return: the time, in ns of CLOCK_MONOTONIC.
 */
u64 wake_ahead_arrival(bool *dated)
{
	struct lull_ahead_cpu *cpu = this_cpu_ptr(&lull_ahead_cpus);
	struct lull_idle_sleep sleep;
	unsigned long interrupts = kstat_cpu_irqs_sum(smp_processor_id());
	u64 entered, left, exit_ns;

	*dated = true;
	lull_idle_last(&sleep);
	if (!is_idle_task(current) || !sleep.left || sleep.state < 0)
		return ktime_get();
	if (cpu->dated != sleep.left) {
		cpu->dated = sleep.left;
		cpu->interrupts = interrupts;
	} else if (interrupts != cpu->interrupts) {
		return ktime_get();
	}

	lull_ahead_slept(&sleep, &entered, &left);
	raw_spin_lock(&cpu->lock);
	exit_ns = lull_learned_ns(&cpu->learned[sleep.state], 0);
	raw_spin_unlock(&cpu->lock);
	*dated = exit_ns;
	return max(left - min(exit_ns, left), entered);
}

static struct lull_idle_watcher lull_ahead_watcher = { .exit = lull_ahead_left };

static int lull_ahead_enable(struct lull_system *system)
{
	int cpu, error = lull_idle_watch(&lull_ahead_watcher);

	if (error)
		return error;
	error = lull_routed_start();
	if (error)
		goto unwatch;
	error = lull_timings_start();
	if (error)
		goto stop_routed;

	for_each_possible_cpu(cpu) {
		struct lull_ahead_cpu *own = per_cpu_ptr(&lull_ahead_cpus, cpu);

		scoped_guard(raw_spinlock_irqsave, &own->lock)
			own->on = true;
	}
	static_branch_enable(&lull_ahead_on);
	return 0;

stop_routed:
	lull_routed_stop();
unwatch:
	lull_idle_unwatch(&lull_ahead_watcher);
	return error;
}

static int lull_ahead_disable(struct lull_system *system)
{
	int cpu;

	static_branch_disable(&lull_ahead_on);
	lull_block_stop();
	lull_timings_stop();
	lull_routed_stop();
	for_each_possible_cpu(cpu) {
		struct lull_ahead_cpu *own = per_cpu_ptr(&lull_ahead_cpus, cpu);

		scoped_guard(raw_spinlock_irqsave, &own->lock) {
			own->on = false;
			own->look_ns = U64_MAX;
			own->start = U64_MAX;
			while (own->plan.count)
				lull_ahead_finish(own, to_ahead(own->plan.windows[0]),
						  WAKE_AHEAD_DROPPED);
		}
		hrtimer_cancel(&own->timer);
	}
	/* A CPU that sleeps for a window that is no more asks its governor. */
	wake_up_all_idle_cpus();
	lull_idle_unwatch(&lull_ahead_watcher);
	return 0;
}

static struct lull_system lull_ahead_system = {
	.name = "anticipation",
	.enable = lull_ahead_enable,
	.disable = lull_ahead_disable,
};

static LULL_NUMBER(learn, lull_ahead_learns, 0, 1);

/* A line for each CPU: its counts, then what was learned of each state, in ns. */
static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t length = 0;
	int cpu, i;

	for_each_online_cpu(cpu) {
		struct lull_ahead_cpu *own = per_cpu_ptr(&lull_ahead_cpus, cpu);
		struct cpuidle_device *dev = per_cpu(cpuidle_devices, cpu);
		struct cpuidle_driver *drv = dev ? cpuidle_get_cpu_driver(dev) : NULL;
		u64 exits[CPUIDLE_STATE_MAX] = {};
		u64 hits, early, misses, dropped, wakes, late, most, ahead;
		int states = drv ? drv->state_count : 0;

		scoped_guard(raw_spinlock_irqsave, &own->lock) {
			hits = own->counts[WAKE_AHEAD_HIT];
			early = own->counts[WAKE_AHEAD_EARLY];
			misses = own->counts[WAKE_AHEAD_MISS];
			dropped = own->counts[WAKE_AHEAD_DROPPED];
			wakes = own->wakes;
			late = own->late;
			most = own->late_most_ns;
			ahead = own->ahead_sum_ns;
			for (i = 0; i < states; i++)
				exits[i] = lull_learned_ns(&own->learned[i], 0);
		}
		length += sysfs_emit_at(buf, length,
					"%d hits %llu early %llu misses %llu dropped %llu wakes %llu late %llu late_most_ns %llu ahead_sum_ns %llu exits_ns",
					cpu, hits, early, misses, dropped, wakes, late, most,
					ahead);
		for (i = 0; i < states; i++)
			length += sysfs_emit_at(buf, length, " %llu", exits[i]);
		length += sysfs_emit_at(buf, length, "\n");
	}

	return length;
}

static struct kobj_attribute stats_attr = __ATTR(stats, 0400, stats_show, NULL);

static const struct attribute *const lull_ahead_attrs[] = {
	&lull_number_learn.attr.attr,
	&stats_attr.attr,
	NULL
};

static int __init lull_ahead_init(void)
{
	int cpu, error;

	for_each_possible_cpu(cpu) {
		struct lull_ahead_cpu *own = per_cpu_ptr(&lull_ahead_cpus, cpu);

		raw_spin_lock_init(&own->lock);
		own->look_ns = U64_MAX;
		own->start = U64_MAX;
		own->most = INT_MAX;
		hrtimer_init(&own->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
		own->timer.function = lull_ahead_fire;
	}

	error = lull_register_system(&lull_ahead_system);
	if (error)
		return error;
	error = sysfs_create_files(lull_ahead_system.kobj, lull_ahead_attrs);
	if (!error)
		error = sysfs_create_files(lull_ahead_system.kobj, lull_block_attrs);
	if (!error)
		error = sysfs_create_files(lull_ahead_system.kobj, lull_routed_attrs);
	if (!error)
		error = sysfs_create_files(lull_ahead_system.kobj, lull_timings_attrs);
	if (error)
		lull_unregister_system(&lull_ahead_system);

	return error;
}
device_initcall(lull_ahead_init);
