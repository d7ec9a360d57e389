// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes into the trace how its clock follows from the counter, so that a reader
 * can take each time stamp back to the count it was made of.
 *
 * The clock is sched_clock(), which the kernel tells only to those who map a perf
 * event. One that counts nothing will do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"

#define MARKER "/sys/kernel/tracing/trace_marker"
#define PAIRS 16

/* time = epoch_ns + ((counter - epoch_ticks) * mult >> shift) */
struct sched_clock {
	uint64_t epoch_ns;
	uint64_t epoch_ticks;
	uint32_t mult;
	uint32_t shift;
};

struct pair {
	uint64_t ns;
	uint64_t ticks;
};

static int ask_perf(struct sched_clock *clock)
{
	struct perf_event_attr nothing = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(nothing),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	const volatile struct perf_event_mmap_page *page;
	int fd = (int)syscall(SYS_perf_event_open, &nothing, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint32_t sequence;

	if (fd < 0)
		return -errno;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	do {
		sequence = page->lock;
		__asm__ volatile("dmb ishld" ::: "memory");
		if (!page->cap_user_time_zero || !page->cap_user_time_short)
			return -EOPNOTSUPP;
		clock->mult = page->time_mult;
		clock->shift = page->time_shift;
		clock->epoch_ticks = page->time_cycles;
		/* The page has the time at which the counter would have been 0. */
		clock->epoch_ns =
			page->time_zero +
			(uint64_t)(((unsigned __int128)clock->epoch_ticks * clock->mult) >>
				   clock->shift);
		__asm__ volatile("dmb ishld" ::: "memory");
	} while (page->lock != sequence);
	return 0;
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

int main(void)
{
	struct sched_clock clock = {0};
	struct pair monotonic = read_together();
	char line[256];
	int error = ask_perf(&clock);
	int fd, length;

	if (error) {
		fprintf(stderr, "lull-clock: the kernel does not tell its clock: %s\n",
			strerror(-error));
		return 1;
	}
	length = snprintf(line, sizeof(line),
			  "lull clock hz=%" PRIu64 " mult=%" PRIu32 " shift=%" PRIu32
			  " epoch_ns=%" PRIu64 " epoch_ticks=%" PRIu64 " monotonic_ns=%" PRIu64
			  " monotonic_ticks=%" PRIu64 "\n",
			  counter_frequency(), clock.mult, clock.shift, clock.epoch_ns,
			  clock.epoch_ticks, monotonic.ns, monotonic.ticks);
	fd = open(MARKER, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, line, (size_t)length) != length) {
		fprintf(stderr, "lull-clock: cannot write " MARKER ": %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
