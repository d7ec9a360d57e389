/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU lists as sysfs writes them: "0-3,6". */
#ifndef LULL_CPULIST_H
#define LULL_CPULIST_H

#include <stdbool.h>

#define CPULIST_MAX 64

struct cpulist {
	bool has[CPULIST_MAX];
	int count;
};

/* 0 or -errno; -ERANGE for a CPU number of CPULIST_MAX or more, -EINVAL for anything else. */
int cpulist_parse(struct cpulist *list, const char *text);
/* One of the lists in /sys/devices/system/cpu: "possible", "present", "online". */
int cpulist_read(struct cpulist *list, const char *which);

#endif
