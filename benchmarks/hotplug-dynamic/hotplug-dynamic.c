// SPDX-License-Identifier: BSD-3-Clause
/*
 * Takes CPUs out and brings them back many times a second, while threads with periodic jobs run
 * everywhere. Or lets the kernel's governor do that, or nobody.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "counter.h"
#include "cpu_out.h"
#include "cpulist.h"
#include "jobs.h"
#include "jsonl.h"
#include "options.h"
#include "sysfs.h"
#include "windows.h"

static const char usage[] =
	"usage: hotplug-dynamic --way " CPU_OUT_WAYS "|governor --cpus LIST --toggles-hz N\n"
	"         [--threads N] [--period-us N] [--steps N]\n"
	"         [--settle-ms N] [--window-ms N] [--windows N]\n";

#define WINDOWS_FILE "/out/windows.jsonl"
#define JOBS_FILE "/out/jobs.jsonl"
#define SECOND_NS 1000000000
#define SYSTEM SYS_DIR "/kernel/lull/hotplug"
#define MOST_RECORDS 200000

static const char *way, *cpus_asked;
static uint64_t toggles_hz, settle_ms = 100, window_ms = 100, windows = 8;
static struct jobs jobs = {
	.threads = 4, .period_us = 8000, .steps = 100000, .most_records = MOST_RECORDS};

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpus", .text = &cpus_asked},
	{.name = "toggles-hz", .number = &toggles_hz, .most = 100000},
	{.name = "threads", .number = &jobs.threads, .least = 1, .most = 64},
	{.name = "period-us", .number = &jobs.period_us, .least = 100, .most = 10000000},
	{.name = "steps", .number = &jobs.steps, .most = 100000000},
	{.name = "settle-ms", .number = &settle_ms, .least = 1, .most = 100000},
	{.name = "window-ms", .number = &window_ms, .least = 1, .most = 100000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{0},
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "hotplug-dynamic: %s: %s\n", what, strerror(-error));
	return 1;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

struct toggled {
	uint64_t count, sum_ns, most_ns;
};

/* The governor decides by itself which CPUs are out, and when. Both switches are on meanwhile. */
static bool is_governed(void)
{
	return strcmp(way, "governor") == 0;
}

static int govern(const char *on)
{
	int error = write_text(SYSTEM "/enabled", on);

	return error ? error : write_text(SYSTEM "/governor/enabled", on);
}

/* How many CPUs the governor has taken out and brought back since boot. */
static int governor_changes(uint64_t *changes)
{
	unsigned long in, out;
	char text[128];
	int error = read_text(SYSTEM "/governor/stats", text, sizeof(text));

	if (error)
		return error;
	if (sscanf(text, "samples %*u in %lu out %lu", &in, &out) != 2)
		return -EPROTO;
	*changes = in + out;
	return 0;
}

/*
 * Half of the toggles are out and half in, at even distances, the first one at once. A toggle that
 * is late delays those after it.
 */
static int toggle(uint64_t end, struct toggled *toggled)
{
	uint64_t due = clock_ns(), took;
	bool out = false;
	int error = 0;

	while (!error && toggles_hz && due < end) {
		sleep_until(due);
		took = clock_ns();
		error = out ? cpu_in() : cpu_out();
		took = clock_ns() - took;
		out = !out;
		toggled->count++;
		toggled->sum_ns += took;
		if (took > toggled->most_ns)
			toggled->most_ns = took;
		due += took > SECOND_NS / toggles_hz ? took : SECOND_NS / toggles_hz;
	}
	sleep_until(end);
	return out && !error ? cpu_in() : error;
}

static int write_windows(uint64_t ordered, uint64_t ordered_ns, const struct toggled *toggled)
{
	FILE *file = fopen(WINDOWS_FILE, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < windows; i++) {
		uint64_t begin_us = 1000 * (settle_ms + i * window_ms);

		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_int(&line, "ordered", (int64_t)ordered);
		jsonl_int(&line, "settle_us", (int64_t)begin_us);
		jsonl_int(&line, "window_us", (int64_t)(1000 * window_ms));
		jsonl_int(&line, "begin_ns", (int64_t)(ordered_ns + 1000 * begin_us));
		jsonl_int(&line, "toggles", (int64_t)toggled->count);
		jsonl_int(&line, "toggles_sum_ns", (int64_t)toggled->sum_ns);
		jsonl_int(&line, "toggles_most_ns", (int64_t)toggled->most_ns);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

static int measure(void)
{
	uint64_t ordered = counter_now(), ordered_ns = clock_ns();
	struct toggled toggled = {0};
	uint64_t before = 0;
	FILE *file;
	int error = is_governed() ? governor_changes(&before) : 0;

	if (error)
		return error;
	windows_order(&(struct windows){1000 * settle_ms, 1000 * window_ms, windows});
	error = toggle(ordered_ns + 1000000 * (settle_ms + windows * window_ms), &toggled);
	if (!error && is_governed()) {
		error = governor_changes(&toggled.count);
		toggled.count -= before;
	}
	jobs_stop();
	if (error)
		return error;
	error = write_windows(ordered, ordered_ns, &toggled);
	if (error)
		return error;
	file = fopen(JOBS_FILE, "w");
	return file ? jobs_write(file) : -errno;
}

int main(int argc, char **argv)
{
	struct cpulist cpus;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || !(is_governed() || cpu_out_is_way(way)) || !cpus_asked ||
	    cpulist_parse(&cpus, cpus_asked) || (is_governed() && toggles_hz)) {
		fputs(usage, stderr);
		return 2;
	}
	error = cpu_out_prepare(is_governed() ? "none" : way, &cpus);
	if (!error && is_governed())
		error = govern("1");
	if (error)
		return fail(way, error);
	error = jobs_start(&jobs);
	if (error)
		return fail("threads", error);
	error = measure();
	if (error)
		return fail(way, error);
	error = is_governed() ? govern("0") : cpu_out_finish();
	return error ? fail(way, error) : 0;
}
