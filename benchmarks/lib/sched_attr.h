/* SPDX-License-Identifier: BSD-3-Clause */
/* sched_setattr(), for which this C library has no call. */
#ifndef LULL_SCHED_ATTR_H
#define LULL_SCHED_ATTR_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/sched/types.h, which cannot be included beside sched.h. */
struct lull_sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

/* Changes the caller. 0 or -errno. */
static inline int lull_sched_setattr(struct lull_sched_attr attr)
{
	attr.size = sizeof(attr);
	return syscall(SYS_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

#endif
