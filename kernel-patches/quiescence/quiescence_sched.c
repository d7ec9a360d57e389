// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quiescence: while all tasks wait that act on the user's last key press, other
 * tasks are held back. kernel/sched/core.c includes this file, because run queues
 * are known only there.
 *
 * The path begins with the task that reads the key press. Who is woken by a task
 * on the path joins it, and so does whom a work item wakes that the path queued.
 * The path waits when nobody on it can run. The memory says how long that wait
 * was the last time; if that is long enough, a hold begins. It ends when somebody
 * on the path is woken, before a CPU is chosen for that task; or when its time is
 * over.
 *
 * A hold is one of two:
 *
 *   big   the big CPUs pause, by pseudo hotplug. What runs there goes on elsewhere
 *   all   wake-ups of other tasks are held as those of a stage are (bursts_sched.c),
 *         by the same rules; and those that run, or get a CPU, are stopped on their
 *         way back to their programs, where they have no lock of the kernel
 *
 * If "ahead" is set, and it is known well enough when the wait will end, the CPU on
 * which the path fell asleep has a window around that time in its plan (anticipation),
 * so that it is awake when the event comes. The window ends with the hold.
 *
 * Locking. lull_quiet_hold_lock makes beginnings and ends of holds one after the
 * other. It is taken where a task may be woken, never with a lock of the scheduler
 * held. Below it are those of pseudo hotplug, of plans and of the scheduler; and below
 * these lull_quiet_lock, of the path and what is remembered, and lull_quiet_held_lock, of
 * who is held. Probes of trace points take only these two.
 *
 * No task on the path is followed by its address, which is only compared: the
 * path has no references. A task leaves the path when it has ended: until then it may
 * wake others, who wait for its end.
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/input-event-codes.h>
#include <linux/irq_work.h>
#include <linux/sched/isolation.h>
#include <linux/seq_file.h>
#include <linux/task_work.h>
#include <trace/events/workqueue.h>

#include "../anticipation/anticipation.h"
#include "../platform/lull.h"
#include "../platform/probes.h"
#include "quiescence.h"
#include "quiescence_memory.h"
#include "quiescence_path.h"
#include "quiescence_trace.h"

#ifdef CONFIG_LULL_QUIESCENCE

/* Tasks that are woken at a time, so that interrupts are not off for long. */
#define LULL_QUIET_BATCH	32
/* The time from one batch to the next, in ns: the path may be about to run here. */
#define LULL_QUIET_GAP		(50 * NSEC_PER_USEC)

DEFINE_STATIC_KEY_FALSE(lull_quiet_key);
DEFINE_STATIC_KEY_FALSE(lull_quiet_used_key);

unsigned int lull_quiet_bound_ms = 200;
unsigned int lull_quiet_least_us = 2000;

static unsigned int lull_quiet_kind = LULL_QUIET_ALL;
/* Whether the end of a wait is planned for. */
static bool lull_quiet_plans;

static DEFINE_RAW_SPINLOCK(lull_quiet_lock);

/* What follows is under this lock; some of it is read without. */
static struct lull_path lull_quiet_path;
/* The number of the path, which begins anew with each press; the first is 1. */
static u64 lull_quiet_number;
/* For readers: who was where on the path. */
static struct {
	pid_t pid;
	char comm[TASK_COMM_LEN];
} lull_quiet_names[LULL_PATH_MEMBERS];
static struct lull_memory lull_quiet_memory;
static struct lull_quiet_counts lull_quiet_counts;
/* Whether there may be work items on the path. */
static bool lull_quiet_items;
/* A work item that runs was queued by the path again. */
static bool lull_quiet_again[LULL_PATH_MEMBERS];
/* The number of the wait, the first is 1; and since when it is, 0 if nobody waits. */
static u64 lull_quiet_wait;
static u64 lull_quiet_wait_since;
/* The number of the last wait in which others are to be held, and what is known of its length. */
static u64 lull_quiet_wanted;
static u64 lull_quiet_wanted_us;
static u32 lull_quiet_error_us;
/* The number of the last wait with a hold of big CPUs, and which CPUs these were. */
static u64 lull_quiet_big_wait;
static struct cpumask lull_quiet_big;
/* Who has read the key press; only compared. */
static const struct task_struct *lull_quiet_consumer;

static DEFINE_RAW_SPINLOCK(lull_quiet_hold_lock);

/* An enum lull_quiet_hold plus one while there is a hold, else 0. */
static unsigned int lull_quiet_holding;
static bool lull_quiet_on;
static u64 lull_quiet_hold_since;
static u64 lull_quiet_hold_until;
static struct cpumask lull_quiet_cpus;
static struct lull_budget lull_quiet_budget;
static struct hrtimer lull_quiet_timer;
/* The window of this hold, and the CPU that has it; -1 if there is none. */
static struct wake_ahead lull_quiet_ahead = { .owner = "quiescence" };
static int lull_quiet_ahead_cpu = -1;

static DEFINE_RAW_SPINLOCK(lull_quiet_held_lock);

/* Tasks by task_struct.quiet.next. */
struct lull_quiet_list {
	struct task_struct *first;
	struct task_struct *last;
};

