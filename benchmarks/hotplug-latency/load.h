/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wake up periodically, as those of `cyclictest` do. */
#ifndef HOTPLUG_LOAD_H
#define HOTPLUG_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct load {
	uint64_t threads;
	/* The period of the first thread, and by how much that of each further one is longer. */
	uint64_t interval_us, distance_us;
	/* SCHED_FIFO with this priority; 0 for ordinary threads. */
	uint64_t priority;
	/* Threads that are let go stay away from this CPU; -1 for none. */
	int64_t not_on;
};

/* Late wake-ups of all threads together. */
struct lateness {
	uint64_t loops;
	uint64_t sum_ns;
	uint64_t most_ns;
};

/* All return 0 or -errno. */
int load_start(const struct load *load);
/*
 * Holds every thread on one CPU from its next wake-up on, and lets all go again. Then each
 * stays where it was until the kernel chooses another CPU for it.
 */
int load_hold(int cpu);
int load_release(void);
/* What was late since the latest call. */
struct lateness load_lateness(void);
int load_stop(void);

#endif
