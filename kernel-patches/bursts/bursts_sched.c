// SPDX-License-Identifier: GPL-2.0-only
/*
 * Staged bursts: the wake-ups of a control group's tasks are held, and released
 * at once. kernel/sched/core.c includes this file, because control groups and
 * run queues are known only there.
 *
 *   cpu.bursts.period_us   bursts begin at multiples of it; 0: nothing is held
 *   cpu.bursts.bound_us    the longest that a wake-up is held; 0: one period
 *   cpu.bursts.deadline_us the least deadline that is heeded; 0: none is
 *   cpu.bursts.parallel    a burst of fewer tasks is put off until a bound ends
 *   cpu.bursts.stat        counts
 *
 * A group with a period is a stage, for its own tasks and for those of groups
 * below it that are no stage themselves. A group below it may have a bound of its
 * own, which holds for its tasks if it is the shorter one.
 *
 * Who wakes a task may have said by prctl() until when, as the request that it passes on has a
 * deadline. Only the stage says whether it heeds deadlines, and how short ones, because its
 * tasks are held for less then, all of them.
 *
 * What is held is a wake-up of an interruptible sleep that comes from outside:
 * from an interrupt, or from a task that belongs to another stage or to none.
 * What the tasks of a stage do to each other, for example handing over a futex,
 * is work of the burst, and is done at once. Signals are not held, and neither
 * are kernel threads, real-time tasks, who waits for a lock, or sleeps that
 * cannot be interrupted, in which a task may hold a lock that somebody else waits
 * for.
 *
 * A held task stays asleep, in its state. To whoever woke it, it has been woken.
 * It may be woken for good meanwhile, by a signal or by a task of its stage. Then the
 * release does not wake it, because it may sleep for something else by then, and not
 * every sleep expects to be woken for nothing: sigtimedwait() would say EINTR. Only if
 * both happen at the same time, it is woken twice.
 *
 * Locking: p->pi_lock, then the stage's lock. The release takes the tasks off
 * under the stage's lock, and wakes them without it. A stage with tasks holds a
 * reference to its group.
 */
#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/sched/isolation.h>

#include "bursts.h"
#include "bursts_stage.h"
#include "bursts_trace.h"

#ifdef CONFIG_LULL_BURSTS

/* Tasks that are woken at a time, so that interrupts are not off for long. */
#define LULL_BURSTS_BATCH	32
/* The time from one batch to the next, in ns. */
#define LULL_BURSTS_GAP		(50 * NSEC_PER_USEC)

/* Groups that a CPU without work asks at most, as interrupts are off then, too. */
#define LULL_BURSTS_ASKED	64

/* Tasks by task_struct.bursts_next. */
struct lull_burst_list {
	struct task_struct *first;
	struct task_struct *last;
};

/**
 * struct lull_burst_group - staged bursts of a control group
 * @lock: protects all of it
 * @tg: the group
 * @node: in the list of all
 * @stage: when to release; its bound is for groups without a period, too
 * @held: the tasks that are held, in order
 * @leaving: those of the burst that is in progress
 * @timer: releases them
 * @due: when it does; U64_MAX if it is not set
 * @given: CPUs that tasks of the burst in progress were sent to
 * @wakes: wake-ups that were held
 * @bursts: times that all were released
 * @early: of which a bound or a deadline ended
 * @deadlines: wake-ups that were held with a deadline
 * @held_sum_ns: how long wake-ups were held, in all
 * @held_most_ns: and at most
 */
struct lull_burst_group {
	raw_spinlock_t lock;
	struct task_group *tg;
	struct list_head node;
	struct lull_stage stage;
	struct lull_burst_list held;
	struct lull_burst_list leaving;
	struct hrtimer timer;
	u64 due;
	struct cpumask given;
	u64 wakes;
	u64 bursts;
	u64 early;
	u64 deadlines;
	u64 held_sum_ns;
	u64 held_most_ns;
};