static struct lull_quiet_list lull_quiet_held, lull_quiet_leaving;
/* Releases the next batch. */
static struct hrtimer lull_quiet_more;
static u64 lull_quiet_tasks;
/* The task that this CPU releases now. */
static DEFINE_PER_CPU(struct task_struct *, lull_quiet_releases);

static void lull_quiet_stop_soon(struct task_struct *p);
static void lull_quiet_begin(struct irq_work *work);
static void lull_quiet_woken(struct irq_work *work);
static void lull_quiet_release(struct irq_work *work);

static struct irq_work lull_quiet_begin_work = IRQ_WORK_INIT_HARD(lull_quiet_begin);
static struct irq_work lull_quiet_woken_work = IRQ_WORK_INIT_HARD(lull_quiet_woken);
static struct irq_work lull_quiet_release_work = IRQ_WORK_INIT_HARD(lull_quiet_release);

/* Its place on the path, or -1. Without the lock the answer may be old. */
static int lull_quiet_slot(struct task_struct *p)
{
	unsigned int slot = READ_ONCE(p->quiet.slot);

	return slot && READ_ONCE(lull_quiet_path.members[slot - 1].id) == p ? slot - 1 : -1;
}

/* Whether a worker runs a work item that the path has queued; not one before this path. */
static bool lull_quiet_works_for_path(struct task_struct *p)
{
	return READ_ONCE(p->quiet.works_for) &&
	       READ_ONCE(p->quiet.works_for) == READ_ONCE(lull_quiet_number);
}

/* Whether what a task does now, it does for the user. */
static bool lull_quiet_acts(struct task_struct *p)
{
	return lull_quiet_slot(p) >= 0 || lull_quiet_works_for_path(p);
}

/* Whether a task may be held at all. */
static bool lull_quiet_may_hold(struct task_struct *p)
{
	return p->sched_class == &fair_sched_class &&
	       !(p->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING)) && lull_quiet_slot(p) < 0;
}

/*
 * The task that causes what happens here, if it is one. A kernel thread acts for the
 * hardware, as the thread of an interrupt does, unless it runs a work item of the path.
 */
static struct task_struct *lull_quiet_cause(void)
{
	if (!in_task() || (current->flags & PF_KTHREAD && !lull_quiet_works_for_path(current)))
		return NULL;
	return current;
}

static void lull_quiet_begin_wait(void)
{
	s64 expected;

	lockdep_assert_held(&lull_quiet_lock);

	if (!lull_path_waits(&lull_quiet_path) || lull_quiet_wait_since)
		return;
	lull_quiet_wait_since = ktime_get_ns();
	WRITE_ONCE(lull_quiet_wait, lull_quiet_wait + 1);
	lull_quiet_counts.waits++;
	expected = lull_memory_expect(&lull_quiet_memory);
	trace_lull_quiet_wait(lull_quiet_wait, expected);
	if (expected == LULL_WAIT_UNKNOWN) {
		lull_quiet_counts.unknown++;
	} else if (expected <= 0 || expected < READ_ONCE(lull_quiet_least_us)) {
		lull_quiet_counts.brief++;
	} else {
		lull_quiet_wanted = lull_quiet_wait;
		lull_quiet_wanted_us = expected;
		lull_quiet_error_us = lull_memory_error(&lull_quiet_memory);
		irq_work_queue(&lull_quiet_begin_work);
	}
}

/*
 * Whether a task that is not on the path was held in this wait, or has had to do without big CPUs
 * on which it may run. Also if this was over before the wait is.
 */
static bool lull_quiet_missed(struct task_struct *by)
{
	lockdep_assert_held(&lull_quiet_lock);

	if (lull_quiet_acts(by))
		return false;
	return by->quiet.wait == lull_quiet_wait ||
	       (lull_quiet_big_wait == lull_quiet_wait && lull_quiet_may_hold(by) &&
		cpumask_intersects(by->cpus_ptr, &lull_quiet_big));
}

/* @p ends it, whom @by has woken, or an interrupt. */
static void lull_quiet_end_wait(struct task_struct *p, struct task_struct *by)
{
	u64 length;

	lockdep_assert_held(&lull_quiet_lock);

	if (!lull_quiet_wait_since)
		return;
	length = ktime_get_ns() - lull_quiet_wait_since;
	lull_quiet_wait_since = 0;
	lull_memory_waited(&lull_quiet_memory, div_u64(length, NSEC_PER_USEC),
			   READ_ONCE(lull_quiet_least_us), !by && p == lull_quiet_consumer);
	if (by && lull_quiet_missed(by)) {
		lull_quiet_counts.mistaken++;
		trace_lull_quiet_mistake(lull_quiet_wait, by);
	}
	/* It began after the task's waker had looked; pairs with lull_quiet_begin(). */
	if (READ_ONCE(lull_quiet_holding))
		irq_work_queue(&lull_quiet_woken_work);
}

static int lull_quiet_add(const void *id, bool active)
{
	bool evicted;
	int slot = lull_path_add(&lull_quiet_path, id, active, &evicted);

	lull_quiet_counts.joined += slot >= 0;
	lull_quiet_counts.lost += slot < 0;
	lull_quiet_counts.evicted += evicted;
	return slot;
}

