// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of a stage: when are the wake-ups released that it holds? */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "bursts_stage.h"

/**
 * lull_stage_hold - a wake-up is held from now on
 * @stage: the stage; its period is not 0
 * @now: the time, in ns
 * @bound_ns: how long it may be held; 0 for as long as the stage says
 */
void lull_stage_hold(struct lull_stage *stage, u64 now, u64 bound_ns)
{
	u64 most = stage->bound_ns ?: stage->period_ns;

	if (bound_ns)
		most = min(most, bound_ns);
	stage->count++;
	stage->last = min(stage->last, now + most);
}

/**
 * lull_stage_due - when the stage is to be emptied
 * @stage: the stage
 * @now: the time, in ns
 *
 * Return: the next multiple of the period if enough is held, or earlier if the
 * bound of a wake-up ends earlier; that bound's end if less is held; U64_MAX if
 * nothing is.
 */
u64 lull_stage_due(const struct lull_stage *stage, u64 now)
{
	if (!stage->count)
		return U64_MAX;
	if (!stage->period_ns)
		return now;
	if (stage->count < stage->parallel)
		return stage->last;

	return min(stage->last, (div64_u64(now, stage->period_ns) + 1) * stage->period_ns);
}

/**
 * lull_stage_empty - what was held is released
 * @stage: the stage
 */
void lull_stage_empty(struct lull_stage *stage)
{
	stage->count = 0;
	stage->last = U64_MAX;
}
