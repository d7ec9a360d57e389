/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the second level's applications are, and the frequency of a cluster: what was changed, and
 * how it was before. All of it is in memory that a parent and its child have in common, so that
 * either can put it back.
 */
#ifndef EANEM_PLACE_H
#define EANEM_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model.h"

#define PLACE_THREADS 512
/* Of one application. Those that are more stay where they are. */
#define PLACE_OF_AN_APP 64

struct place_thread {
	pid_t pid, tid;
	/* When it began, by which it is known from a later one of its number. */
	uint64_t start;
	uint64_t before;
};

struct place {
	struct place_thread threads[PLACE_THREADS];
	int count;
	/* As they were before anything was held; empty where there is no frequency scaling. */
	struct {
		char least[16], most[16];
		int held;
		/* The file of the frequency now, or -1: to open it takes long. */
		int now;
	} clusters[MODEL_CLUSTERS];
	/* The file of the CPUs that are online, or -1. */
	int online;
};

/* NULL if there is no memory. */
struct place *place_make(const struct model *model);
/* The CPUs that are online. All if nobody can tell. */
uint64_t place_online(const struct place *place);
/* All threads of a process to these CPUs, besides some that are somebody else's. */
void place_process(struct place *place, pid_t pid, uint64_t cpus, const uint32_t *besides,
		   size_t count);
/*
 * The threads of all other processes than these go back to where they were. Threads that are
 * somebody else's now do not: they go back at a later call, once they are nobody else's.
 */
void place_keep(struct place *place, const pid_t *pids, int count, const uint32_t *besides,
		size_t besides_count);
/* Holds a cluster at a frequency; 0 lets go. 0 or -errno. */
int place_frequency(struct place *place, const struct model *model, int cluster, unsigned int mhz);
/* Whether that is its frequency now. True if nobody can tell. */
bool place_has_frequency(const struct place *place, int cluster, unsigned int mhz);
void place_back(struct place *place, const struct model *model);

#endif
