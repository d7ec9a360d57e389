// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waits for events of a device that come at even distances, and says how long after each the
 * program has it. The program knows when the next event comes, because it knows the last one's time
 * and the period. What it does with that is the way:
 *
 *   none    nothing: idle states are the governor's choice
 *   ahead   it asks for a window of /dev/lull-wake-ahead
 *   qos     it holds /dev/cpu_dma_latency at 0, so that no CPU sleeps deeper than C1
 *   busy    it looks for the event without ever sleeping
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/input-event-codes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "events.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "sysfs.h"
#include "wake_ahead_abi.h"
#include "windows.h"

#define STATS "/sys/kernel/lull/anticipation/stats"
#define MOST_EVENTS 100000

static const char usage[] =
	"usage: wake-ahead --way none|ahead|qos|busy [--cpu N] [--period-us N] [--early-us N] "
	"[--late-us N]\n"
	"                  [--settle-ms N] [--window-ms N] [--windows N] [--out FILE] [--totals "
	"FILE]\n";

static const char *way, *out = "/out/events.jsonl", *totals = "/out/windows.jsonl";
static uint64_t cpu, period_us = 5000, early_us = 10, late_us = 200, settle_ms = 50, window_ms = 50,
		     windows = 6;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "period-us", .number = &period_us, .least = 100, .most = 1000000},
	{.name = "early-us", .number = &early_us, .most = 10000},
	{.name = "late-us", .number = &late_us, .least = 1, .most = 90000},
	{.name = "settle-ms", .number = &settle_ms, .least = 1, .most = 100000},
	{.name = "window-ms", .number = &window_ms, .least = 1, .most = 100000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{0},
};

struct seen {
	uint32_t serial;
	/* When the hardware raised it, and when the program had it. */
	uint64_t raised_ns, had_ns;
};

static struct seen seen[MOST_EVENTS];
static struct events device;
static int ahead = -1;

static int fail(const char *what, int error)
{
	fprintf(stderr, "wake-ahead: %s: %s\n", what, strerror(-error));
	return 1;
}

static bool is(const char *name)
{
	return !strcmp(way, name);
}

static int prepare(void)
{
	static const int32_t nothing;
	int fd;

	if (is("ahead")) {
		ahead = open(WAKE_AHEAD_PATH, O_RDWR | O_CLOEXEC);
		return ahead < 0 ? -errno : 0;
	}
	if (!is("qos"))
		return 0;
	/* Held until the program ends. */
	fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	return fd < 0 || write(fd, &nothing, sizeof(nothing)) != sizeof(nothing) ? -errno : 0;
}

static int schedule(uint64_t events)
{
	char text[96];

	/* Motions: each is an event of its own, in any number. */
	snprintf(text, sizeof(text), "periodic %llu %llu %llu %d %d 1\nend\n",
		 (unsigned long long)period_us, (unsigned long long)period_us,
		 (unsigned long long)events, EV_REL, REL_X);
	return write_text(EVENTS_DIR "schedule", text);
}

static int expect(uint64_t at_ns)
{
	const struct wake_ahead_request request = {
		.start_ns = at_ns - early_us * 1000,
		.duration_ns = (early_us + late_us) * 1000,
	};

	return ioctl(ahead, WAKE_AHEAD_BEGIN, &request) ? -errno : 0;
}

static int wait_for(struct event *event)
{
	struct pollfd ready = {.fd = device.fd, .events = POLLIN};
	int got;

	while (!(got = events_next(&device, event)))
		if (!is("busy") && poll(&ready, 1, -1) < 0)
			return -errno;
	return got < 0 ? got : 0;
}

static int receive(uint64_t events)
{
	struct event event;
	int error;

	for (uint64_t i = 0; i < events; i++) {
		error = wait_for(&event);
		if (error)
			return error;
		seen[i] = (struct seen){event.serial, event.time_ns, clock_ns()};
		/* A miss has ended by itself. */
		if (ahead >= 0)
			ioctl(ahead, WAKE_AHEAD_END);
		if (ahead >= 0 && i + 1 < events)
			error = expect(event.time_ns + period_us * 1000);
		/* The next event is about to come, or has: there is nothing to wait for. */
		if (error && error != -ETIME)
			return error;
	}
	return 0;
}

/* A number of the CPU's line of the system's statistics, or -1 where there is no such system. */
static int64_t total(const char *text, const char *word)
{
	char name[32];
	const char *line = text, *found, *next;

	snprintf(name, sizeof(name), "%llu hits ", (unsigned long long)cpu);
	for (; line && *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		if (strncmp(line, name, strlen(name)))
			continue;
		found = strstr(line, word);
		return found ? strtoll(found + strlen(word), NULL, 10) : -1;
	}
	return -1;
}

static int save(uint64_t events, uint64_t ordered)
{
	static const char *const words[] = {"hits ", "early ",	      "misses ",      "wakes ",
					    "late ", "late_most_ns ", "ahead_sum_ns "};
	static const char *const keys[] = {"hits", "early",	   "misses",	  "wakes",
					   "late", "late_most_ns", "ahead_sum_ns"};
	char text[4096] = "";
	struct jsonl line;
	FILE *file = fopen(out, "w");
	int error;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < events; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "serial", seen[i].serial);
		jsonl_int(&line, "raised_ns", (int64_t)seen[i].raised_ns);
		jsonl_int(&line, "had_ns", (int64_t)seen[i].had_ns);
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	if (ahead >= 0)
		error = read_text(STATS, text, sizeof(text));
	file = error ? NULL : fopen(totals, "w");
	if (!file)
		return error ? error : -errno;
	for (uint64_t i = 0; i < windows; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_int(&line, "ordered", (int64_t)ordered);
		jsonl_int(&line, "settle_us", (int64_t)(1000 * (settle_ms + i * window_ms)));
		jsonl_int(&line, "window_us", (int64_t)(1000 * window_ms));
		for (size_t j = 0; j < sizeof(keys) / sizeof(*keys); j++)
			jsonl_int(&line, keys[j], total(text, words[j]));
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

int main(int argc, char **argv)
{
	uint64_t events, ordered;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	events = 1000 * (settle_ms + windows * window_ms) / period_us;
	if (!way || !(is("none") || is("ahead") || is("qos") || is("busy")) || !events ||
	    events > MOST_EVENTS) {
		fputs(usage, stderr);
		return 2;
	}
	error = pin_to_cpu((int)cpu);
	if (error)
		return fail("running on the CPU", error);
	error = prepare();
	if (error)
		return fail(way, error);
	error = events_open(&device);
	if (error)
		return fail("no input device lull-event", error);
	error = schedule(events);
	if (error)
		return fail("loading events", error);
	ordered = counter_now();
	windows_order(&(struct windows){1000 * settle_ms, 1000 * window_ms, windows});
	error = write_text(EVENTS_DIR "enabled", "1");
	if (!error)
		error = receive(events);
	write_text(EVENTS_DIR "enabled", "0");
	if (error)
		return fail("waiting for events", error);
	error = save(events, ordered);
	return error ? fail(out, error) : 0;
}
