/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUs: which there are, which are out, and which a task may use. */
#ifndef PSEUDO_CASES_CPUS_H
#define PSEUDO_CASES_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cpulist.h"
#include "sysfs.h"

#define LIST CPU_DIR "/pseudo_offline"

/* CPUs that tasks are placed on, and the one that most tests take out. */
extern struct cpulist mains;
extern int there;
extern cpu_set_t everywhere;

/* Main CPUs: online, and not isolated at boot. */
void find_cpus(void);

/* 0 or -errno */
int put_list(const char *list);
int put_cpu(int cpu, const char *file, const char *text);
/* A number, or -1. */
int get_cpu(int cpu, const char *file);

void out(int cpu);
void all_in(void);
bool list_is(const char *wanted);
bool list_is_cpu(int cpu);
/* A list of all main CPUs but one. */
const char *all_but(int cpu);

/* Two CPUs, or one if @b is negative. */
cpu_set_t set_of(int a, int b);
int allow(pid_t thread, cpu_set_t set);

#endif