DEFINE_STATIC_KEY_FALSE(lull_bursts_key);
DEFINE_STATIC_KEY_FALSE(lull_locks_key);
DEFINE_STATIC_KEY_FALSE(lull_bursts_used_key);

unsigned int lull_bursts_spread = 1;
unsigned int lull_bursts_pulls = 1;

/* The task that this CPU releases now, and the CPU that it is given, or -1. */
static DEFINE_PER_CPU(struct {
	struct task_struct *task;
	int cpu;
}, lull_bursts_releases);

/* Written by the switch, and read under a stage's lock. */
static bool lull_bursts_on;
/* Makes groups, and protects the list of them. */
static DEFINE_MUTEX(lull_bursts_mutex);
/* In the order in which they were made; read under RCU. */
static LIST_HEAD(lull_bursts_groups);

static struct task_group *lull_bursts_tg(struct cgroup_subsys_state *css)
{
	return container_of(css, struct task_group, css);
}

static struct lull_burst_group *lull_bursts_group(struct task_group *tg)
{
	/* Pairs with lull_bursts_of(). */
	return smp_load_acquire(&tg->bursts);
}

/* The stage of a group's tasks, or NULL; and the bound that the way there gives. */
static struct lull_burst_group *lull_bursts_stage_of(struct task_group *tg, u64 *bound_ns)
{
	struct lull_burst_group *group;
	u64 bound;

	*bound_ns = 0;
	for (; tg && tg != &root_task_group; tg = tg->parent) {
		group = lull_bursts_group(tg);
		if (!group)
			continue;
		bound = READ_ONCE(group->stage.bound_ns);
		if (bound && (!*bound_ns || bound < *bound_ns))
			*bound_ns = bound;
		if (READ_ONCE(group->stage.period_ns))
			return group;
	}

	return NULL;
}

static void lull_bursts_set_timer(struct lull_burst_group *group, u64 now)
{
	u64 due;

	lockdep_assert_held(&group->lock);

	due = lull_stage_due(&group->stage, now);
	if (due >= group->due)
		return;
	group->due = due;
	hrtimer_start(&group->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_HARD);
}

static bool lull_bursts_is_free(const struct lull_burst_group *group, int cpu)
{
	return cpu_active(cpu) && !cpumask_test_cpu(cpu, &group->given) &&
	       available_idle_cpu(cpu) && !lull_pseudo_offline(cpu);
}

/*
 * An idle CPU for a task of a burst that no other of its tasks was sent to: the
 * one that the task ran on, or any. If there is none, the scheduler decides.
 */
static int lull_bursts_choose(struct lull_burst_group *group, struct task_struct *p)
{
	const struct cpumask *allowed = housekeeping_cpumask(HK_TYPE_DOMAIN);
	int cpu, before = task_cpu(p);

	if (!READ_ONCE(lull_bursts_spread))
		return -1;

	if (cpumask_test_cpu(before, p->cpus_ptr) && lull_bursts_is_free(group, before))
		return before;
	for_each_cpu_and(cpu, p->cpus_ptr, allowed)
		if (lull_bursts_is_free(group, cpu))
			return cpu;

	return -1;
}

static void lull_bursts_append(struct lull_burst_list *list, struct lull_burst_list *more)
{
	if (!more->first)
		return;
	if (list->first)
		list->last->bursts_next = more->first;
	else
		list->first = more->first;
	list->last = more->last;
	*more = (struct lull_burst_list){};
}

/* Takes a task of the burst, and chooses its CPU. The caller wakes it without the lock. */
static struct task_struct *lull_bursts_take(struct lull_burst_group *group, int *cpu)
{
	struct task_struct *p = group->leaving.first;
	u64 held;

	lockdep_assert_held(&group->lock);

	if (!p)
		return NULL;

	group->leaving.first = p->bursts_next;
	p->bursts_next = NULL;
	held = ktime_get_ns() - p->bursts_since;
	group->held_sum_ns += held;
	group->held_most_ns = max(group->held_most_ns, held);

