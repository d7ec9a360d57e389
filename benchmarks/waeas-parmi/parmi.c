// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads that work off units of one kernel until the last window is over. Says when each unit was
 * done. Each thread's first unit, of a known seed, is checked.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counter.h"
#include "jsonl.h"
#include "kernels.h"
#include "options.h"
#include "placement.h"
#include "windows.h"

#define MOST_STAMPS 200000
#define MOST_THREADS 8

static const char usage[] =
	"usage: parmi --kernel bitcount|susan|basicmath|patricia|dijkstra|stringsearch|sha1 "
	"--way " PLACEMENT_WAYS "\n"
	"             [--threads N] [--settle-us N] [--window-us N] [--windows N] [--out FILE] "
	"[--totals FILE]\n";

static const char *name, *way, *out = "/out/stamps.jsonl", *totals = "/out/windows.jsonl";
static uint64_t threads = 4, settle_us = 20000, window_us = 10000, windows = 4;

static const struct option_to options[] = {
	{.name = "kernel", .text = &name},
	{.name = "way", .text = &way},
	{.name = "threads", .number = &threads, .least = 1, .most = MOST_THREADS},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 100000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{0},
};

static const struct kernel *kernel;
static _Atomic bool over;
static _Atomic uint32_t wrong, units;
static uint64_t stamps[MOST_STAMPS];

static int fail(const char *what, int error)
{
	fprintf(stderr, "parmi: %s: %s\n", what, strerror(-error));
	return 1;
}

static void *work(void *number)
{
	uint64_t seed = 1, *own = number;
	void *room = malloc(kernel->room);

	if (!room)
		exit(fail("memory", -ENOMEM));
	while (!atomic_load(&over)) {
		uint64_t result = kernel->unit(seed, room);
		uint32_t unit = atomic_fetch_add(&units, 1);

		if (seed == 1 && result != kernel->result)
			atomic_fetch_add(&wrong, 1);
		if (unit < MOST_STAMPS)
			stamps[unit] = clock_ns();
		seed += *own + 1;
	}
	free(room);
	return NULL;
}

static int save(const struct windows *times, uint64_t begun, uint64_t ordered)
{
	uint32_t count = atomic_load(&units);
	FILE *file = fopen(out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < count && i < MOST_STAMPS; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "ns", (int64_t)(stamps[i] - begun));
		jsonl_int(&line, "messages", 1);
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	return windows_save(totals, times, ordered);
}

int main(int argc, char **argv)
{
	uint64_t begun, ordered, numbers[MOST_THREADS];
	pthread_t workers[MOST_THREADS];
	struct windows times;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	for (int i = 0; name && i < KERNELS; i++)
		if (!strcmp(kernels[i].name, name))
			kernel = &kernels[i];
	if (!kernel || !way) {
		fputs(usage, stderr);
		return 2;
	}
	error = placement_set(way);
	if (error)
		return fail(way, error);
	ordered = counter_now();
	begun = clock_ns();
	times = (struct windows){settle_us, window_us, windows};
	windows_order(&times);
	for (uint64_t i = 0; i < threads; i++) {
		numbers[i] = i;
		error = pthread_create(&workers[i], NULL, work, &numbers[i]);
		if (error)
			return fail("a thread", -error);
	}
	clock_sleep_until(begun + (settle_us + windows * window_us) * 1000);
	atomic_store(&over, true);
	for (uint64_t i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	if (atomic_load(&wrong)) {
		fprintf(stderr, "parmi: %u wrong results\n", atomic_load(&wrong));
		return 1;
	}
	error = save(&times, begun, ordered);
	return error ? fail(out, error) : 0;
}
