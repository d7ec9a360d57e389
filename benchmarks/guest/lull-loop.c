// SPDX-License-Identifier: BSD-3-Clause
/*
 * The same work over and over, a loop that needs nothing beyond the first-level cache, timed with
 * the architectural counter: what a CPU's frequency is, seen from what runs on it. With a period it
 * is a light task that sleeps in between, and shows where the scheduler puts such a task.
 *
 * One JSON line for each run: the CPU and its frequency at the end of it, counter ticks,
 * iterations.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "cpulist.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "sysfs.h"

#define ANYWHERE UINT64_MAX

static const char usage[] =
	"usage: lull-loop [-c CPU | -s CPU] [-n ITERATIONS] [-p PERIOD_US] [-r RUNS]\n"
	"  -c CPU  stay on this CPU\n"
	"  -s CPU  start on this CPU, and then go where the scheduler says\n"
	"  -n N    iterations in a run (20000)\n"
	"  -p US   begin a run every so many microseconds, and sleep in between\n"
	"  -r N    runs (1)\n";

struct run {
	int cpu;
	long long khz;
	uint64_t ticks;
};

static void work(uint64_t iterations)
{
	static uint64_t word;
	uint64_t value;

	asm volatile("1:\n\t"
		     "ldr %1, [%2]\n\t"
		     "add %1, %1, #1\n\t"
		     "str %1, [%2]\n\t"
		     "subs %0, %0, #1\n\t"
		     "b.ne 1b"
		     : "+&r"(iterations), "=&r"(value)
		     : "r"(&word)
		     : "cc", "memory");
}

static void stay_on(int cpu)
{
	int error = pin_to_cpu(cpu);

	if (error)
		errx(1, "cannot run on this CPU: %s", strerror(-error));
}

static void start_on(int cpu)
{
	cpu_set_t before;

	if (sched_getaffinity(0, sizeof(before), &before))
		err(1, "cannot ask for the CPUs allowed");
	stay_on(cpu);
	if (sched_setaffinity(0, sizeof(before), &before))
		err(1, "cannot run on all CPUs again");
}

/* -1 where there is no frequency scaling. */
static long long frequency(int cpu)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_cur_freq", cpu);
	return read_text(path, text, sizeof(text)) ? -1 : atoll(text);
}

static struct run run_once(uint64_t iterations)
{
	struct run run;
	uint64_t begun = counter_now();

	work(iterations);
	run.ticks = counter_now() - begun;
	run.cpu = sched_getcpu();
	if (run.cpu < 0)
		err(1, "cannot tell the CPU");
	run.khz = frequency(run.cpu);
	return run;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static void print(const struct run *run, uint64_t iterations)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", run->cpu);
	if (run->khz < 0)
		jsonl_null(&line, "khz");
	else
		jsonl_int(&line, "khz", run->khz);
	jsonl_int(&line, "ticks", (int64_t)run->ticks);
	jsonl_int(&line, "iterations", (int64_t)iterations);
	jsonl_int(&line, "counter_hz", (int64_t)counter_frequency());
	jsonl_end(&line);
}

int main(int argc, char **argv)
{
	uint64_t iterations = 20000, period_us = 0, runs = 1, stay = ANYWHERE, start = ANYWHERE,
		 next;
	const struct option_to options[] = {
		{.name = "c", .number = &stay, .most = CPULIST_MAX - 1},
		{.name = "s", .number = &start, .most = CPULIST_MAX - 1},
		{.name = "n", .number = &iterations, .least = 1, .most = UINT32_MAX},
		{.name = "p", .number = &period_us, .least = 1, .most = UINT32_MAX},
		{.name = "r", .number = &runs, .least = 1, .most = 1000000},
		{0},
	};
	struct run *record;

	(void)argc;
	options_parse(argv, options, usage);
	if (stay != ANYWHERE && start != ANYWHERE) {
		fputs(usage, stderr);
		return 2;
	}

	record = calloc(runs, sizeof(*record));
	if (!record)
		err(1, "no memory for so many runs");
	if (stay != ANYWHERE)
		stay_on((int)stay);
	if (start != ANYWHERE)
		start_on((int)start);

	/* Printed when all is over: the work of printing is not what is measured. */
	next = clock_ns();
	for (uint64_t i = 0; i < runs; i++) {
		next += period_us * 1000;
		if (period_us)
			sleep_until(next);
		record[i] = run_once(iterations);
	}
	for (uint64_t i = 0; i < runs; i++)
		print(&record[i], iterations);
	free(record);
	return fflush(stdout) || ferror(stdout);
}