	*cpu = lull_bursts_choose(group, p);
	if (*cpu >= 0)
		cpumask_set_cpu(*cpu, &group->given);
	/* Pairs with lull_bursts_keep(): who holds it again sees all of the above. */
	smp_store_release(&p->bursts_since, 0);
	return p;
}

/*
 * What is held leaves, @most tasks now. While a burst is in progress, this is that burst, and
 * what was held since it began waits for the next one, unless @all are to leave.
 *
 * Returns whether there are more.
 */
static bool lull_bursts_release(struct lull_burst_group *group, unsigned int most, bool all)
{
	struct task_struct *p;
	unsigned long flags;
	bool more;
	int cpu;

	raw_spin_lock_irqsave(&group->lock, flags);
	if (group->stage.count && (all || !group->leaving.first)) {
		/* Read with the lock held, so that it is after each of them was held. */
		u64 now = ktime_get_ns();
		bool early = now >= group->stage.last;

		trace_lull_bursts_release(group->stage.count,
					  now - group->held.first->bursts_since, early);
		group->bursts++;
		group->early += early;
		cpumask_clear(&group->given);
		lull_bursts_append(&group->leaving, &group->held);
		lull_stage_empty(&group->stage);
		/* Nobody else waits for the timer: the next who is held sets it anew. */
		group->due = U64_MAX;
	}
	while (most-- && (p = lull_bursts_take(group, &cpu))) {
		/* Interrupts stay off. */
		raw_spin_unlock(&group->lock);
		/* Pairs with lull_bursts_keep(): it sees that the task leaves, or we wake it. */
		smp_mb();
		if (!READ_ONCE(p->bursts_through)) {
			/* This wake-up is not held, and no other one that comes before or after. */
			__this_cpu_write(lull_bursts_releases.cpu, cpu);
			__this_cpu_write(lull_bursts_releases.task, p);
			wake_up_state(p, TASK_INTERRUPTIBLE);
			__this_cpu_write(lull_bursts_releases.task, NULL);
		}
		put_task_struct(p);
		/* Taken in lull_bursts_keep(). Our caller keeps the group, too. */
		css_put(&group->tg->css);
		raw_spin_lock(&group->lock);
	}
	more = group->leaving.first;
	raw_spin_unlock_irqrestore(&group->lock, flags);

	return more;
}

/* In hard interrupt context. The group is not freed before this has ended. */
static enum hrtimer_restart lull_bursts_fire(struct hrtimer *timer)
{
	struct lull_burst_group *group = container_of(timer, struct lull_burst_group, timer);
	u64 now;
	bool more;

	scoped_guard(raw_spinlock_irqsave, &group->lock)
		group->due = U64_MAX;

	more = lull_bursts_release(group, LULL_BURSTS_BATCH, false);

	guard(raw_spinlock_irqsave)(&group->lock);
	now = ktime_get_ns();
	if (more) {
		/* Not at once: that would be in this interrupt still. */
		group->due = now + LULL_BURSTS_GAP;
		hrtimer_start(timer, ns_to_ktime(group->due), HRTIMER_MODE_ABS_HARD);
	} else {
		lull_bursts_set_timer(group, now);
	}

	return HRTIMER_NORESTART;
}

/*
 * Whether a wake-up must not be held though its task waits interruptibly. Others may wait
 * behind a task that waits for a lock, or for a lock that it has by now. And a task that the
 * cgroup freezer stopped has TIF_SIGPENDING off, and thaws by a wake-up.
 */
static bool lull_bursts_must_wake(struct task_struct *p)
{
#ifdef CONFIG_RT_MUTEXES
	/* A futex with priority inheritance; any lock that sleeps, with PREEMPT_RT. */
	if (p->pi_blocked_on)
		return true;
#endif
	return p->flags & PF_LULL_LOCKS || cgroup_task_frozen(p);
}