static int lull_quiet_join(struct task_struct *p)
{
	int slot = lull_quiet_add(p, true);

	if (slot < 0)
		return slot;
	WRITE_ONCE(p->quiet.slot, slot + 1);
	lull_quiet_names[slot].pid = p->pid;
	/* Without a lock, as trace points do: it is for readers. */
	memcpy(lull_quiet_names[slot].comm, p->comm, TASK_COMM_LEN);
	return slot;
}

/* sched_waking, and sched_wakeup_new. */
static void lull_quiet_wakes(void *unused, struct task_struct *p)
{
	struct task_struct *by = lull_quiet_cause();
	int slot = lull_quiet_slot(p);

	if ((slot < 0 && !(by && lull_quiet_acts(by))) || p->flags & PF_KTHREAD)
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	slot = lull_quiet_slot(p);
	if (slot < 0) {
		if (!by || !lull_quiet_acts(by))
			return;
		slot = lull_quiet_join(p);
		if (slot < 0)
			return;
		trace_lull_quiet_join(p, by);
	}
	lull_path_set(&lull_quiet_path, slot, true);
	lull_quiet_end_wait(p, by);
}

/*
 * sched_wakeup: the task is on a run queue. Who was woken on its way to sleep is
 * seen going to sleep after sched_waking, and before this.
 */
static void lull_quiet_awake(void *unused, struct task_struct *p)
{
	int slot;

	if (lull_quiet_slot(p) < 0)
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	slot = lull_quiet_slot(p);
	if (slot < 0)
		return;
	lull_path_set(&lull_quiet_path, slot, true);
	lull_quiet_end_wait(p, NULL);
}

static void lull_quiet_switches(void *unused, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	int slot;

	/* It was queued when the hold began, or is new. It is stopped before its program goes on. */
	if (READ_ONCE(lull_quiet_holding) == LULL_QUIET_ALL + 1 && lull_quiet_may_hold(next))
		lull_quiet_stop_soon(next);
	/* With PREEMPT_RT a task that waits for a lock is about to go on. */
	if (preempt || !prev_state || prev_state & TASK_RTLOCK_WAIT || lull_quiet_slot(prev) < 0)
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	slot = lull_quiet_slot(prev);
	if (slot < 0)
		return;
	/* A dead task does not run again, and nobody wakes it. */
	if (prev_state & TASK_DEAD)
		lull_path_remove(&lull_quiet_path, slot);
	else
		lull_path_set(&lull_quiet_path, slot, false);
	lull_quiet_begin_wait();
}

/* A work item counts from when a worker runs it: until then it may be taken back. */
static void lull_quiet_queues(void *unused, int cpu, struct pool_workqueue *pwq,
			      struct work_struct *work)
{
	struct task_struct *by = lull_quiet_cause();
	bool acts = by && lull_quiet_acts(by);
	int slot;

	if (!acts && !READ_ONCE(lull_quiet_items))
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	slot = lull_path_find(&lull_quiet_path, work);
	if (slot >= 0 && lull_quiet_path.members[slot].active) {
		lull_quiet_again[slot] = acts;
	} else if (slot >= 0 && !acts) {
		lull_path_remove(&lull_quiet_path, slot);
		lull_quiet_begin_wait();
	} else if (slot < 0 && acts) {
		slot = lull_quiet_add(work, false);
		if (slot < 0)
			return;
		WRITE_ONCE(lull_quiet_items, true);
		lull_quiet_again[slot] = false;
		lull_quiet_names[slot].pid = 0;
		strscpy(lull_quiet_names[slot].comm, "(work)");
	}
}

static void lull_quiet_works(void *unused, struct work_struct *work)
{
	int slot;

	if (!READ_ONCE(lull_quiet_items))
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	slot = lull_path_find(&lull_quiet_path, work);
	if (slot < 0)
		return;
	WRITE_ONCE(current->quiet.works_for, lull_quiet_number);
	lull_path_set(&lull_quiet_path, slot, true);
	lull_quiet_end_wait(NULL, NULL);
}

static void lull_quiet_worked(void *unused, struct work_struct *work, work_func_t function)
{
	bool mine;
	int slot;

	if (!current->quiet.works_for)
		return;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	mine = lull_quiet_works_for_path(current);
	WRITE_ONCE(current->quiet.works_for, 0);
	slot = mine ? lull_path_find(&lull_quiet_path, work) : -1;
	if (slot < 0)
		return;
	if (lull_quiet_again[slot])
		lull_path_set(&lull_quiet_path, slot, false);
	else
		lull_path_remove(&lull_quiet_path, slot);
	lull_quiet_again[slot] = false;
	lull_quiet_begin_wait();
}

static void lull_quiet_clear(void)
{
	lockdep_assert_held(&lull_quiet_lock);

	lull_path_clear(&lull_quiet_path);
	WRITE_ONCE(lull_quiet_number, lull_quiet_number + 1);
	WRITE_ONCE(lull_quiet_items, false);
	lull_quiet_wait_since = 0;
}

