// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's part of pseudo CPU hotplug. kernel/sched/core.c includes this
 * file, because pushing a task needs what is static there.
 *
 * A fair task comes to a pseudo-offline CPU in one of two ways: its affinity
 * leaves it no other, or it was on the way when the CPU left. Those of the first
 * kind stay. The others are pushed off by the stopper, in this order:
 *
 *   leaving			a CPU that has tasks
 *
 *   clear the bit		enqueue a task
 *   full barrier		__schedule(): full barrier after rq->lock
 *   is cfs_tasks empty?	is the bit set?
 *
 * One of the two sees the other. So whoever leaves calls the stopper, or the next
 * pick of a task that may leave does. The pick sees each task that was placed by
 * an old answer, whatever the path it came by; the tick makes a running task
 * subject to a pick, for one that was given a wider affinity meanwhile.
 *
 * The stopper's work does not wait for anybody, and nobody waits for it.
 */
#include <linux/cpuidle.h>

#include "hotplug.h"
#include "hotplug_sched.h"
#include "hotplug_trace.h"

#ifdef CONFIG_LULL_HOTPLUG

/* Further down in core.c. */
static inline bool is_cpu_allowed(struct task_struct *p, int cpu);
static inline int select_task_rq(struct task_struct *p, int cpu, int *wake_flags);
static struct rq *__migrate_task(struct rq *rq, struct rq_flags *rf, struct task_struct *p,
				 int dest_cpu);

static DEFINE_PER_CPU(struct cpu_stop_work, lull_pseudo_push_work);
static DEFINE_PER_CPU(struct balance_callback, lull_pseudo_push_head);
/* 1 from when the work is queued until it has begun. */
static DEFINE_PER_CPU(int, lull_pseudo_push_queued);

static bool lull_pseudo_usable(struct task_struct *p, int cpu)
{
	return !lull_pseudo_offline(cpu) && cpu_active(cpu) && is_cpu_allowed(p, cpu);
}

/*
 * The nearest CPU that a task can have instead of @cpu: an idle one of the
 * smallest domain that has any, else the one there with the fewest tasks. The
 * caller holds the task's rq->lock or pi_lock.
 *
 * Returns nr_cpu_ids if its affinity has no other.
 */
static int lull_pseudo_instead(struct task_struct *p, int cpu)
{
	unsigned int running, fewest = UINT_MAX;
	struct sched_domain *sd;
	int i, best = nr_cpu_ids;

	guard(rcu)();
	for (sd = rcu_dereference(cpu_rq(cpu)->sd); sd; sd = rcu_dereference(sd->parent)) {
		for_each_cpu_and(i, sched_domain_span(sd), p->cpus_ptr) {
			if (!lull_pseudo_usable(p, i))
				continue;
			if (idle_cpu(i))
				return i;
			running = READ_ONCE(cpu_rq(i)->nr_running);
			if (running < fewest) {
				fewest = running;
				best = i;
			}
		}
		if (best < nr_cpu_ids)
			return best;
	}

	/* No domain reaches there: another partition, or this CPU has none. */
	for_each_cpu(i, p->cpus_ptr)
		if (lull_pseudo_usable(p, i))
			return i;

	return nr_cpu_ids;
}

/* Whether this is a task that leaves at all; whether it can is another question. */
static bool lull_pseudo_leaves(struct task_struct *p)
{
	if (is_migration_disabled(p) || p->nr_cpus_allowed == 1 || kthread_is_per_cpu(p))
		return false;
	if (p->sched_class == &fair_sched_class)
		return true;

	return READ_ONCE(lull_pseudo_realtime) &&
	       (p->sched_class == &rt_sched_class || p->sched_class == &dl_sched_class);
}

/*
 * The last word on where a task goes that wakes or is born. That a task stays
 * whose affinity names a CPU is no news for the kernel's own, which are bound
 * for good.
 */
static int lull_pseudo_place(struct task_struct *p, int cpu)
{
	int instead = nr_cpu_ids;

	lockdep_assert_held(&p->pi_lock);

	if (lull_pseudo_leaves(p))
		instead = lull_pseudo_instead(p, cpu);
	if (instead < nr_cpu_ids)
		return instead;

	if (p->sched_class == &fair_sched_class && !(p->flags & PF_KTHREAD)) {
		struct lull_pseudo_count *count = per_cpu_ptr(&lull_pseudo_counts, cpu);

		/* Counted by whoever places it, on any CPU. */
		data_race(count->stranded++);
		trace_lull_pseudo_stranded(p, task_cpu(p), cpu);
	}
	return cpu;
}

