// SPDX-License-Identifier: BSD-3-Clause
#include "clamp.h"

#include "sched_attr.h"

/* Of linux/sched.h, which cannot be included beside sched.h. */
#define KEEP_POLICY_AND_PARAMETERS 0x18
#define CLAMP_LEAST 0x20
#define CLAMP_MOST 0x40

static int clamp(uint64_t which, uint32_t util)
{
	return lull_sched_setattr((struct lull_sched_attr){
		.flags = KEEP_POLICY_AND_PARAMETERS | which,
		.util_min = util,
		.util_max = util,
	});
}

int clamp_least(uint32_t util)
{
	return clamp(CLAMP_LEAST, util);
}

int clamp_most(uint32_t util)
{
	return clamp(CLAMP_MOST, util);
}
