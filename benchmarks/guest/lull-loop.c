// SPDX-License-Identifier: BSD-3-Clause
/*
 * The same work over and over, a loop that needs nothing beyond the first-level cache, timed with
 * the architectural counter: what a CPU's frequency is, seen from what runs on it. With a period it
 * is a light task that sleeps in between, and shows where the scheduler puts such a task.
 *
 * One JSON line for each run: the CPU and its frequency at the end of it, counter ticks,
 * iterations.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpulist.h"
#include "jsonl.h"
#include "machine.h"

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

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "lull-loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
		fprintf(stderr, "lull-loop: '%s' is not a number from %llu to %llu\n", text,
			(unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return value;
}

static uint64_t counter(void)
{
	uint64_t ticks;

	/* Everything before it is over, nothing after it has begun. */
	asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
	return ticks;
}

static uint64_t counter_hz(void)
{
	uint64_t hz;

	asm("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

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

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set) == 0, "cannot run on this CPU");
}

static void start_on(int cpu)
{
	cpu_set_t before;

	must(sched_getaffinity(0, sizeof(before), &before) == 0, "cannot ask for the CPUs allowed");
	pin(cpu);
	must(sched_setaffinity(0, sizeof(before), &before) == 0, "cannot run on all CPUs again");
}

/* -1 where there is no frequency scaling. */
static long long frequency(int cpu)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
	return read_text(path, text, sizeof(text)) ? -1 : atoll(text);
}

static struct run run_once(uint64_t iterations)
{
	struct run run;
	uint64_t begun = counter();

	work(iterations);
	run.ticks = counter() - begun;
	run.cpu = sched_getcpu();
	must(run.cpu >= 0, "cannot tell the CPU");
	run.khz = frequency(run.cpu);
	return run;
}

static void sleep_until(struct timespec *next, uint64_t period_us)
{
	int error;

	next->tv_nsec += (long)(period_us % 1000000) * 1000;
	next->tv_sec += (time_t)(period_us / 1000000) + next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	do {
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
	} while (error == EINTR);
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
	jsonl_int(&line, "counter_hz", (int64_t)counter_hz());
	jsonl_end(&line);
}

int main(int argc, char **argv)
{
	uint64_t iterations = 20000, period_us = 0, runs = 1;
	int option, stay = -1, start = -1;
	struct timespec next;
	struct run *record;

	while ((option = getopt(argc, argv, "c:n:p:r:s:")) != -1) {
		switch (option) {
		case 'c':
			stay = (int)number(optarg, 0, CPULIST_MAX - 1);
			break;
		case 's':
			start = (int)number(optarg, 0, CPULIST_MAX - 1);
			break;
		case 'n':
			iterations = number(optarg, 1, UINT32_MAX);
			break;
		case 'p':
			period_us = number(optarg, 1, UINT32_MAX);
			break;
		case 'r':
			runs = number(optarg, 1, 1000000);
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc || (stay >= 0 && start >= 0)) {
		fputs(usage, stderr);
		return 2;
	}

	record = calloc(runs, sizeof(*record));
	must(record, "no memory for so many runs");
	if (stay >= 0)
		pin(stay);
	if (start >= 0)
		start_on(start);

	/* Printed when all is over: the work of printing is not what is measured. */
	must(clock_gettime(CLOCK_MONOTONIC, &next) == 0, "cannot read the clock");
	for (uint64_t i = 0; i < runs; i++) {
		if (period_us)
			sleep_until(&next, period_us);
		record[i] = run_once(iterations);
	}
	for (uint64_t i = 0; i < runs; i++)
		print(&record[i], iterations);
	free(record);
	return ferror(stdout) ? 1 : 0;
}
