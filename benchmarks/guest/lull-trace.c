// SPDX-License-Identifier: BSD-3-Clause
/* Traces the kernel from `lull-trace start` to `lull-trace stop`, and writes trace.dat of it. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "sched_clock.h"
#include "sysfs.h"
#include "trace_dat.h"

#define EXPEDITED "/sys/kernel/rcu_expedited"
#define LATENCY "/dev/cpu_dma_latency"
#define PAIRS 16

static const char usage[] =
	"usage: lull-trace start [-b KIB] EVENT...\n"
	"       lull-trace stop FILE\n"
	"  EVENT is a name, a system, or system:name; -b is the room for each CPU's events\n";

struct pair {
	uint64_t ns;
	uint64_t ticks;
};

static void set(const char *path, const char *text)
{
	int error = write_text(path, text);

	if (error)
		errx(1, "cannot write %s into %s: %s", text, path, strerror(-error));
}

/* The two clocks at one moment, as near to each other as they can be read. */
static struct pair read_together(void)
{
	struct pair best = {0};
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t before = counter_now();
		uint64_t ns = clock_ns();
		uint64_t between = counter_now() - before;

		if (between >= closest)
			continue;
		closest = between;
		best.ns = ns;
		best.ticks = before + between / 2;
	}
	return best;
}

static void mark_clock(void)
{
	struct sched_clock clock = {0};
	struct pair monotonic = read_together();
	int error = sched_clock_read(&clock);
	char line[256];

	if (error)
		errx(1, "the kernel does not tell its clock: %s", strerror(-error));
	snprintf(line, sizeof(line),
		 "lull clock hz=%" PRIu64 " mult=%" PRIu32 " shift=%" PRIu32 " epoch_ns=%" PRIu64
		 " epoch_ticks=%" PRIu64 " monotonic_ns=%" PRIu64 " monotonic_ticks=%" PRIu64,
		 counter_frequency(), clock.mult, clock.shift, clock.epoch_ns, clock.epoch_ticks,
		 monotonic.ns, monotonic.ticks);
	set(TRACING "/trace_marker", line);
}

/*
 * Linux wakes every sleeping CPU when a limit of the latency comes, and when it goes with the
 * file that asked for it. The trace then has a first word from each CPU: of one that sleeps on
 * nothing is known, not even how deep.
 */
static void wake_all(void)
{
	static const int32_t limit;
	int fd = open(LATENCY, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &limit, sizeof(limit)) != sizeof(limit))
		err(1, "cannot write " LATENCY);
	close(fd);
}

/* Each write is one more event; to open the file like another, cut to nothing, switches all off. */
static void switch_on(int count, char *events[])
{
	int fd = open(TRACING "/set_event", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		err(1, "cannot open " TRACING "/set_event");
	for (int i = 0; i < count; i++)
		if (write(fd, events[i], strlen(events[i])) < 0)
			err(1, "cannot trace %s", events[i]);
	close(fd);
}

static void start(int count, char *events[])
{
	if (count > 2 && strcmp(events[0], "-b") == 0) {
		set(TRACING "/buffer_size_kb", events[1]);
		events += 2;
		count -= 2;
	}
	set(TRACING "/trace_clock", "local");
	/* The kernel waits for others after each event that it switches on, 20 ms unless told to
	 * hurry. */
	set(EXPEDITED, "1");
	switch_on(count, events);
	set(EXPEDITED, "0");
	trace_dat_begin();
	wake_all();
	set(TRACING "/trace_marker", "lull begin");
}

static void stop(const char *file)
{
	mark_clock();
	set(TRACING "/tracing_on", "0");
	trace_dat_write(file);
}

int main(int argc, char *argv[])
{
	if (argc > 2 && strcmp(argv[1], "start") == 0) {
		start(argc - 2, argv + 2);
	} else if (argc == 3 && strcmp(argv[1], "stop") == 0) {
		stop(argv[2]);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}
