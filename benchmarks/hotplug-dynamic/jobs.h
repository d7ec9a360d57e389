/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads with periodic jobs. A job is due, its thread wakes up and works, and the job is done.
 * Each job leaves a record. Records are kept in memory, so that nothing is written while jobs run.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdint.h>
#include <stdio.h>

struct jobs {
	uint64_t threads;
	/* Of the first thread; the period of each further one is 3 % longer, so that they drift. */
	uint64_t period_us;
	uint64_t steps;
	/* Of all jobs together. Records beyond that are counted and lost. */
	uint64_t most_records;
};

/* 0 or -errno. The threads are ordinary ones, and bound to no CPU. */
int jobs_start(const struct jobs *jobs);
/* Ends all threads. */
void jobs_stop(void);
/* A line for each job: its thread, when it was due, when it began and ended, in ns of
 * CLOCK_MONOTONIC. 0 or -errno; -ENOBUFS when records were lost.
 */
int jobs_write(FILE *file);

#endif