static bool lull_bursts_may_hold(struct task_struct *p, unsigned int state)
{
	if (state != TASK_NORMAL && state != TASK_INTERRUPTIBLE)
		return false;
	if (!(READ_ONCE(p->__state) & TASK_INTERRUPTIBLE))
		return false;
	if (p->sched_class != &fair_sched_class ||
	    p->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING))
		return false;

	return !signal_pending(p) && !lull_bursts_must_wake(p);
}

/* The deadline of the request that a wake-up is for, in ns; 0 if it has none. */
static u64 lull_bursts_deadline(void)
{
	/* An interrupt does not work for the task that it interrupts. */
	return in_task() ? (u64)current->bursts_deadline_us * NSEC_PER_USEC : 0;
}

/* A task that is held was to wake once more, for a request that has a deadline. */
static void lull_bursts_hurry(struct lull_burst_group *group, u64 deadline)
{
	u64 now;

	guard(raw_spinlock)(&group->lock);
	now = ktime_get_ns();
	lull_stage_hurry(&group->stage, now, deadline);
	lull_bursts_set_timer(group, now);
}

/* Whether a wake-up is held: see __lull_bursts_hold(). */
static bool lull_bursts_keep(struct task_struct *p, unsigned int state)
{
	struct lull_burst_group *group;
	u64 bound, deadline, unused, now;

	if (__this_cpu_read(lull_bursts_releases.task) == p)
		return false;
	if (!lull_bursts_may_hold(p, state))
		return false;
	group = lull_bursts_stage_of(task_group(p), &bound);
	if (!group)
		return false;
	if (in_task() && lull_bursts_stage_of(task_group(current), &unused) == group)
		return false;
	deadline = lull_bursts_deadline();
	/* Pairs with lull_bursts_release(). */
	WRITE_ONCE(p->bursts_through, false);
	smp_mb();
	/* It slept again before its release came round. Pairs with lull_bursts_take(). */
	if (smp_load_acquire(&p->bursts_since)) {
		if (deadline)
			lull_bursts_hurry(group, deadline);
		return true;
	}

	guard(raw_spinlock)(&group->lock);
	if (!READ_ONCE(lull_bursts_on) || !group->stage.period_ns)
		return false;

	now = ktime_get_ns();
	css_get(&group->tg->css);
	get_task_struct(p);
	WRITE_ONCE(p->bursts_since, now);
	lull_bursts_append(&group->held, &(struct lull_burst_list){ p, p });
	lull_stage_hold(&group->stage, now, lull_stage_limit(&group->stage, bound, deadline));
	group->wakes++;
	group->deadlines += deadline && group->stage.least_ns;
	trace_lull_bursts_hold(p);
	lull_bursts_set_timer(group, now);
	return true;
}

/**
 * __lull_bursts_hold - whether a wake-up is held
 * @p: the task that is to wake, its pi_lock held; it has left its run queue
 * @state: the states that it may be woken from
 *
 * Return: true if the task is held from now on, or was held before.
 */
bool __lull_bursts_hold(struct task_struct *p, unsigned int state)
{
	lockdep_assert_held(&p->pi_lock);

	if (lull_bursts_keep(p, state))
		return true;
	if (READ_ONCE(p->bursts_since))
		WRITE_ONCE(p->bursts_through, true);
	return false;
}

/**
 * __lull_bursts_place - where a task that wakes goes
 * @p: the task
 * @cpu: where the scheduler would send it
 *
 * Return: the CPU that a burst gives it, if the task is being released.
 */
int __lull_bursts_place(struct task_struct *p, int cpu)
{
	int given = __this_cpu_read(lull_bursts_releases.cpu);

	if (__this_cpu_read(lull_bursts_releases.task) != p || given < 0)
		return cpu;

	return available_idle_cpu(given) ? given : cpu;
}

/* Whether a task of a stage waits for another CPU. What is read may be old. */
static bool lull_bursts_waiting(struct task_group *tg, int this_cpu)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu == this_cpu || READ_ONCE(cpu_rq(cpu)->nr_running) < 2)
			continue;
		/* Another CPU's count, which may change at any time. */
		if (data_race(tg->cfs_rq[cpu]->nr_running))
			return true;
	}

	return false;
}

