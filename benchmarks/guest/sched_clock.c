// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel tells only those who map a perf event. One that counts nothing will do.
 */
#include "sched_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int sched_clock_read(struct sched_clock *clock)
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
