// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads that work off units of one kernel until the last window is over. Says when each unit was
 * done. Each thread's first unit, of a known seed, is checked. With --short the threads are those
 * of a process that ends after so many units of each, and the next one starts then.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
	"             [--threads N] [--short UNITS] [--settle-us N] [--window-us N] [--windows N] "
	"[--out FILE] "
	"[--totals FILE]\n";

static const char *name, *way, *out = "/out/stamps.jsonl", *totals = "/out/windows.jsonl";
static uint64_t threads = 4, short_units, settle_us = 20000, window_us = 10000, windows = 4;

static const struct option_to options[] = {
	{.name = "kernel", .text = &name},
	{.name = "way", .text = &way},
	{.name = "threads", .number = &threads, .least = 1, .most = MOST_THREADS},
	{.name = "short", .number = &short_units, .most = 1000000},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 100000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{0},
};

static const struct kernel *kernel;

static struct shared {
	_Atomic bool over;
	_Atomic uint32_t wrong, units;
	uint64_t stamps[MOST_STAMPS];
} * shared;

static int fail(const char *what, int error)
{
	fprintf(stderr, "parmi: %s: %s\n", what, strerror(-error));
	return 1;
}

static void *work(void *number)
{
	uint64_t seed = 1, done = 0, *own = number;
	void *room = malloc(kernel->room);

	if (!room)
		exit(fail("memory", -ENOMEM));
	while (!atomic_load(&shared->over) && (!short_units || done++ < short_units)) {
		uint64_t result = kernel->unit(seed, room);
		uint32_t unit = atomic_fetch_add(&shared->units, 1);

		if (seed == 1 && result != kernel->result)
			atomic_fetch_add(&shared->wrong, 1);
		if (unit < MOST_STAMPS)
			shared->stamps[unit] = clock_ns();
		seed += *own + 1;
	}
	free(room);
	return NULL;
}

static int save(const struct windows *times, uint64_t begun, uint64_t ordered)
{
	uint32_t count = atomic_load(&shared->units);
	FILE *file = fopen(out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < count && i < MOST_STAMPS; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "ns", (int64_t)(shared->stamps[i] - begun));
		jsonl_int(&line, "messages", 1);
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	return windows_save(totals, times, ordered);
}

static uint64_t numbers[MOST_THREADS];
static pthread_t workers[MOST_THREADS];

static int start(void)
{
	int error = 0;

	for (uint64_t i = 0; !error && i < threads; i++) {
		numbers[i] = i;
		error = pthread_create(&workers[i], NULL, work, &numbers[i]);
	}
	return -error;
}

static void finish(void)
{
	for (uint64_t i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
}

/* One process after another, until the time is over. */
static int run_short(uint64_t until)
{
	int status;
	pid_t pid;

	while (clock_ns() < until) {
		pid = fork();
		if (pid < 0)
			return -errno;
		if (!pid) {
			if (start())
				_exit(1);
			finish();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return -ECHILD;
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t begun, ordered, until;
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
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return fail("memory", -errno);
	error = placement_set(way);
	if (error)
		return fail(way, error);
	ordered = counter_now();
	begun = clock_ns();
	times = (struct windows){settle_us, window_us, windows};
	windows_order(&times);
	until = begun + (settle_us + windows * window_us) * 1000;
	error = short_units ? run_short(until) : start();
	if (error)
		return fail("the threads", error);
	if (!short_units) {
		clock_sleep_until(until);
		atomic_store(&shared->over, true);
		finish();
	}
	if (atomic_load(&shared->wrong)) {
		fprintf(stderr, "parmi: %u wrong results\n", atomic_load(&shared->wrong));
		return 1;
	}
	error = save(&times, begun, ordered);
	return error ? fail(out, error) : 0;
}
