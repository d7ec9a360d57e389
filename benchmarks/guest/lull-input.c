// SPDX-License-Identifier: BSD-3-Clause
/*
 * The way of an event from an input driver to a program that waits in read(), over and over on one
 * CPU that never idles: what a kernel costs there. Events are written to the event timer's evdev
 * file, which gives them to the input core as its driver does. The reader goes before all else on
 * the CPU, so that a write has returned when the event was read.
 *
 * On gem5 a window of statistics begins before each run of events and ends after the last.
 * One JSON line: the CPU, runs, events in each.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cpulist.h"
#include "input_path.h"
#include "jsonl.h"
#include "m5.h"
#include "machine.h"
#include "options.h"
#include "pin.h"

static const char usage[] = "usage: lull-input [-c CPU] [-n EVENTS] [-r RUNS]\n"
			    "  -c CPU  on this CPU (0)\n"
			    "  -n N    events in a run (20)\n"
			    "  -r N    runs (10)\n";

int main(int argc, char **argv)
{
	uint64_t cpu = 0, events = 20, runs = 10, serial = 0;
	const struct option_to options[] = {
		{.name = "c", .number = &cpu, .most = CPULIST_MAX - 1},
		{.name = "n", .number = &events, .least = 1, .most = 1000000},
		{.name = "r", .number = &runs, .least = 1, .most = 1000},
		{0},
	};
	bool windows = machine_engine() == ENGINE_GEM5;
	int fd, error;
	struct jsonl line;
	pid_t reader;

	(void)argc;
	options_parse(argv, options, usage);
	fd = input_open();
	error = pin_to_cpu((int)cpu);
	if (error)
		errx(1, "cannot run on this CPU: %s", strerror(-error));
	reader = input_start_reader(fd, runs * events);
	for (uint64_t run = 0; run < runs; run++) {
		if (windows)
			m5_dump_reset_stats(0, 0);
		for (uint64_t i = 0; i < events; i++)
			input_send(fd, ++serial);
	}
	if (windows)
		m5_dump_reset_stats(0, 0);
	input_wait_for_reader(reader);
	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", (int64_t)cpu);
	jsonl_int(&line, "runs", (int64_t)runs);
	jsonl_int(&line, "events", (int64_t)events);
	jsonl_end(&line);
	return fflush(stdout) || ferror(stdout);
}
