// SPDX-License-Identifier: BSD-3-Clause
/*
 * Takes CPUs out, lets the others work as hard as they can, and says when: the statistics of gem5
 * have what the machine did in each window.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "counter.h"
#include "cpu_out.h"
#include "cpulist.h"
#include "full_load.h"
#include "jsonl.h"
#include "options.h"
#include "windows.h"

static const char usage[] = "usage: hotplug-power --way " CPU_OUT_WAYS " --cpus LIST\n"
			    "         [--load " FULL_LOADS "] [--threads N] [--memory-kib N]\n"
			    "         [--rest-ms N] [--settle-ms N] [--window-us N] [--windows N]\n"
			    "         [--out FILE]\n";

#define MOST_WINDOWS 1000

static const char *way, *cpus_asked, *load = "cpu", *out = "/out/windows.jsonl";
static uint64_t threads = 4, memory_kib = 4096, rest_ms = 100, settle_ms = 16, window_us = 12000,
		windows = 4;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpus", .text = &cpus_asked},
	{.name = "load", .text = &load},
	{.name = "threads", .number = &threads, .least = 1, .most = 64},
	{.name = "memory-kib", .number = &memory_kib, .least = 64, .most = 65536},
	{.name = "rest-ms", .number = &rest_ms, .least = 0, .most = 100000},
	{.name = "settle-ms", .number = &settle_ms, .least = 1, .most = 100000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = MOST_WINDOWS},
	{.name = "out", .text = &out},
	{0},
};

/* At the edges of windows: what was done until then, and when that was looked at. */
static uint64_t units[MOST_WINDOWS + 1], looked_ns[MOST_WINDOWS + 1];

static int fail(const char *what, int error)
{
	fprintf(stderr, "hotplug-power: %s: %s\n", what, strerror(-error));
	return 1;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static int measure(void)
{
	uint64_t begin = clock_ns() + 1000000 * settle_ms;
	uint64_t ordered = counter_now();
	struct jsonl line;
	FILE *file;

	windows_order(&(struct windows){1000 * settle_ms, window_us, windows});
	for (uint64_t i = 0; i <= windows; i++) {
		sleep_until(begin + i * 1000 * window_us);
		units[i] = full_load_units();
		looked_ns[i] = clock_ns();
	}
	file = fopen(out, "w");
	if (!file)
		return -errno;
	for (uint64_t i = 0; i < windows; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_int(&line, "ordered", (int64_t)ordered);
		jsonl_int(&line, "settle_us", (int64_t)(1000 * settle_ms + i * window_us));
		jsonl_int(&line, "window_us", (int64_t)window_us);
		jsonl_int(&line, "units", (int64_t)(units[i + 1] - units[i]));
		jsonl_int(&line, "units_ns", (int64_t)(looked_ns[i + 1] - looked_ns[i]));
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

int main(int argc, char **argv)
{
	struct cpulist cpus;
	int error, in;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || !cpu_out_is_way(way) || !cpus_asked || cpulist_parse(&cpus, cpus_asked) ||
	    !full_load_is_kind(load)) {
		fputs(usage, stderr);
		return 2;
	}
	error = cpu_out_prepare(way, &cpus);
	if (error)
		return fail(way, error);
	/* Before there is a load, because CPU hotplug takes long under one. No window is about
	 * that. */
	error = cpu_out();
	if (!error)
		error = cpu_out_check(true);
	/* Now the kernel does what is left to do on these CPUs, for example callbacks of RCU. */
	clock_sleep(1000000 * rest_ms);
	if (!error)
		error = full_load_start(load, threads, memory_kib);
	if (!error)
		error = measure();
	full_load_stop();
	in = cpu_in();
	if (!error)
		error = in;
	if (error)
		return fail(way, error);
	error = cpu_out_finish();
	return error ? fail(way, error) : 0;
}