/**
 * lull_pseudo_wakes_here - whether a task will wake on a CPU although that is out
 * @p: sleeps
 * @cpu: pseudo-offline
 *
 * Context: any. The task may be given another affinity or class meanwhile, and the
 * answer be old.
 */
bool lull_pseudo_wakes_here(struct task_struct *p, int cpu)
{
	struct cpumask allowed;
	int i;

	if (task_cpu(p) != cpu)
		return false;
	/* No lock of the task is held, nor could be: see above. */
	if (!data_race(lull_pseudo_leaves(p)))
		return true;

	/* As above. */
	allowed = data_race(*p->cpus_ptr);
	for_each_cpu(i, &allowed)
		/* As above. */
		if (data_race(lull_pseudo_usable(p, i)))
			return false;

	return true;
}

/* The CPU in @mask that a task is sent to whose affinity was changed to it. */
static int lull_pseudo_any(const struct cpumask *mask, const struct cpumask *valid, int cpu)
{
	int i;

	if (!lull_pseudo_offline(cpu))
		return cpu;

	for_each_cpu_and(i, mask, valid)
		if (!lull_pseudo_offline(i))
			return i;

	return cpu;
}

/* A task to push, with a reference; the one that waits longest is last. */
static struct task_struct *lull_pseudo_next(struct rq *rq)
{
	struct task_struct *p;

	lockdep_assert_rq_held(rq);

	list_for_each_entry(p, &rq->cfs_tasks, se.group_node) {
		/* It sleeps, and will be placed anew. */
		if (p->se.sched_delayed || !lull_pseudo_leaves(p))
			continue;
		if (lull_pseudo_instead(p, cpu_of(rq)) < nr_cpu_ids)
			return get_task_struct(p);
	}

	return NULL;
}

static void lull_pseudo_push_one(struct rq *rq, struct task_struct *p)
{
	int flags = WF_EXEC, from = cpu_of(rq), to;
	struct rq_flags rf;

	guard(raw_spinlock_irq)(&p->pi_lock);

	to = select_task_rq(p, from, &flags);
	rq_lock(rq, &rf);
	update_rq_clock(rq);
	if (to != from && task_rq(p) == rq && task_on_rq_queued(p) &&
	    p->sched_class == &fair_sched_class) {
		per_cpu_ptr(&lull_pseudo_counts, from)->pushed++;
		trace_lull_pseudo_pushed(p, from, to);
		rq = __migrate_task(rq, &rf, p, to);
	}
	rq_unlock(rq, &rf);
}

/*
 * Runs as the stopper of a pseudo-offline CPU, so that no other task does. Who
 * comes after the count was taken is pushed after the next pick.
 */
static int lull_pseudo_push_stop(void *unused)
{
	struct task_struct *p;
	struct rq *rq = this_rq();
	struct rq_flags rf;
	unsigned int left;

	/* A full barrier: who queues it from now on is heard, or seen here. */
	xchg(this_cpu_ptr(&lull_pseudo_push_queued), 0);

	for (left = READ_ONCE(rq->nr_running); left; left--) {
		if (!lull_pseudo_offline(cpu_of(rq)))
			break;
		rq_lock_irq(rq, &rf);
		p = lull_pseudo_next(rq);
		rq_unlock_irq(rq, &rf);
		if (!p)
			break;
		lull_pseudo_push_one(rq, p);
		put_task_struct(p);
	}

	return 0;
}

static void lull_pseudo_push_queue(int cpu)
{
	if (xchg(per_cpu_ptr(&lull_pseudo_push_queued, cpu), 1))
		return;
	/* The stopper of a CPU that goes offline takes no work; nobody needs it. */
	if (!stop_one_cpu_nowait(cpu, lull_pseudo_push_stop, NULL,
				 per_cpu_ptr(&lull_pseudo_push_work, cpu)))
		WRITE_ONCE(per_cpu(lull_pseudo_push_queued, cpu), 0);
}

