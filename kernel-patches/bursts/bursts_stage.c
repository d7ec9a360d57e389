// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of a stage: when are the wake-ups released that it holds? */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "bursts_stage.h"

/**
 * lull_stage_limit - how long a wake-up may be held by a bound and by a deadline
 * @stage: the stage, which may heed deadlines
 * @bound_ns: the bound of the groups; 0 if they have none
 * @deadline_ns: the deadline of the request; 0 if it has none
 *
 * Return: the shorter one of both; 0 for as long as the stage says.
 */
u64 lull_stage_limit(const struct lull_stage *stage, u64 bound_ns, u64 deadline_ns)
{
	if (!stage->least_ns || !deadline_ns)
		return bound_ns;

	deadline_ns = max(deadline_ns, stage->least_ns);
	return bound_ns ? min(bound_ns, deadline_ns) : deadline_ns;
}

/**
 * lull_stage_hurry - what is held has a deadline from now on
 * @stage: the stage
 * @now: the time, in ns
 * @deadline_ns: the deadline of the request; 0 if it has none
 */
void lull_stage_hurry(struct lull_stage *stage, u64 now, u64 deadline_ns)
{
	u64 most = lull_stage_limit(stage, 0, deadline_ns);

	if (stage->count && most)
		stage->last = min(stage->last, now + most);
}

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