/* A wake-up of @p is to be held, or it has stopped itself. Returns whether it is held. */
static bool lull_quiet_keep(struct task_struct *p)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_held_lock);
	if (READ_ONCE(lull_quiet_holding) != LULL_QUIET_ALL + 1)
		return false;
	WRITE_ONCE(p->quiet.through, false);
	/* It slept again before its release came round. */
	if (p->quiet.since)
		return true;

	get_task_struct(p);
	WRITE_ONCE(p->quiet.since, ktime_get_ns());
	WRITE_ONCE(p->quiet.wait, READ_ONCE(lull_quiet_wait));
	if (lull_quiet_held.first)
		lull_quiet_held.last->quiet.next = p;
	else
		lull_quiet_held.first = p;
	lull_quiet_held.last = p;
	lull_quiet_tasks++;
	return true;
}

/* On its way back to its program. A signal ends it, and so does the freezer. */
static void lull_quiet_stopped(struct callback_head *head)
{
	struct lull_quiet_task *quiet = &current->quiet;
	bool others = head->next;

	/* It may be queued again now, which writes @head. Pairs with lull_quiet_stop_soon(). */
	smp_store_release(&quiet->stopping, 0);
	/*
	 * What was queued before this comes after it, for example the end of a file that others
	 * wait for. All of that has to be done first. Each time some of it is, so this ends.
	 */
	if (others) {
		lull_quiet_stop_soon(current);
		return;
	}
	if (!lull_quiet_may_hold(current) || signal_pending(current) || !lull_quiet_keep(current))
		return;

	for (;;) {
		/* Whoever woke it, it sleeps on. Pairs with lull_quiet_release_batch(). */
		WRITE_ONCE(quiet->through, false);
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		/* Pairs with lull_quiet_take(). */
		if (!smp_load_acquire(&quiet->since) || signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	/* By a signal: it may sleep for something else by the time of its release. */
	WRITE_ONCE(quiet->through, true);
}

static void lull_quiet_stop_soon(struct task_struct *p)
{
	if (xchg(&p->quiet.stopping, 1))
		return;
	init_task_work(&p->quiet.stop, lull_quiet_stopped);
	if (task_work_add(p, &p->quiet.stop, TWA_RESUME | TWAF_NO_ALLOC))
		WRITE_ONCE(p->quiet.stopping, 0);
}

/*
 * Who runs now. All others are stopped when they run next: lull_quiet_switches() sees the hold,
 * because it has the lock of the run queue, too.
 */
static void lull_quiet_stop_running(void)
{
	struct rq_flags rf;
	struct rq *rq;
	int cpu;

	for_each_online_cpu(cpu) {
		rq = cpu_rq(cpu);
		rq_lock(rq, &rf);
		if (lull_quiet_may_hold(rq->curr))
			lull_quiet_stop_soon(rq->curr);
		rq_unlock(rq, &rf);
	}
}

/* Takes a task that leaves. The caller wakes it without the lock. */
static struct task_struct *lull_quiet_take(void)
{
	struct task_struct *p = lull_quiet_leaving.first;

	lockdep_assert_held(&lull_quiet_held_lock);

	if (!p)
		return NULL;
	WRITE_ONCE(lull_quiet_leaving.first, p->quiet.next);
	p->quiet.next = NULL;
	/* Pairs with lull_quiet_stopped(): who sees this goes on. */
	smp_store_release(&p->quiet.since, 0);
	return p;
}

/* By another CPU if this one goes offline, which may never do what is queued on it now. */
static void lull_quiet_release_soon(void)
{
	if (!READ_ONCE(lull_quiet_leaving.first))
		return;
	if (cpu_active(raw_smp_processor_id()))
		irq_work_queue(&lull_quiet_release_work);
	else
		irq_work_queue_on(&lull_quiet_release_work, cpumask_first(cpu_active_mask));
}

/* Interrupts are off. Returns whether there are more. */
static bool lull_quiet_release_batch(void)
{
	unsigned int most = LULL_QUIET_BATCH;
	struct task_struct *p;
	unsigned long flags;

	raw_spin_lock_irqsave(&lull_quiet_held_lock, flags);
	while (most-- && (p = lull_quiet_take())) {
		raw_spin_unlock_irqrestore(&lull_quiet_held_lock, flags);
		/* Pairs with lull_quiet_stopped(): it sees that the task leaves, or we wake it. */
		smp_mb();
		/*
		 * This wake-up is not held, and no other one that comes before or after. A stage
		 * does not hold it either: it let the task pass, or the task ran.
		 */
		if (!READ_ONCE(p->quiet.through)) {
			__this_cpu_write(lull_quiet_releases, p);
			__this_cpu_write(lull_bursts_releases.cpu, -1);
			__this_cpu_write(lull_bursts_releases.task, p);
			wake_up_state(p, TASK_INTERRUPTIBLE);
			__this_cpu_write(lull_bursts_releases.task, NULL);
			__this_cpu_write(lull_quiet_releases, NULL);
		}
		put_task_struct(p);
		raw_spin_lock_irqsave(&lull_quiet_held_lock, flags);
	}
	raw_spin_unlock_irqrestore(&lull_quiet_held_lock, flags);

	return READ_ONCE(lull_quiet_leaving.first);
}

/* The next batch not at once: that would be in this interrupt still. */
static void lull_quiet_release_some(void)
{
	if (!lull_quiet_release_batch())
		return;
	if (cpu_active(smp_processor_id()))
		hrtimer_start(&lull_quiet_more, ns_to_ktime(ktime_get_ns() + LULL_QUIET_GAP),
			      HRTIMER_MODE_ABS_HARD);
	else
		lull_quiet_release_soon();
}

static void lull_quiet_release(struct irq_work *work)
{
	lull_quiet_release_some();
}

static enum hrtimer_restart lull_quiet_release_more(struct hrtimer *timer)
{
	lull_quiet_release_some();
	return HRTIMER_NORESTART;
}

/* What is held is to leave. Whoever ends the hold says when: lull_quiet_release_soon(). */
static void lull_quiet_let_go(void)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_held_lock);
	if (!lull_quiet_held.first)
		return;
	if (lull_quiet_leaving.first)
		lull_quiet_leaving.last->quiet.next = lull_quiet_held.first;
	else
		WRITE_ONCE(lull_quiet_leaving.first, lull_quiet_held.first);
	lull_quiet_leaving.last = lull_quiet_held.last;
	lull_quiet_held = (struct lull_quiet_list){};
}

