// SPDX-License-Identifier: BSD-3-Clause
#include "jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "jsonl.h"

#define MOST_THREADS 64

struct record {
	uint64_t thread, due_ns, begun_ns, done_ns;
};

static struct jobs jobs;
static pthread_t threads[MOST_THREADS];
static size_t started;
static atomic_bool stopping;
static struct record *records;
static _Atomic uint64_t taken;

static void work(uint64_t steps)
{
	uint64_t value = 1;

	for (uint64_t i = 0; i < steps; i++)
		value = value * 6364136223846793005ULL + i;
	__asm__ volatile("" ::"r"(value));
}

static void *run(void *argument)
{
	uint64_t number = (uint64_t)(uintptr_t)argument;
	uint64_t period_ns = jobs.period_us * (1000 + 30 * number);
	uint64_t due = clock_ns();

	while (!stopping) {
		struct timespec at;
		struct record job = {.thread = number};
		uint64_t place;

		due += period_ns;
		at = clock_time(due);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			;
		job.due_ns = due;
		job.begun_ns = clock_ns();
		work(jobs.steps);
		job.done_ns = clock_ns();
		place = taken++;
		if (place < jobs.most_records)
			records[place] = job;
		/* A job that is due before the one before it is done is dropped. */
		if (job.done_ns > due + period_ns)
			due += (job.done_ns - due) / period_ns * period_ns;
	}
	return NULL;
}

int jobs_start(const struct jobs *asked)
{
	int error = 0;

	jobs = *asked;
	if (jobs.threads > MOST_THREADS)
		return -EINVAL;
	records = malloc(jobs.most_records * sizeof(*records));
	if (!records)
		return -ENOMEM;
	/* Their pages are there before the first job. */
	memset(records, 0, jobs.most_records * sizeof(*records));
	while (!error && started < jobs.threads) {
		error = pthread_create(&threads[started], NULL, run, (void *)(uintptr_t)started);
		started += !error;
	}
	return -error;
}

void jobs_stop(void)
{
	stopping = true;
	while (started)
		pthread_join(threads[--started], NULL);
}

int jobs_write(FILE *file)
{
	uint64_t count = taken < jobs.most_records ? taken : jobs.most_records;
	struct jsonl line;
	int error;

	for (uint64_t i = 0; i < count; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "thread", (int64_t)records[i].thread);
		jsonl_int(&line, "due_ns", (int64_t)records[i].due_ns);
		jsonl_int(&line, "begun_ns", (int64_t)records[i].begun_ns);
		jsonl_int(&line, "done_ns", (int64_t)records[i].done_ns);
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	return error ? error : taken > count ? -ENOBUFS : 0;
}