/**
 * __lull_bursts_eager - whether a CPU has to look for work although it may idle for
 * a short time only
 * @this_rq: of the CPU, which runs out of work
 *
 * Return: true if a task of a stage waits elsewhere. Then the CPU may take a task of
 * any group.
 */
bool __lull_bursts_eager(struct rq *this_rq)
{
	unsigned int left = LULL_BURSTS_ASKED;
	struct lull_burst_group *group;

	/* While no task waits anywhere, the caller looks for none, whatever the answer is. */
	if (!READ_ONCE(lull_bursts_pulls) || !get_rd_overloaded(this_rq->rd))
		return false;

	guard(rcu)();
	list_for_each_entry_rcu(group, &lull_bursts_groups, node) {
		if (!left--)
			break;
		if (READ_ONCE(group->stage.period_ns) &&
		    lull_bursts_waiting(group->tg, cpu_of(this_rq)))
			return true;
	}

	return false;
}

/* The group's own, made when something is first written to it. */
static struct lull_burst_group *lull_bursts_of(struct task_group *tg)
{
	struct lull_burst_group *group;

	guard(mutex)(&lull_bursts_mutex);
	if (tg->bursts)
		return tg->bursts;

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return NULL;
	raw_spin_lock_init(&group->lock);
	group->tg = tg;
	group->stage.parallel = 1;
	lull_stage_empty(&group->stage);
	group->due = U64_MAX;
	hrtimer_init(&group->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	group->timer.function = lull_bursts_fire;
	/* Pairs with lull_bursts_group(). */
	smp_store_release(&tg->bursts, group);
	list_add_tail_rcu(&group->node, &lull_bursts_groups);
	return group;
}

/**
 * lull_bursts_unlink - a control group goes
 * @tg: the group; who finds it now has left RCU before it is freed
 */
void lull_bursts_unlink(struct task_group *tg)
{
	if (!tg->bursts)
		return;

	guard(mutex)(&lull_bursts_mutex);
	list_del_rcu(&tg->bursts->node);
}

/**
 * lull_bursts_free - a control group has gone
 * @tg: the group; nobody can find it any more
 */
void lull_bursts_free(struct task_group *tg)
{
	if (!tg->bursts)
		return;

	hrtimer_cancel(&tg->bursts->timer);
	kfree(tg->bursts);
}

static void lull_bursts_release_all(struct lull_burst_group *group)
{
	while (lull_bursts_release(group, LULL_BURSTS_BATCH, true))
		;
}

/* The stage of a group's tasks, or NULL. */
static struct lull_burst_group *lull_bursts_stage(struct cgroup_subsys_state *css)
{
	u64 unused;

