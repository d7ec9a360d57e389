/* SPDX-License-Identifier: BSD-3-Clause */
/* The idle states of cpuidle's sysfs, by the names of the platform file: C1, C2, C3, C4. */
#ifndef LULL_IDLE_H
#define LULL_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpulist.h"

#define IDLE_MAX_STATES 8
#define IDLE_NAME_SIZE 16

/* A number of a state, such as "time" or "residency"; 0 or -errno. */
int idle_number(int cpu, int state, const char *file, uint64_t *number);
/* The platform's name of a state; -ENOENT after the last one. */
int idle_name(int cpu, int state, char name[IDLE_NAME_SIZE]);
/* The index of a named state, or -ENOENT. */
int idle_find(int cpu, const char *name);

/* Which states were disabled. */
struct idle_setting {
	struct cpulist cpus;
	bool disabled[CPULIST_MAX][IDLE_MAX_STATES];
};

/*
 * Lets every online CPU that has the state sleep in no other one. The others keep theirs.
 * Returns 0 or -errno, -ENOENT when no CPU has it; what was changed is undone then.
 */
int idle_only(const char *name, struct idle_setting *before);
void idle_restore(const struct idle_setting *before);

#endif
