// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending high-resolution timers leave a CPU that is pseudo-offline.
 * kernel/time/hrtimer.c includes this file, because moving a timer needs what is
 * static there.
 *
 * The CPU itself moves them, whenever it is about to sleep. So whoever takes it
 * out waits for nothing, however many there are, and a timer that came later, by
 * an old answer or because it was too early for another CPU, is moved, too. A CPU
 * that sleeps already does this after the first of its timers fired. Any user may
 * have very many timers, so each time it looks at the next few to fire; the others
 * have their turn before a later sleep, or at worst fire here.
 *
 * Never are two bases locked. As in switch_hrtimer_base(), a timer on its way
 * belongs to migration_base: it is queued to all who ask, and they wait for its
 * lock until it has arrived. Interrupts are off, so this CPU does not delay it,
 * and none goes offline meanwhile.
 */
#include "hotplug.h"
#include "hotplug_sched.h"

#ifdef CONFIG_LULL_HOTPLUG

/*
 * A timer does not say whether it was pinned when it was started, but those of
 * programs never are. The tick, the scheduler's timers and others that may be
 * about this CPU stay.
 */
static bool lull_hrtimer_of_program(const struct hrtimer *timer)
{
	return timer->function == hrtimer_wakeup ||
	       (IS_ENABLED(CONFIG_POSIX_TIMERS) && (timer->function == it_real_fn ||
						    timer->function == posix_timer_fn)) ||
	       (IS_ENABLED(CONFIG_TIMERFD) && timer->function == timerfd_tmrproc);
}

/*
 * A task that will wake here all the same, as a real-time task does, keeps its
 * timer: another CPU would wake for nothing, and the task late.
 */
static bool lull_hrtimer_stays(struct hrtimer *timer)
{
	struct task_struct *task;

	if (!lull_hrtimer_of_program(timer) || hrtimer_callback_running(timer))
		return true;
	if (timer->function != hrtimer_wakeup)
		return false;

	/* A task is there as long as the timer that it sleeps for is queued. */
	task = READ_ONCE(container_of(timer, struct hrtimer_sleeper, timer)->task);
	return task && lull_pseudo_wakes_here(task, smp_processor_id());
}

/* Takes the timers of a base that leave, of the next to fire. Returns how many. */
static unsigned int lull_hrtimers_take(struct hrtimer_clock_base *base,
				       struct timerqueue_head *leaving)
{
	unsigned int left = LULL_HRTIMERS_AT_ONCE, count = 0;
	struct timerqueue_node *node, *next;
	struct hrtimer *timer;

	guard(raw_spinlock)(&base->cpu_base->lock);

	for (node = timerqueue_getnext(&base->active); node && left; node = next, left--) {
		next = timerqueue_iterate_next(node);
		timer = container_of(node, struct hrtimer, node);
		if (lull_hrtimer_stays(timer))
			continue;
		/* Never inactive, or it could be started a second time. */
		__remove_hrtimer(timer, base, HRTIMER_STATE_ENQUEUED, 0);
		WRITE_ONCE(timer->base, &migration_base);
		timerqueue_add(leaving, node);
		count++;
	}

	return count;
}

/* Returns whether the CPU of @base has to wake earlier than it is going to. */
static bool lull_hrtimer_give(struct hrtimer *timer, struct hrtimer_clock_base *base)
{
	struct hrtimer_cpu_base *cpu_base = base->cpu_base;
	ktime_t expires;

	guard(raw_spinlock)(&cpu_base->lock);

	WRITE_ONCE(timer->base, base);
	cpu_base->active_bases |= 1 << base->index;
	timerqueue_add(&base->active, &timer->node);

	expires = ktime_sub(hrtimer_get_expires(timer), base->offset);
	return expires < cpu_base->expires_next ||
	       (timer->is_soft && expires < cpu_base->softirq_expires_next);
}

/**
 * lull_hrtimers_move - move this CPU's timers to another one
 * @cpu: the other one; online
 *
 * Context: interrupts off.
 */
void lull_hrtimers_move(unsigned int cpu)
{
	struct hrtimer_cpu_base *from = this_cpu_ptr(&hrtimer_bases);
	struct hrtimer_cpu_base *to = &per_cpu(hrtimer_bases, cpu);
	struct timerqueue_head leaving;
	struct timerqueue_node *node;
	unsigned int count = 0;
	bool sooner = false;
	int i;

	lockdep_assert_irqs_disabled();

	timerqueue_init_head(&leaving);
	for (i = 0; i < HRTIMER_MAX_CLOCK_BASES; i++) {
		count += lull_hrtimers_take(&from->clock_base[i], &leaving);
		while ((node = timerqueue_getnext(&leaving))) {
			timerqueue_del(&leaving, node);
			sooner |= lull_hrtimer_give(container_of(node, struct hrtimer, node),
						    &to->clock_base[i]);
		}
	}
	if (!count)
		return;

	scoped_guard(raw_spinlock, &from->lock)
		hrtimer_force_reprogram(from, 1);
	if (!sooner)
		return;
	/*
	 * If such a call is under way, it has yet to look at the timers. Under the lock,
	 * as in hrtimer_start(): other CPUs may give timers to that one now, and a call
	 * that two of them begin at a time is queued twice.
	 */
	guard(raw_spinlock)(&to->lock);
	smp_call_function_single_async(cpu, &to->csd);
}

/*
 * Before a CPU that is pseudo-offline sleeps. Nobody else may be left, as when
 * the machine suspends.
 */
void lull_hrtimers_leave(void)
{
	unsigned int cpu = get_nohz_timer_target();

	if (lull_pseudo_keeps_timers(smp_processor_id()))
		return;
	if (cpu != smp_processor_id() && !lull_pseudo_offline(cpu) && cpu_active(cpu))
		lull_hrtimers_move(cpu);
}

#endif /* CONFIG_LULL_HOTPLUG */
