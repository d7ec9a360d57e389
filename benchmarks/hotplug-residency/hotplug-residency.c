// SPDX-License-Identifier: BSD-3-Clause
/*
 * Takes CPUs out while a phone's screen is scrolled, and says when: the trace has what the CPUs did
 * in that time. Input events come from outside of this program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "counter.h"
#include "cpu_out.h"
#include "cpulist.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "scroll.h"

static const char usage[] =
	"usage: hotplug-residency --way " CPU_OUT_WAYS " --cpus LIST [--from N]\n"
	"         [--settle-ms N] [--window-ms N] [--windows N] [--out FILE]\n"
	"         [--frame-us N] [--ui-steps N] [--render-steps N] [--raster-steps N] "
	"[--raster-threads N]\n"
	"         [--background-threads N] [--background-us N] [--background-steps N]\n"
	"         [--rt-threads N] [--rt-us N] [--rt-steps N] [--seed N]\n";

#define MOST_STEPS 100000000
#define MOST_US 10000000

static const char *way, *cpus_asked, *out = "/out/windows.jsonl";
static uint64_t from, settle_ms = 100, window_ms = 200, windows = 5;
static struct scroll load = {
	.frame_us = 16667,
	.ui_steps = 200000,
	.render_steps = 400000,
	.raster_steps = 400000,
	.raster_threads = 2,
	.background_threads = 4,
	.background_us = 20000,
	.background_steps = 100000,
	.rt_us = 5000,
	.rt_steps = 20000,
	.seed = 1,
};

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpus", .text = &cpus_asked},
	{.name = "from", .number = &from, .most = 63},
	{.name = "settle-ms", .number = &settle_ms, .least = 1, .most = 100000},
	{.name = "window-ms", .number = &window_ms, .least = 1, .most = 100000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "frame-us", .number = &load.frame_us, .least = 100, .most = MOST_US},
	{.name = "ui-steps", .number = &load.ui_steps, .most = MOST_STEPS},
	{.name = "render-steps", .number = &load.render_steps, .most = MOST_STEPS},
	{.name = "raster-steps", .number = &load.raster_steps, .most = MOST_STEPS},
	{.name = "raster-threads", .number = &load.raster_threads, .most = 16},
	{.name = "background-threads", .number = &load.background_threads, .most = 16},
	{.name = "background-us", .number = &load.background_us, .least = 100, .most = MOST_US},
	{.name = "background-steps", .number = &load.background_steps, .most = MOST_STEPS},
	{.name = "rt-threads", .number = &load.rt_threads, .most = 16},
	{.name = "rt-us", .number = &load.rt_us, .least = 100, .most = MOST_US},
	{.name = "rt-steps", .number = &load.rt_steps, .most = MOST_STEPS},
	{.name = "seed", .number = &load.seed, .most = UINT64_MAX},
	{0},
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "hotplug-residency: %s: %s\n", what, strerror(-error));
	return 1;
}

static void sleep_ms(uint64_t ms)
{
	const struct timespec until = clock_time(clock_ns() + 1000000 * ms);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static int measure(FILE *file)
{
	for (uint64_t i = 0; i < windows; i++) {
		uint64_t begin = counter_now(), end;
		struct frames frames;
		struct jsonl line;

		scroll_frames();
		sleep_ms(window_ms);
		end = counter_now();
		frames = scroll_frames();
		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_int(&line, "begin", (int64_t)begin);
		jsonl_int(&line, "end", (int64_t)end);
		jsonl_int(&line, "frames", (int64_t)frames.count);
		jsonl_int(&line, "frame_sum_ns", (int64_t)frames.sum_ns);
		jsonl_int(&line, "frame_most_ns", (int64_t)frames.most_ns);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

int main(int argc, char **argv)
{
	struct cpulist cpus;
	FILE *file;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || !cpu_out_is_way(way) || !cpus_asked || cpulist_parse(&cpus, cpus_asked) ||
	    cpus.has[from]) {
		fputs(usage, stderr);
		return 2;
	}
	file = fopen(out, "w");
	if (!file)
		return fail(out, -errno);
	error = cpu_out_prepare(way, &cpus);
	if (error)
		return fail(way, error);
	error = scroll_start(&load);
	if (error)
		return fail("threads", error);
	error = pin_to_cpu((int)from);
	sleep_ms(settle_ms);
	if (!error)
		error = cpu_out();
	if (!error)
		error = cpu_out_check(true);
	if (!error) {
		sleep_ms(settle_ms);
		error = measure(file);
	}
	cpu_in();
	if (error)
		return fail(way, error);
	scroll_stop();
	error = cpu_out_finish();
	return error ? fail(way, error) : 0;
}