/* After the switch to a task that has to leave; as balance_push() does. */
static void lull_pseudo_push(struct rq *rq)
{
	lockdep_assert_rq_held(rq);

	if (rq != this_rq())
		return;

	preempt_disable();
	raw_spin_rq_unlock(rq);
	lull_pseudo_push_queue(cpu_of(rq));
	preempt_enable();
	raw_spin_rq_lock(rq);
}

/*
 * A task was picked on a pseudo-offline CPU. If it can leave, the stopper runs
 * before it does.
 */
static void __lull_pseudo_picked(struct rq *rq, struct task_struct *next)
{
	lockdep_assert_rq_held(rq);

	if (next->sched_class != &fair_sched_class || !lull_pseudo_leaves(next) ||
	    lull_pseudo_instead(next, cpu_of(rq)) >= nr_cpu_ids)
		return;

	queue_balance_callback(rq, this_cpu_ptr(&lull_pseudo_push_head), lull_pseudo_push);
}

static inline void lull_pseudo_picked(struct rq *rq, struct task_struct *next)
{
	if (lull_pseudo_offline(cpu_of(rq)))
		__lull_pseudo_picked(rq, next);
}

/* The tick of a CPU: a running task that may leave by now is picked again. */
static inline void lull_pseudo_tick(struct rq *rq)
{
	struct task_struct *curr = rq->curr;

	if (lull_pseudo_offline(cpu_of(rq)) && curr->sched_class == &fair_sched_class &&
	    lull_pseudo_leaves(curr))
		resched_curr(rq);
}

/* Whether what an idle CPU is in is what it would choose now. */
static bool lull_pseudo_asleep(struct rq *rq)
{
	struct cpuidle_device *dev = per_cpu(cpuidle_devices, cpu_of(rq));
	struct cpuidle_driver *drv = cpuidle_get_cpu_driver(dev);
	struct cpuidle_state *state;

	guard(rcu)();
	state = idle_get_state(rq);

	return dev && drv && state &&
	       state == &drv->states[lull_pseudo_idle_state(drv, dev)];
}

/**
 * lull_pseudo_kick - make a CPU notice that it is pseudo-offline
 * @cpu: the CPU
 *
 * Its tasks are pushed. If it idles, but not in its deepest state, it chooses
 * again; a CPU on its way to sleep is woken by the interrupt that is pending.
 *
 * Context: any in which a task may be woken.
 */
void lull_pseudo_kick(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	/* Pairs with the barrier in __schedule(), as said above. */
	smp_mb();

	if (!list_empty(&rq->cfs_tasks))
		lull_pseudo_push_queue(cpu);
	else if (cpu_online(cpu) && cpu != smp_processor_id() && !lull_pseudo_asleep(rq))
		smp_send_reschedule(cpu);
}

/*
 * Where an unpinned timer goes that a pseudo-offline CPU starts, if nobody is
 * busy.
 */
static int lull_pseudo_timer_cpu(int cpu)
{
	return lull_pseudo_any(housekeeping_cpumask(HK_TYPE_TIMER), cpu_active_mask, cpu);
}

/**
 * lull_pseudo_running - how many tasks run on a CPU, or wait to
 * @cpu: the CPU
 *
 * Those that sleep and are still queued are not counted.
 */
unsigned int lull_pseudo_running(int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	unsigned int running = READ_ONCE(rq->nr_running);
	/* An old answer is put right at the next look. */
	unsigned int delayed = data_race(rq->cfs.h_nr_delayed);

	return running > delayed ? running - delayed : 0;
}

/**
 * lull_pseudo_pull - have an idle CPU look for tasks that wait elsewhere
 * @cpu: the CPU
 *
 * Context: any in which a task may be woken.
 */
void lull_pseudo_pull(int cpu)
{
	resched_cpu(cpu);
}

#else

static inline int lull_pseudo_place(struct task_struct *p, int cpu)
{
	return cpu;
}

static inline int lull_pseudo_any(const struct cpumask *mask, const struct cpumask *valid, int cpu)
{
	return cpu;
}

static inline void lull_pseudo_picked(struct rq *rq, struct task_struct *next)
{
}

static inline void lull_pseudo_tick(struct rq *rq)
{
}

static inline int lull_pseudo_timer_cpu(int cpu)
{
	return cpu;
}

#endif /* CONFIG_LULL_HOTPLUG */
