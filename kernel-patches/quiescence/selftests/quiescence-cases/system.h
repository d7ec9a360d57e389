/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the system "quiescence", and those of the systems that it works with. */
#ifndef QUIESCENCE_CASES_SYSTEM_H
#define QUIESCENCE_CASES_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpulist.h"
#include "sysfs.h"

#define SYSTEM "/sys/kernel/lull/quiescence/"
#define HOTPLUG "/sys/kernel/lull/hotplug/enabled"
#define PLANS "/sys/kernel/lull/anticipation/"
#define OUT CPU_DIR "/pseudo_offline"
#define PATH "/sys/kernel/debug/lull/quiescence/path"

/* Forgets what was learned. */
void restart(const char *hold, const char *bound_ms, const char *least_us);
unsigned long stat_of(const char *word);
bool on_path(pid_t pid);
#define ALL_CPUS (-1)
/* A number in a CPU's line of the statistics of anticipation, or the sum of all lines. */
uint64_t plans_count(const char *word, int cpu);

#endif
