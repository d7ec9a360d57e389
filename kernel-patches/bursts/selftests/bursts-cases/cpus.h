/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs a task may use, and what a CPU is. */
#ifndef BURSTS_CASES_CPUS_H
#define BURSTS_CASES_CPUS_H

#include <sched.h>
#include <sys/types.h>

cpu_set_t only(int cpu);
void bind_to(pid_t pid, const cpu_set_t *cpus);
/* A number in a file of a CPU. */
unsigned long of_cpu(int cpu, const char *file);

#endif