/*
 * The CPU on which the path fell asleep, which is this one, is to be awake when the wait is over.
 * Also if the big CPUs have left: who keeps its timers in a pause sleeps by its plan. A window
 * in vain costs energy, so there is one only if the end of the wait is foreseen, and comes
 * before that of the hold.
 */
static void lull_quiet_plan(void)
{
	struct lull_wait_window window;
	int cpu = smp_processor_id();
	bool sure, planned = false;
	u64 since, us;
	u32 error_us;

	lockdep_assert_held(&lull_quiet_hold_lock);

	if (!READ_ONCE(lull_quiet_plans))
		return;
	scoped_guard(raw_spinlock, &lull_quiet_lock) {
		/* 0 if the path was woken just now: then the hold is about to end. */
		since = lull_quiet_wait_since;
		us = lull_quiet_wanted_us;
		error_us = lull_quiet_error_us;
	}
	sure = lull_wait_is_sure(us, error_us);
	/* One that goes offline is not active from before lull_quiet_cpu_leaves() on. */
	if (sure && since && cpu_active(cpu) &&
	    lull_wait_foresee(us, error_us, wake_ahead_exit_ns(cpu), &window) &&
	    since + window.start_ns > ktime_get_ns() &&
	    since + window.start_ns < lull_quiet_hold_until)
		planned = !wake_ahead_begin(&lull_quiet_ahead, cpu, since + window.start_ns,
					    window.end_ns - window.start_ns, 0);
	lull_quiet_ahead_cpu = planned ? cpu : -1;

	guard(raw_spinlock)(&lull_quiet_lock);
	lull_quiet_counts.planned += planned;
	lull_quiet_counts.unsure += !sure;
	lull_quiet_counts.declined += sure && !planned;
}

/* The window ends, if there is one: the path was woken, or nobody waits for that any more. */
static void lull_quiet_unplan(bool by_path)
{
	const struct lull_window *window = &lull_quiet_ahead.window;
	bool in_force;
	u64 now;

	lockdep_assert_held(&lull_quiet_hold_lock);

	if (lull_quiet_ahead_cpu < 0)
		return;
	lull_quiet_ahead_cpu = -1;
	in_force = wake_ahead_end(&lull_quiet_ahead);
	/* If its CPU has seen that it is over, it is. */
	now = ktime_get_ns();

	guard(raw_spinlock)(&lull_quiet_lock);
	if (now >= window->end)
		lull_quiet_counts.plan_misses++;
	else if (!by_path || !in_force)
		lull_quiet_counts.plan_dropped++;
	else if (now < window->start)
		lull_quiet_counts.plan_early++;
	else
		lull_quiet_counts.plan_hits++;
}

/**
 * lull_quiet_cpu_leaves - a CPU goes offline, and will not be awake for anything
 * @cpu: the CPU
 */
void lull_quiet_cpu_leaves(unsigned int cpu)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_hold_lock);
	if (lull_quiet_ahead_cpu == cpu)
		lull_quiet_unplan(false);
}

/* Returns whether there was a hold. */
static bool lull_quiet_end_locked(enum lull_quiet_end why)
{
	unsigned int holding = lull_quiet_holding;
	u64 held, now;

	lockdep_assert_held(&lull_quiet_hold_lock);

	if (!holding)
		return false;
	now = ktime_get_ns();
	held = now - lull_quiet_hold_since;
	WRITE_ONCE(lull_quiet_holding, 0);
	/* If it fires now, it finds nothing to do. */
	hrtimer_try_to_cancel(&lull_quiet_timer);
	if (holding == LULL_QUIET_BIG + 1) {
		pseudo_cpu_resume();
	} else {
		lull_budget_spend(&lull_quiet_budget, now, held);
		lull_quiet_let_go();
	}
	lull_quiet_unplan(why == LULL_QUIET_BY_PATH);

	guard(raw_spinlock)(&lull_quiet_lock);
	lull_quiet_counts.by_path += why == LULL_QUIET_BY_PATH;
	lull_quiet_counts.by_deadline += why == LULL_QUIET_BY_DEADLINE;
	lull_quiet_counts.held_ns += held;
	lull_quiet_counts.most_ns = max(lull_quiet_counts.most_ns, held);
	trace_lull_quiet_release(lull_quiet_wait, why, held);
	return true;
}

