/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOCK_MONOTONIC: the time without a system call, and sleeps, which signals do not shorten. */
#ifndef LULL_CLOCK_H
#define LULL_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline struct timespec clock_time(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000)};
}

static inline void clock_sleep_until(uint64_t ns)
{
	struct timespec time = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static inline void clock_sleep(uint64_t ns)
{
	struct timespec time = clock_time(ns);

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

#endif
