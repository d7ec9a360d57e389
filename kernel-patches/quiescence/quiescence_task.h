/* SPDX-License-Identifier: GPL-2.0-only */
/* What quiescence knows of a task; in struct task_struct. */
#ifndef _LULL_QUIESCENCE_TASK_H
#define _LULL_QUIESCENCE_TASK_H

#include <linux/types.h>

struct task_struct;

/**
 * struct lull_quiet_task - whether a task is on the user's path, or held
 * @next: the next task that is held
 * @since: when it was held, in ns; 0 if it is not
 * @through: it was woken since then, and needs no release
 * @wait: the number of the wait of the path in which it was held last
 * @stop: runs when the task is about to return to its program
 * @stopping: that is queued
 * @slot: its place on the path plus one, if the path has it there
 * @works_for: the number of the path that queued the work item which this worker runs; else 0
 */
struct lull_quiet_task {
	struct task_struct *next;
	u64 since;
	u64 wait;
	struct callback_head stop;
	unsigned int stopping;
	bool through;
	u8 slot;
	u64 works_for;
};

#endif /* _LULL_QUIESCENCE_TASK_H */