static bool lull_quiet_end(enum lull_quiet_end why)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_hold_lock);
	return lull_quiet_end_locked(why);
}

/*
 * The number of the path's wait, if others are to be held in it, else 0. An interrupt that was
 * asked for in one wait may come in the next one, in which nobody is to be held.
 */
static u64 lull_quiet_wants_hold(void)
{
	guard(raw_spinlock)(&lull_quiet_lock);
	return lull_path_waits(&lull_quiet_path) && lull_quiet_wait_since &&
	       lull_quiet_wanted == lull_quiet_wait ? lull_quiet_wait : 0;
}

/* The path was woken while a hold began. */
static void lull_quiet_woken(struct irq_work *work)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_hold_lock);
	if (lull_quiet_wants_hold())
		return;
	lull_quiet_end_locked(LULL_QUIET_BY_PATH);
	lull_quiet_release_soon();
}

static enum hrtimer_restart lull_quiet_expired(struct hrtimer *timer)
{
	guard(raw_spinlock_irqsave)(&lull_quiet_hold_lock);
	/* Another hold may have begun meanwhile. */
	if (ktime_get_ns() >= lull_quiet_hold_until)
		lull_quiet_end_locked(LULL_QUIET_BY_DEADLINE);
	lull_quiet_release_soon();
	return HRTIMER_NORESTART;
}

/* The CPUs with the most capacity that are not out. Not all CPUs, which pseudo hotplug refuses. */
static void lull_quiet_find_big(struct cpumask *big)
{
	unsigned long most = 0;
	int cpu;

	cpumask_clear(big);
	for_each_possible_cpu(cpu)
		most = max(most, arch_scale_cpu_capacity(cpu));
	for_each_online_cpu(cpu)
		if (arch_scale_cpu_capacity(cpu) == most && !lull_pseudo_offline(cpu))
			cpumask_set_cpu(cpu, big);
}

static bool lull_quiet_can_hold_big(void)
{
	const struct cpumask *home = housekeeping_cpumask(HK_TYPE_DOMAIN);
	unsigned long first = arch_scale_cpu_capacity(cpumask_first(home));
	int cpu;

	if (!static_key_enabled(&lull_hotplug_key.key))
		return false;
	for_each_cpu(cpu, home)
		if (arch_scale_cpu_capacity(cpu) != first)
			return true;

	return false;
}

/*
 * The path fell asleep on this CPU. What it waits for may be a timer that it started here,
 * and it wakes here, because that ends the hold. Elsewhere the timer would wake two CPUs,
 * one after the other.
 */
static bool lull_quiet_leave_big(void)
{
	u64 tasks = 0;
	int cpu;

	lull_quiet_find_big(&lull_quiet_cpus);
	for_each_cpu(cpu, &lull_quiet_cpus)
		/* A count of others, which may change at any time. */
		tasks += data_race(cpu_rq(cpu)->nr_running);
	if (cpumask_empty(&lull_quiet_cpus) ||
	    pseudo_cpu_pause(&lull_quiet_cpus, smp_processor_id()))
		return false;

	guard(raw_spinlock)(&lull_quiet_held_lock);
	lull_quiet_tasks += tasks;
	return true;
}

/* There is no hold after all. Wake-ups were held from when it was announced. */
static void lull_quiet_give_up(void)
{
	WRITE_ONCE(lull_quiet_holding, 0);
	lull_quiet_let_go();
	lull_quiet_release_soon();
}

/* In an interrupt of its own, because the path was seen to wait with a run queue's lock held. */
static void lull_quiet_begin(struct irq_work *work)
{
	unsigned int kind = READ_ONCE(lull_quiet_kind);
	u64 now, bound, wait;
	bool done = false;

	guard(raw_spinlock_irqsave)(&lull_quiet_hold_lock);
	if (!lull_quiet_on || lull_quiet_holding)
		return;
	now = ktime_get_ns();
	bound = READ_ONCE(lull_quiet_bound_ms) * (u64)NSEC_PER_MSEC;
	if (kind == LULL_QUIET_ALL)
		bound = lull_budget_left(&lull_quiet_budget, now, bound);

	/* Pairs with lull_quiet_end_wait(): the path's waker sees this, or is seen. */
	WRITE_ONCE(lull_quiet_holding, kind + 1);
	wait = lull_quiet_wants_hold();
	if (!wait) {
		lull_quiet_give_up();
		return;
	}
	if (bound >= max(READ_ONCE(lull_quiet_least_us), 1U) * (u64)NSEC_PER_USEC) {
		done = kind == LULL_QUIET_ALL || lull_quiet_leave_big();
		if (done && kind == LULL_QUIET_ALL)
			lull_quiet_stop_running();
	}
	if (!done)
		lull_quiet_give_up();
	else
		trace_lull_quiet_hold(wait, kind == LULL_QUIET_ALL, bound);
	scoped_guard(raw_spinlock, &lull_quiet_lock) {
		if (done && kind == LULL_QUIET_BIG) {
			lull_quiet_big_wait = wait;
			cpumask_copy(&lull_quiet_big, &lull_quiet_cpus);
		}
		lull_quiet_counts.holds += done;
		lull_quiet_counts.refused += !done;
	}
	if (!done)
		return;
	lull_quiet_hold_since = now;
	lull_quiet_hold_until = now + bound;
	hrtimer_start(&lull_quiet_timer, ns_to_ktime(now + bound), HRTIMER_MODE_ABS_HARD);
	lull_quiet_plan();
}

