/* SPDX-License-Identifier: GPL-2.0-only */
/* Staged bursts: what the scheduler asks. */
#ifndef _LULL_BURSTS_H
#define _LULL_BURSTS_H

#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "bursts_abi.h"

struct rq;
struct task_group;

#ifdef CONFIG_LULL_BURSTS

/* Of task_struct.flags: waits for a mutex or a semaphore. */
#define PF_LULL_LOCKS	PF__HOLE__02000000

DECLARE_STATIC_KEY_FALSE(lull_bursts_key);
/* On while a system holds wake-ups: staged bursts, or quiescence. */
DECLARE_STATIC_KEY_FALSE(lull_locks_key);
/* On for good before the first task is held or has a deadline, which a child would inherit. */
DECLARE_STATIC_KEY_FALSE(lull_bursts_used_key);

extern unsigned int lull_bursts_spread;
extern unsigned int lull_bursts_pulls;

bool __lull_bursts_hold(struct task_struct *p, unsigned int state);
int __lull_bursts_place(struct task_struct *p, int cpu);
bool __lull_bursts_eager(struct rq *this_rq);
void lull_bursts_unlink(struct task_group *tg);
void lull_bursts_free(struct task_group *tg);
int lull_bursts_set_deadline(unsigned long us, unsigned long arg3, unsigned long arg4,
			     unsigned long arg5);

/* For bursts.c */
int lull_bursts_add_files(void);
void lull_bursts_start(void);
void lull_bursts_stop(void);

/*
 * A child is not held, even if its parent is: a signal may have woken that meanwhile. And whom
 * the child wakes has no deadline.
 */
static __always_inline void lull_bursts_fork(struct task_struct *child)
{
	if (!static_branch_unlikely(&lull_bursts_used_key))
		return;
	child->bursts_deadline_us = 0;
	child->bursts_next = NULL;
	child->bursts_since = 0;
	child->bursts_through = false;
}

/* This task waits for a lock, from here on: its wake-ups are not held. */
static __always_inline void lull_bursts_lock_begin(void)
{
	if (static_branch_unlikely(&lull_locks_key))
		current->flags |= PF_LULL_LOCKS;
}

/* It does not any more. The system may have been turned off meanwhile. */
static __always_inline void lull_bursts_lock_end(void)
{
	if (unlikely(current->flags & PF_LULL_LOCKS))
		current->flags &= ~PF_LULL_LOCKS;
}

/*
 * Whether a wake-up is held back. Then the task sleeps on, and whoever woke it
 * goes on as if the task had been woken. A nop while the system is off.
 */
static __always_inline bool lull_bursts_hold(struct task_struct *p, unsigned int state)
{
	return static_branch_unlikely(&lull_bursts_key) && __lull_bursts_hold(p, state);
}

/* Where a task of a burst goes; others go to @cpu. */
static __always_inline int lull_bursts_place(struct task_struct *p, int cpu)
{
	return static_branch_unlikely(&lull_bursts_key) ? __lull_bursts_place(p, cpu) : cpu;
}

/* Whether a CPU that runs out of work has to look for a task of a burst. */
static __always_inline bool lull_bursts_eager(struct rq *this_rq)
{
	return static_branch_unlikely(&lull_bursts_key) && __lull_bursts_eager(this_rq);
}

#else

static inline void lull_bursts_fork(struct task_struct *child)
{
}

static inline void lull_bursts_lock_begin(void)
{
}

static inline void lull_bursts_lock_end(void)
{
}

static inline bool lull_bursts_hold(struct task_struct *p, unsigned int state)
{
	return false;
}

static inline int lull_bursts_place(struct task_struct *p, int cpu)
{
	return cpu;
}

static inline bool lull_bursts_eager(struct rq *this_rq)
{
	return false;
}

static inline void lull_bursts_unlink(struct task_group *tg)
{
}

static inline void lull_bursts_free(struct task_group *tg)
{
}

static inline int lull_bursts_set_deadline(unsigned long us, unsigned long arg3,
					   unsigned long arg4, unsigned long arg5)
{
	return -EINVAL;
}

#endif

#endif /* _LULL_BURSTS_H */
