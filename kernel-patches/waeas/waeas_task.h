/* SPDX-License-Identifier: GPL-2.0-only */
/* What WAEAS knows of a task; in struct task_struct. */
#ifndef _LULL_WAEAS_TASK_H
#define _LULL_WAEAS_TASK_H

#include "waeas_load.h"

/* Tasks that a task has woken last. */
#define LULL_WAEAS_PARTNERS	4

/**
 * struct lull_waeas_partner - a task that was woken
 * @pid: its number; 0 for none
 * @cpu: where the waker was then
 * @when: in jiffies
 */
struct lull_waeas_partner {
	pid_t pid;
	int cpu;
	unsigned long when;
};

/**
 * struct lull_waeas_task - a task's load, and whom it woke
 * @load: by windows; its CPU's rq->lock protects it
 * @partners: only the task itself writes them
 * @sensitive: whether it was said to be latency-sensitive
 */
struct lull_waeas_task {
	struct lull_waeas_load load;
	struct lull_waeas_partner partners[LULL_WAEAS_PARTNERS];
	bool sensitive;
};

#endif /* _LULL_WAEAS_TASK_H */