/**
 * __lull_quiet_waking - a task is about to be woken
 * @p: the task
 * @state: the states that it may be woken from
 *
 * If it is on the path, the hold ends before a CPU is chosen for it. Who was held is
 * released when that is done, so that no other task takes the CPU meanwhile.
 *
 * Return: whether this has ended a hold. Only then the end of this wake-up releases who was
 * held. That of another wake-up may come before, from an interrupt or another CPU.
 */
bool __lull_quiet_waking(struct task_struct *p, unsigned int state)
{
	if (!READ_ONCE(lull_quiet_holding) || lull_quiet_slot(p) < 0 ||
	    !(READ_ONCE(p->__state) & state))
		return false;

	return lull_quiet_end(LULL_QUIET_BY_PATH);
}

/* The wake-up is done that has ended a hold. */
void __lull_quiet_woke(void)
{
	lull_quiet_release_soon();
}

/* Whether a wake-up is held: see __lull_quiet_hold(). */
static bool lull_quiet_holds(struct task_struct *p, unsigned int state)
{
	if (__this_cpu_read(lull_quiet_releases) == p)
		return false;
	if (READ_ONCE(lull_quiet_holding) != LULL_QUIET_ALL + 1 || !lull_quiet_may_hold(p))
		return false;
	if (signal_pending(p))
		return false;
	if ((state != TASK_NORMAL && state != TASK_INTERRUPTIBLE) ||
	    !(READ_ONCE(p->__state) & TASK_INTERRUPTIBLE) || lull_bursts_must_wake(p)) {
		lull_quiet_stop_soon(p);
		return false;
	}

	return lull_quiet_keep(p);
}

/**
 * __lull_quiet_hold - whether a wake-up is held
 * @p: the task that is to wake, its pi_lock held; it has left its run queue
 * @state: the states that it may be woken from
 *
 * A sleep that cannot be interrupted is not held, because the task may have a lock
 * then, and neither is one for a lock, because others may wait behind the task. Such a
 * task is stopped on its way back to its program.
 *
 * Return: true if the task is held from now on, or was held before.
 */
bool __lull_quiet_hold(struct task_struct *p, unsigned int state)
{
	lockdep_assert_held(&p->pi_lock);

	if (lull_quiet_holds(p, state))
		return true;
	if (READ_ONCE(p->quiet.since))
		WRITE_ONCE(p->quiet.through, true);
	return false;
}

/**
 * __lull_quiet_input - current has read an event
 * @device: of which device
 * @type: of the event
 * @code: of the event
 * @value: of the event
 *
 * When a key or button was pressed, the path begins anew with current.
 */
void __lull_quiet_input(dev_t device, u16 type, u16 code, s32 value)
{
	u64 key = hash_64(((u64)device << 32) | code, 64) ^ current->tgid;

	if (type != EV_KEY || value != 1) {
		guard(raw_spinlock_irqsave)(&lull_quiet_lock);
		if (type != EV_SYN && current == lull_quiet_consumer)
			lull_memory_input(&lull_quiet_memory);
		return;
	}

	scoped_guard(raw_spinlock_irqsave, &lull_quiet_lock) {
		lull_quiet_clear();
		lull_quiet_consumer = current;
		lull_memory_begin(&lull_quiet_memory, key ?: 1);
		lull_quiet_counts.actions++;
		lull_quiet_join(current);
		trace_lull_quiet_action(current, code);
	}
	/* Who is held waits no longer for another path. */
	lull_quiet_end(LULL_QUIET_BY_PATH);
	lull_quiet_release_soon();
}

/**
 * __lull_quiet_fork - a task is born, and is neither on the path nor held
 * @p: the task
 */
void __lull_quiet_fork(struct task_struct *p)
{
	p->quiet = (struct lull_quiet_task){};
}

static const struct lull_trace_probe lull_quiet_probes[] = {
	LULL_TRACE_PROBE(sched_waking, lull_quiet_wakes),
	LULL_TRACE_PROBE(sched_wakeup_new, lull_quiet_wakes),
	LULL_TRACE_PROBE(sched_wakeup, lull_quiet_awake),
	LULL_TRACE_PROBE(sched_switch, lull_quiet_switches),
	LULL_TRACE_PROBE(workqueue_queue_work, lull_quiet_queues),
	LULL_TRACE_PROBE(workqueue_execute_start, lull_quiet_works),
	LULL_TRACE_PROBE(workqueue_execute_end, lull_quiet_worked),
};

