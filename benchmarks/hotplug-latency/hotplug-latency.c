// SPDX-License-Identifier: BSD-3-Clause
/*
 * Takes a CPU out and brings it back, again and again, while threads wake up periodically, and says
 * how long each took from the write to its return. The trace of the run has the rest: when the CPU
 * was asleep, and the steps in between.
 *
 * Before each time out, all threads are held on the CPU, and let go just before the write:
 * otherwise only the first time would find them there.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "counter.h"
#include "cpu_out.h"
#include "jsonl.h"
#include "load.h"
#include "options.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"

#define STEPS CPU_DIR "/hotplug/states"
#define STEPS_MAX 16384

static const char usage[] =
	"usage: hotplug-latency --way " CPU_OUT_WAYS " [--cpu N] "
	"[--from N]\n"
	"                       [--threads N] [--interval-us N] [--distance-us N] [--priority N]\n"
	"                       [--writer shared|alone|warm] [--toggles N] [--rest-us N] [--seed "
	"N]\n"
	"                       [--out FILE] [--steps FILE]\n";

static const char *way_name, *writer = "shared", *out = "/out/toggles.jsonl",
			     *steps = "/out/steps.txt";
static uint64_t cpu = 1, from, toggles = 20, rest_us = 13000, seed = 1;
static struct load load = {.threads = 1, .interval_us = 1000, .distance_us = 500, .not_on = -1};
static bool warm;

static const struct option_to options[] = {
	{.name = "way", .text = &way_name},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "from", .number = &from, .most = 63},
	{.name = "threads", .number = &load.threads, .most = 1000},
	{.name = "interval-us", .number = &load.interval_us, .least = 100, .most = 10000000},
	{.name = "distance-us", .number = &load.distance_us, .most = 10000000},
	{.name = "priority", .number = &load.priority, .most = 99},
	{.name = "writer", .text = &writer},
	{.name = "toggles", .number = &toggles, .least = 1, .most = 1000000},
	{.name = "rest-us", .number = &rest_us, .least = 1, .most = 10000000},
	{.name = "seed", .number = &seed, .most = UINT64_MAX},
	{.name = "out", .text = &out},
	{.name = "steps", .text = &steps},
	{0},
};

struct toggle {
	/* In counts, which the time stamps of a trace are made of. */
	uint64_t begin, end;
	unsigned int refused;
	struct lateness lateness;
};

static struct toggle *taken;

static int fail(const char *what, int error)
{
	fprintf(stderr, "hotplug-latency: %s: %s\n", what, strerror(-error));
	return 1;
}

/* One to two times the rest, so that a toggle has no fixed phase to the threads. */
static void rest(void)
{
	uint64_t ns = 1000 * (rest_us + next_random(&seed) % (rest_us + 1));
	struct timespec until = clock_time(clock_ns() + ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

/* With a warm writer the same call comes once more before, when it has nothing to do. */
static int timed(int (*act)(void), int (*undone)(void), struct toggle *toggle)
{
	int error = warm ? undone() : 0;

	if (error)
		return error;
	toggle->begin = counter_now();
	error = act();
	toggle->end = counter_now();
	toggle->refused = cpu_out_refused();
	return error;
}

static int measure(void)
{
	int error = 0;

	for (uint64_t i = 0; !error && i < toggles; i++) {
		struct toggle *leave = &taken[2 * i], *back = &taken[2 * i + 1];

		error = load_hold((int)cpu);
		rest();
		load_lateness();
		if (!error)
			error = load_release();
		if (!error)
			error = timed(cpu_out, cpu_in, leave);
		if (!error)
			error = cpu_out_check(true);
		rest();
		leave->lateness = load_lateness();
		if (!error)
			error = timed(cpu_in, cpu_out, back);
		if (!error)
			error = cpu_out_check(false);
		rest();
		back->lateness = load_lateness();
	}
	return error;
}

static int save(void)
{
	FILE *file = fopen(out, "w");

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < 2 * toggles; i++) {
		const struct toggle *own = &taken[i];
		struct jsonl line;

		jsonl_begin(&line, file);
		jsonl_int(&line, "number", (int64_t)(i / 2));
		jsonl_string(&line, "direction", i % 2 ? "in" : "out");
		jsonl_int(&line, "begin", (int64_t)own->begin);
		jsonl_int(&line, "end", (int64_t)own->end);
		jsonl_int(&line, "refused", own->refused);
		jsonl_int(&line, "loops", (int64_t)own->lateness.loops);
		jsonl_int(&line, "late_sum_ns", (int64_t)own->lateness.sum_ns);
		jsonl_int(&line, "late_most_ns", (int64_t)own->lateness.most_ns);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

/* The names of the steps of conventional hotplug, which the trace has as numbers. */
static int save_steps(void)
{
	static char text[STEPS_MAX];
	int error = read_text(STEPS, text, sizeof(text));
	FILE *file = error ? NULL : fopen(steps, "w");

	if (!file)
		return error ? error : -errno;
	fprintf(file, "%s\n", text);
	return fclose(file) ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct cpulist cpus = {.count = 1};
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	warm = !strcmp(writer, "warm");
	if (!way_name || !cpu_out_is_way(way_name) || cpu == from ||
	    (!warm && strcmp(writer, "shared") && strcmp(writer, "alone"))) {
		fputs(usage, stderr);
		return 2;
	}
	if (strcmp(writer, "shared"))
		load.not_on = (int64_t)from;
	taken = calloc(2 * toggles, sizeof(*taken));
	if (!taken)
		return fail("memory for the toggles", -ENOMEM);
	error = save_steps();
	if (error)
		return fail(STEPS, error);
	cpus.has[cpu] = true;
	error = cpu_out_prepare(way_name, &cpus);
	if (error)
		return fail(way_name, error);
	error = load_start(&load);
	if (error)
		return fail("threads", error);
	error = pin_to_cpu((int)from);
	if (!error)
		error = measure();
	if (error) {
		/* Threads that wait for this CPU would wait for ever. */
		cpu_in();
		return fail(way_name, error);
	}
	load_stop();
	cpu_out_finish();
	error = save();
	return error ? fail(out, error) : 0;
}
