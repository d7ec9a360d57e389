/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to take CPUs out of use and to bring them back. */
#ifndef LULL_CPU_OUT_H
#define LULL_CPU_OUT_H

#include <stdbool.h>

#include "cpulist.h"

/* The words of a usage line. */
#define CPU_OUT_WAYS "conventional|pseudo|partition|affinity|none"

bool cpu_out_is_way(const char *name);

/*
 * Opens the way's files, so that no later call spends time on it. All return 0 or -errno. One way
 * at a time.
 *   conventional  Linux's CPU hotplug, one CPU after the other
 *   pseudo        pseudo CPU hotplug: the file of the CPU, or of several at once that of all. It is
 *                 switched on for that
 *   partition     an isolated cpuset partition, with no task in it
 *   affinity      what `taskset` and the files of /proc/irq can do, for all tasks and interrupts
 *   none          nothing is done
 */
int cpu_out_prepare(const char *way, const struct cpulist *cpus);
int cpu_out(void);
int cpu_in(void);
/* Whether the way's files say that the CPUs are out, or in: a write may have no effect and no
 * error. -EPROTO where they say something else.
 */
int cpu_out_check(bool out);
/* Leaves the machine as it was. The CPUs are in. */
int cpu_out_finish(void);

/*
 * The number of tasks and interrupts that the latest call of the way `affinity` could not move:
 * kernel threads of one CPU, interrupts that belong to one, and tasks that ended meanwhile.
 */
unsigned int cpu_out_refused(void);

#endif
