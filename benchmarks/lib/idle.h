/* SPDX-License-Identifier: BSD-3-Clause */
/* The idle states of cpuidle's sysfs, by the names of the platform file: C1, C2, C3, C4. */
#ifndef LULL_IDLE_H
#define LULL_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpulist.h"

/* The kernel's CPUIDLE_STATE_MAX. */
#define IDLE_MAX_STATES 10
#define IDLE_NAME_SIZE 16

/*
 * What can fail returns 0 or -errno; -ENOENT is what comes after the last state. One thread at a
 * time asks.
 */

/* A file of a state, to be read: its descriptor or -errno. */
int idle_open(int cpu, int state, const char *file);
/* A number of a state, such as "time" or "residency". */
int idle_number(int cpu, int state, const char *file, uint64_t *number);
/* The platform's name of a state. */
int idle_name(int cpu, int state, char name[IDLE_NAME_SIZE]);
/* The number in that name: 3 of C3. */
int idle_depth(int cpu, int state);
/* The index of a named state. */
int idle_find(int cpu, const char *name);

/* Which states of a CPU there are, and may not be used. */
struct idle_states {
	int count;
	bool disabled[IDLE_MAX_STATES];
};

/* A CPU without idle states has a count of 0. */
int idle_read(int cpu, struct idle_states *states);
/* Makes one into the other, by writing what differs, and sees that it is so. */
int idle_change(int cpu, const struct idle_states *from, const struct idle_states *to);
/* As many states, with one that may be used. */
struct idle_states idle_just(const struct idle_states *states, int state);

struct idle_setting {
	struct cpulist cpus;
	struct idle_states before[CPULIST_MAX], now[CPULIST_MAX];
};

/*
 * Lets every online CPU that has the state sleep in no other one. The others keep theirs.
 * -ENOENT when no CPU has it; what was changed is undone if this fails.
 */
int idle_only(const char *name, struct idle_setting *setting);
void idle_restore(const struct idle_setting *setting);

#endif
