/* SPDX-License-Identifier: GPL-2.0-only */
/* What the scheduler's part and the rest of the system know of each other. */
#ifndef _LULL_HOTPLUG_SCHED_H
#define _LULL_HOTPLUG_SCHED_H

#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct lull_pseudo_count - what happened to tasks, on each CPU
 * @stranded: tasks placed on this CPU while it was pseudo-offline, because
 * their affinity leaves them no other
 * @pushed: tasks that left it after it did
 */
struct lull_pseudo_count {
	unsigned long stranded;
	unsigned long pushed;
};

DECLARE_PER_CPU(struct lull_pseudo_count, lull_pseudo_counts);

struct task_struct;

/* In kernel/sched/core.c, by way of hotplug_sched.c. */
bool lull_pseudo_wakes_here(struct task_struct *p, int cpu);
unsigned int lull_pseudo_running(int cpu);
void lull_pseudo_pull(int cpu);

/* In kernel/time/hrtimer.c, by way of hotplug_hrtimers.c: so many timers of each clock. */
#define LULL_HRTIMERS_AT_ONCE 64
void lull_hrtimers_move(unsigned int cpu);

#endif /* _LULL_HOTPLUG_SCHED_H */
