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
#include <fcntl.h>
#include <linux/input.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpulist.h"
#include "events.h"
#include "jsonl.h"
#include "m5.h"
#include "machine.h"
#include "options.h"
#include "pin.h"

static const char usage[] = "usage: lull-input [-c CPU] [-n EVENTS] [-r RUNS]\n"
			    "  -c CPU  on this CPU (0)\n"
			    "  -n N    events in a run (20)\n"
			    "  -r N    runs (10)\n";

/* Waits for one event after the other. 0 when they came one at a time and in order. */
static int read_all(int fd, uint64_t count)
{
	struct input_event packet[3];

	for (uint64_t i = 1; i <= count; i++)
		if (read(fd, packet, sizeof(packet)) != 2 * sizeof(packet[0]) ||
		    packet[0].code != MSC_SERIAL || packet[0].value != (int32_t)i)
			return 1;
	return 0;
}

static pid_t start_reader(int fd, uint64_t count)
{
	const struct sched_param first = {.sched_priority = 1};
	pid_t child = fork();

	if (child < 0)
		err(1, "cannot fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(read_all(fd, count));
	}
	/* From here on it has the CPU until it waits. */
	if (sched_setscheduler(child, SCHED_FIFO, &first))
		err(1, "cannot let the reader go first");
	return child;
}

static void send(int fd, uint64_t serial)
{
	const struct input_event packet[] = {
		{.type = EV_MSC, .code = MSC_SERIAL, .value = (int32_t)serial},
		{.type = EV_SYN, .code = SYN_REPORT},
	};

	if (write(fd, packet, sizeof(packet)) != sizeof(packet))
		err(1, "cannot send an event");
}

/* Blocking, for reading and writing. */
static int open_device(void)
{
	struct events events;
	char path[64];
	int error = events_open(&events), fd;

	if (error)
		errx(1, "cannot open the event timer: %s", strerror(-error));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", events.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err(1, "cannot open the event timer to write");
	events_close(&events);
	return fd;
}

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
	int fd, error, status;
	struct jsonl line;
	pid_t reader;

	(void)argc;
	options_parse(argv, options, usage);
	fd = open_device();
	error = pin_to_cpu((int)cpu);
	if (error)
		errx(1, "cannot run on this CPU: %s", strerror(-error));
	reader = start_reader(fd, runs * events);
	for (uint64_t run = 0; run < runs; run++) {
		if (windows)
			m5_dump_reset_stats(0, 0);
		for (uint64_t i = 0; i < events; i++)
			send(fd, ++serial);
	}
	if (windows)
		m5_dump_reset_stats(0, 0);
	waitpid(reader, &status, 0);
	if (status) {
		fprintf(stderr, "lull-input: events did not come one at a time and in order\n");
		return 1;
	}
	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", (int64_t)cpu);
	jsonl_int(&line, "runs", (int64_t)runs);
	jsonl_int(&line, "events", (int64_t)events);
	jsonl_end(&line);
	return fflush(stdout) || ferror(stdout);
}
