/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU lists as sysfs writes them: "0-3,6". */
#ifndef LULL_CPULIST_H
#define LULL_CPULIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPULIST_MAX 64
/* Room for the text of any list. */
#define CPULIST_TEXT 256

struct cpulist {
	bool has[CPULIST_MAX];
	int count;
};

/* 0 or -errno; -ERANGE for a CPU number of CPULIST_MAX or more, -EINVAL for anything else. */
int cpulist_parse(struct cpulist *list, const char *text);
/* One of the lists in /sys/devices/system/cpu: "possible", "present", "online". */
int cpulist_read(struct cpulist *list, const char *which);

/* The same as a mask: bit 0 is CPU 0. */
uint64_t cpulist_mask(const struct cpulist *list);
/* The list of the CPUs of a mask; empty for no CPU. */
void cpulist_text(uint64_t cpus, char text[CPULIST_TEXT]);

#endif
