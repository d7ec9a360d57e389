/* SPDX-License-Identifier: GPL-2.0-only */
/* Quiescence: what the scheduler and evdev ask. */
#ifndef _LULL_QUIESCENCE_H
#define _LULL_QUIESCENCE_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct seq_file;
struct task_struct;

/* In the order of the words in /sys/kernel/lull/quiescence/hold. */
enum lull_quiet_hold {
	LULL_QUIET_BIG,
	LULL_QUIET_ALL,
};

/* Why a hold ended. */
enum lull_quiet_end {
	LULL_QUIET_BY_PATH,
	LULL_QUIET_BY_DEADLINE,
	LULL_QUIET_BY_SWITCH,
};

/**
 * struct lull_quiet_counts - since boot
 * @actions: key presses that were read
 * @joined: tasks and work items that joined the path
 * @evicted: of the path, because there was no room
 * @lost: that did not join, because all others on the path were running
 * @waits: times that nobody on the path was runnable
 * @unknown: waits that were not known from the last time
 * @brief: waits that were too short the last time
 * @holds: times that tasks were held back
 * @by_path: holds that the path ended
 * @by_deadline: that ended because their time was over
 * @refused: holds for which no CPU could leave, or no time was left
 * @planned: holds with a CPU that was to be awake when the path wakes
 * @unsure: holds without, because that could not be foreseen
 * @declined: holds without, because that was too soon, not before the end of the hold, or
 * no plan took it
 * @plan_hits: of planned ones, those in whose window the path woke
 * @plan_early: it woke before
 * @plan_misses: it did not wake by the end of the window
 * @plan_dropped: the hold ended otherwise, or the CPU or its plan went off, before that
 * @tasks: tasks that were held, or that had to leave big CPUs
 * @mistaken: holds that delayed the path
 * @held_ns: how long holds were, in all
 * @most_ns: and at most
 */
struct lull_quiet_counts {
	u64 actions;
	u64 joined;
	u64 evicted;
	u64 lost;
	u64 waits;
	u64 unknown;
	u64 brief;
	u64 holds;
	u64 by_path;
	u64 by_deadline;
	u64 refused;
	u64 planned;
	u64 unsure;
	u64 declined;
	u64 plan_hits;
	u64 plan_early;
	u64 plan_misses;
	u64 plan_dropped;
	u64 tasks;
	u64 mistaken;
	u64 held_ns;
	u64 most_ns;
};

#ifdef CONFIG_LULL_QUIESCENCE

DECLARE_STATIC_KEY_FALSE(lull_quiet_key);
/* On for good once the system was on: until then no task is on the path or held, and no child. */
DECLARE_STATIC_KEY_FALSE(lull_quiet_used_key);

void __lull_quiet_fork(struct task_struct *p);
bool __lull_quiet_waking(struct task_struct *p, unsigned int state);
void __lull_quiet_woke(void);
bool __lull_quiet_hold(struct task_struct *p, unsigned int state);
void __lull_quiet_input(dev_t device, u16 type, u16 code, s32 value);

/* For quiescence.c */
extern unsigned int lull_quiet_bound_ms;
extern unsigned int lull_quiet_least_us;

int lull_quiet_start(void);
void lull_quiet_stop(void);
int lull_quiet_set_hold(enum lull_quiet_hold hold);
enum lull_quiet_hold lull_quiet_get_hold(void);
int lull_quiet_set_plans(bool plans);
bool lull_quiet_get_plans(void);
void lull_quiet_cpu_leaves(unsigned int cpu);
void lull_quiet_count(struct lull_quiet_counts *counts);
void lull_quiet_show(struct seq_file *file);

/* A task is born, and is neither on the path nor held. */
static __always_inline void lull_quiet_fork(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_quiet_used_key))
		__lull_quiet_fork(p);
}

/*
 * A task is about to be woken; no lock of the scheduler is held yet. Whether this ends a hold:
 * then lull_quiet_woke() has to be told.
 */
static __always_inline bool lull_quiet_waking(struct task_struct *p, unsigned int state)
{
	return static_branch_unlikely(&lull_quiet_key) && __lull_quiet_waking(p, state);
}

/* The wake-up is done, or was in vain. */
static __always_inline void lull_quiet_woke(bool ended)
{
	if (static_branch_unlikely(&lull_quiet_key) && ended)
		__lull_quiet_woke();
}

/* Whether a wake-up is held back, as lull_bursts_hold() does. */
static __always_inline bool lull_quiet_hold(struct task_struct *p, unsigned int state)
{
	return static_branch_unlikely(&lull_quiet_key) && __lull_quiet_hold(p, state);
}

/* Current has read an event. */
static __always_inline void lull_quiet_input(dev_t device, u16 type, u16 code, s32 value)
{
	if (static_branch_unlikely(&lull_quiet_key))
		__lull_quiet_input(device, type, code, value);
}

#else

static inline void lull_quiet_fork(struct task_struct *p)
{
}

static inline bool lull_quiet_waking(struct task_struct *p, unsigned int state)
{
	return false;
}

static inline void lull_quiet_woke(bool ended)
{
}

static inline bool lull_quiet_hold(struct task_struct *p, unsigned int state)
{
	return false;
}

static inline void lull_quiet_input(dev_t device, u16 type, u16 code, s32 value)
{
}

#endif

#endif /* _LULL_QUIESCENCE_H */
