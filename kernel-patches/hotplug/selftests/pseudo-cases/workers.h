/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that say where they are. */
#ifndef PSEUDO_CASES_WORKERS_H
#define PSEUDO_CASES_WORKERS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

struct worker {
	pthread_t thread;
	cpu_set_t first;
	uint64_t pause_ns;
	atomic_int tid, cpu;
	atomic_ulong rounds, there;
	atomic_bool stop;
};

/* Begins on @first; a pause of 0 is a loop without a sleep. */
void start(struct worker *worker, cpu_set_t first, uint64_t pause_ns);
void stop(struct worker *worker);
/* How much one of its numbers does in some time. */
unsigned long grows_in(uint64_t ns, atomic_ulong *which);
/* Wakes a CPU. */
void nudge(int cpu);

#endif
