/* SPDX-License-Identifier: GPL-2.0-only */
/* What WAEAS knows of a task; in struct task_struct. */
#ifndef _LULL_WAEAS_TASK_H
#define _LULL_WAEAS_TASK_H

#include "waeas_choose.h"
#include "waeas_load.h"

/**
 * struct lull_waeas_task - a task's load, and whom it woke
 * @load: by windows; its CPU's rq->lock protects it
 * @partners: only the task itself writes them
 * @queued: its demand, as it is counted in that of its CPU; its CPU's rq->lock protects this
 * @era: when it was counted; if that is not lull_waeas_era, it is not
 * @sensitive: whether it was said to be latency-sensitive
 */
struct lull_waeas_task {
	struct lull_waeas_load load;
	struct lull_waeas_partner partners[LULL_WAEAS_PARTNERS];
	u32 queued;
	u32 era;
	bool sensitive;
};

#endif /* _LULL_WAEAS_TASK_H */
