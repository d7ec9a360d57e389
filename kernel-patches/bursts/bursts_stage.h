/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of a stage: when are the wake-ups released that it holds? */
#ifndef _LULL_BURSTS_STAGE_H
#define _LULL_BURSTS_STAGE_H

#include <linux/types.h>

/* In µs, as they are written. */
#define LULL_BURSTS_LEAST	1000
#define LULL_BURSTS_MOST	10000000
#define LULL_BURSTS_PARALLEL	1024

/**
 * struct lull_stage - what a stage holds, and its rules
 * @period_ns: bursts begin at multiples of it; 0 if nothing is held
 * @bound_ns: the longest that a wake-up is held; 0 for one period
 * @least_ns: the least deadline of a request that is heeded; 0 if none is heeded
 * @parallel: a burst of fewer is put off, at least 1
 * @count: wake-ups that are held
 * @last: when the first of them has to be released; U64_MAX if none is held
 */
struct lull_stage {
	u64 period_ns;
	u64 bound_ns;
	u64 least_ns;
	unsigned int parallel;
	unsigned int count;
	u64 last;
};

u64 lull_stage_limit(const struct lull_stage *stage, u64 bound_ns, u64 deadline_ns);
void lull_stage_hurry(struct lull_stage *stage, u64 now, u64 deadline_ns);
void lull_stage_hold(struct lull_stage *stage, u64 now, u64 bound_ns);
u64 lull_stage_due(const struct lull_stage *stage, u64 now);
void lull_stage_empty(struct lull_stage *stage);

#endif /* _LULL_BURSTS_STAGE_H */