	return lull_bursts_stage_of(lull_bursts_tg(css), &unused);
}

/* By the old rules nothing waits on, be it in @before, which was the stage of the group's tasks. */
static void lull_bursts_renew(struct lull_burst_group *group, struct lull_burst_group *before)
{
	lull_bursts_release_all(group);
	if (before && before != group)
		lull_bursts_release_all(before);
}

/* A file's private is the place of its number in the stage. */
static u64 *lull_bursts_time(struct lull_burst_group *group, const struct cftype *file)
{
	return (void *)&group->stage + file->private;
}

static u64 time_us_read(struct cgroup_subsys_state *css, struct cftype *file)
{
	struct lull_burst_group *group = lull_bursts_group(lull_bursts_tg(css));

	return group ? READ_ONCE(*lull_bursts_time(group, file)) / NSEC_PER_USEC : 0;
}

static int time_us_write(struct cgroup_subsys_state *css, struct cftype *file, u64 us)
{
	struct lull_burst_group *group, *before = lull_bursts_stage(css);

	if (us && (us < LULL_BURSTS_LEAST || us > LULL_BURSTS_MOST))
		return -EINVAL;
	group = lull_bursts_of(lull_bursts_tg(css));
	if (!group)
		return -ENOMEM;

	scoped_guard(raw_spinlock_irqsave, &group->lock)
		WRITE_ONCE(*lull_bursts_time(group, file), us * NSEC_PER_USEC);
	lull_bursts_renew(group, before);
	return 0;
}

static u64 parallel_read(struct cgroup_subsys_state *css, struct cftype *file)
{
	struct lull_burst_group *group = lull_bursts_group(lull_bursts_tg(css));

	return group ? READ_ONCE(group->stage.parallel) : 1;
}

static int parallel_write(struct cgroup_subsys_state *css, struct cftype *file, u64 tasks)
{
	struct lull_burst_group *group, *before = lull_bursts_stage(css);

	if (!tasks || tasks > LULL_BURSTS_PARALLEL)
		return -EINVAL;
	group = lull_bursts_of(lull_bursts_tg(css));
	if (!group)
		return -ENOMEM;

	scoped_guard(raw_spinlock_irqsave, &group->lock)
		WRITE_ONCE(group->stage.parallel, tasks);
	lull_bursts_renew(group, before);
	return 0;
}

static int lull_bursts_stat_show(struct seq_file *file, void *unused)
{
	struct lull_burst_group *group = lull_bursts_group(lull_bursts_tg(seq_css(file)));
	u64 wakes = 0, bursts = 0, early = 0, deadlines = 0, sum = 0, most = 0;
	unsigned int count = 0;

	if (group) {
		guard(raw_spinlock_irqsave)(&group->lock);
		count = group->stage.count;
		wakes = group->wakes;
		bursts = group->bursts;
		early = group->early;
		deadlines = group->deadlines;
		sum = group->held_sum_ns;
		most = group->held_most_ns;
	}
	seq_printf(file, "held %u\nwakes %llu\nbursts %llu\nearly %llu\ndeadlines %llu\n", count,
		   wakes, bursts, early, deadlines);
	seq_printf(file, "held_sum_us %llu\nheld_most_us %llu\n", div_u64(sum, NSEC_PER_USEC),
		   div_u64(most, NSEC_PER_USEC));
	return 0;
}

static struct cftype lull_bursts_files[] = {
	{
		.name = "bursts.period_us",
		.private = offsetof(struct lull_stage, period_ns),
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = time_us_read,
		.write_u64 = time_us_write,
	},
	{
		.name = "bursts.bound_us",
		.private = offsetof(struct lull_stage, bound_ns),
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = time_us_read,
		.write_u64 = time_us_write,
	},
	{
		.name = "bursts.deadline_us",
		.private = offsetof(struct lull_stage, least_ns),
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = time_us_read,
		.write_u64 = time_us_write,
	},
	{
		.name = "bursts.parallel",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = parallel_read,
		.write_u64 = parallel_write,
	},
	{
		.name = "bursts.stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = lull_bursts_stat_show,
	},
	{ }
};

int lull_bursts_add_files(void)
{
	return cgroup_add_dfl_cftypes(&cpu_cgrp_subsys, lull_bursts_files);
}

void lull_bursts_start(void)
{
	static_branch_enable(&lull_bursts_used_key);
	static_branch_inc(&lull_locks_key);
	WRITE_ONCE(lull_bursts_on, true);
	static_branch_enable(&lull_bursts_key);
}

/* Who holds a wake-up after this sees that the system is off, or was seen by us. */
void lull_bursts_stop(void)
{
	struct lull_burst_group *group;
	struct task_group *tg;

	WRITE_ONCE(lull_bursts_on, false);
	scoped_guard(rcu) {
		list_for_each_entry_rcu(tg, &task_groups, list) {
			group = lull_bursts_group(tg);
			if (group)
				lull_bursts_release_all(group);
		}
	}
	static_branch_disable(&lull_bursts_key);
	static_branch_dec(&lull_locks_key);
}

#endif /* CONFIG_LULL_BURSTS */
