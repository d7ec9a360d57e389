// SPDX-License-Identifier: BSD-3-Clause
#include "clamp.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/sched.h, which cannot be included beside sched.h. */
#define KEEP_POLICY_AND_PARAMETERS 0x18
#define CLAMP_LEAST 0x20
#define CLAMP_MOST 0x40

static int clamp(uint64_t which, uint32_t util)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
		uint32_t util_min, util_max;
	} attr = {.size = sizeof(attr), .util_min = util, .util_max = util};

	attr.flags = KEEP_POLICY_AND_PARAMETERS | which;
	return syscall(SYS_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

int clamp_least(uint32_t util)
{
	return clamp(CLAMP_LEAST, util);
}

int clamp_most(uint32_t util)
{
	return clamp(CLAMP_MOST, util);
}