int lull_quiet_start(void)
{
	int error;

	if (READ_ONCE(lull_quiet_kind) == LULL_QUIET_BIG && !lull_quiet_can_hold_big())
		return -EOPNOTSUPP;
	if (READ_ONCE(lull_quiet_plans) && !static_key_enabled(&lull_ahead_on.key))
		return -EOPNOTSUPP;

	hrtimer_init(&lull_quiet_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	lull_quiet_timer.function = lull_quiet_expired;
	hrtimer_init(&lull_quiet_more, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	lull_quiet_more.function = lull_quiet_release_more;
	scoped_guard(raw_spinlock_irqsave, &lull_quiet_lock) {
		lull_quiet_clear();
		lull_memory_clear(&lull_quiet_memory);
	}
	/* Before anything is noted of a task that its child would keep. */
	static_branch_enable(&lull_quiet_used_key);
	error = lull_register_probes(lull_quiet_probes, ARRAY_SIZE(lull_quiet_probes));
	if (error)
		return error;
	static_branch_inc(&lull_locks_key);
	scoped_guard(raw_spinlock_irqsave, &lull_quiet_hold_lock)
		lull_quiet_on = true;
	static_branch_enable(&lull_quiet_key);
	return 0;
}

void lull_quiet_stop(void)
{
	scoped_guard(raw_spinlock_irqsave, &lull_quiet_hold_lock) {
		lull_quiet_on = false;
		lull_quiet_end_locked(LULL_QUIET_BY_SWITCH);
	}
	lull_quiet_release_soon();
	lull_unregister_probes(lull_quiet_probes, ARRAY_SIZE(lull_quiet_probes));
	irq_work_sync(&lull_quiet_begin_work);
	irq_work_sync(&lull_quiet_woken_work);
	hrtimer_cancel(&lull_quiet_timer);
	/* Nobody is held any more: who leaves, leaves now, and nothing is left to do after this. */
	while (READ_ONCE(lull_quiet_leaving.first)) {
		guard(irqsave)();
		lull_quiet_release_batch();
	}
	irq_work_sync(&lull_quiet_release_work);
	hrtimer_cancel(&lull_quiet_more);
	static_branch_disable(&lull_quiet_key);
	static_branch_dec(&lull_locks_key);
	scoped_guard(raw_spinlock_irqsave, &lull_quiet_lock) {
		lull_quiet_clear();
		lull_memory_clear(&lull_quiet_memory);
	}
}

int lull_quiet_set_hold(enum lull_quiet_hold hold)
{
	if (hold == LULL_QUIET_BIG && static_key_enabled(&lull_quiet_key.key) &&
	    !lull_quiet_can_hold_big())
		return -EOPNOTSUPP;
	WRITE_ONCE(lull_quiet_kind, hold);
	return 0;
}

enum lull_quiet_hold lull_quiet_get_hold(void)
{
	return READ_ONCE(lull_quiet_kind);
}

int lull_quiet_set_plans(bool plans)
{
	if (plans && static_key_enabled(&lull_quiet_key.key) &&
	    !static_key_enabled(&lull_ahead_on.key))
		return -EOPNOTSUPP;
	WRITE_ONCE(lull_quiet_plans, plans);
	return 0;
}

bool lull_quiet_get_plans(void)
{
	return READ_ONCE(lull_quiet_plans);
}

void lull_quiet_count(struct lull_quiet_counts *counts)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lull_quiet_lock, flags);
	*counts = lull_quiet_counts;
	raw_spin_unlock_irqrestore(&lull_quiet_lock, flags);
	scoped_guard(raw_spinlock_irqsave, &lull_quiet_held_lock)
		counts->tasks = lull_quiet_tasks;
}

/* A name may have any characters, also one that ends a line. */
static void lull_quiet_show_member(struct seq_file *file, unsigned int slot)
{
	seq_printf(file, "member %d %d ", lull_quiet_names[slot].pid,
		   lull_quiet_path.members[slot].active);
	seq_escape_str(file, lull_quiet_names[slot].comm, LULL_ESCAPES, "\\");
	seq_putc(file, '\n');
}

/* The error of a wait that was there once is not known. */
static void lull_quiet_show_wait(struct seq_file *file, const struct lull_action *action,
				 unsigned int number)
{
	seq_printf(file, "wait %016llx %u %u ", action->key, number, action->waits_us[number]);
	if (action->errors_us[number] == LULL_ERROR_UNKNOWN)
		seq_puts(file, "-\n");
	else
		seq_printf(file, "%u\n", action->errors_us[number]);
}

/* A line for each task or work item on the path, and one for what is remembered of a wait. */
void lull_quiet_show(struct seq_file *file)
{
	struct lull_action *action;
	unsigned int i, k;

	guard(raw_spinlock_irqsave)(&lull_quiet_lock);
	for (i = 0; i < LULL_PATH_MEMBERS; i++)
		if (lull_quiet_path.members[i].id)
			lull_quiet_show_member(file, i);
	for (i = 0; i < LULL_MEMORY_ACTIONS; i++) {
		action = &lull_quiet_memory.actions[i];
		for (k = 0; action->key && k < action->count; k++)
			lull_quiet_show_wait(file, action, k);
	}
}

#endif /* CONFIG_LULL_QUIESCENCE */
