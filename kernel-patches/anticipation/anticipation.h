/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ANTICIPATION_H
#define _LULL_ANTICIPATION_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "plan.h"

struct cpuidle_device;
struct cpuidle_driver;

/* In force until it is ended, or its time is over, or the system is switched off. */
enum wake_ahead_outcome {
	/* The owner ended it inside the window: what was expected has come. */
	WAKE_AHEAD_HIT,
	/* The owner ended it before the window. */
	WAKE_AHEAD_EARLY,
	/* The window is over, and nobody ended it. */
	WAKE_AHEAD_MISS,
	/* Dropped with the system, or with its owner. */
	WAKE_AHEAD_DROPPED,
	WAKE_AHEAD_OUTCOMES,
};

/**
 * struct wake_ahead - a request that a CPU be ready
 * @window: when
 * @owner: on whose behalf, for the trace; a task's name or a driver's
 * @pid: of the owner, or 0
 * @never_deeper: before the window and in it, the CPU sleeps no deeper than its governor says
 * @dead: of a program's request, whether the program has gone, so that the
 * request is void; called with interrupts off and a raw lock held. NULL if the
 * kernel itself asks
 * @counts: how its windows ended
 *
 * The rest is the plan's own. Zeroed before its first use. It must not be freed
 * between wake_ahead_begin() and wake_ahead_end().
 */
struct wake_ahead {
	struct lull_window window;
	const char *owner;
	pid_t pid;
	bool never_deeper;
	bool (*dead)(struct wake_ahead *ahead);
	u64 counts[WAKE_AHEAD_OUTCOMES];

	/* private: */
	int cpu;
	bool planned;
};

#ifdef CONFIG_LULL_ANTICIPATION

DECLARE_STATIC_KEY_FALSE(lull_ahead_on);

int wake_ahead_begin(struct wake_ahead *ahead, int cpu, u64 start, u64 duration_ns, u32 bound_ns);
bool wake_ahead_end(struct wake_ahead *ahead);
bool wake_ahead_planned(struct wake_ahead *ahead);
u64 wake_ahead_exit_ns(int cpu);
u64 wake_ahead_arrival(bool *dated);

/* For routed.c */
u64 lull_ahead_left_at(void);

bool __lull_ahead_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, int *state);
int __lull_ahead_most(int state);

/* The hooks in the idle loop: before the governor, and after it. */
static inline bool lull_ahead_select(struct cpuidle_driver *drv, struct cpuidle_device *dev,
				     int *state)
{
	return static_branch_unlikely(&lull_ahead_on) && __lull_ahead_select(drv, dev, state);
}

static inline int lull_ahead_most(int state)
{
	return static_branch_unlikely(&lull_ahead_on) ? __lull_ahead_most(state) : state;
}

#else

static inline bool lull_ahead_select(struct cpuidle_driver *drv, struct cpuidle_device *dev,
				     int *state)
{
	return false;
}

static inline int lull_ahead_most(int state)
{
	return state;
}

#endif

#endif /* _LULL_ANTICIPATION_H */
