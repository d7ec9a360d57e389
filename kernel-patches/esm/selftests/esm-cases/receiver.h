/* SPDX-License-Identifier: BSD-3-Clause */
/* An application of the stress test, which looks at each event that it gets. */
#ifndef ESM_CASES_RECEIVER_H
#define ESM_CASES_RECEIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DEVICES 2
/* And one whose packets come in interrupts. */
#define INJECTED DEVICES
#define SOURCES (DEVICES + 1)

/* As all processes see it. Its handler for a source is the source's index and 1. */
struct receiver {
	_Atomic pid_t task;
	/* The packet of each source that it got last. */
	_Atomic uint64_t last[SOURCES];
	_Atomic uint64_t received, overflows, lost, signals;
	_Atomic bool started, finished, failed;
	char failure[128];
};

/* Once: the first is the one to look at. */
__attribute__((format(printf, 2, 3))) void receiver_fail(struct receiver *self, const char *format,
							 ...);

/*
 * Receives until all is sent and nothing is left, or something is wrong: an event twice, or out of
 * its order, and if it counts, a gap that was not told before. Returns how many were told as lost
 * and not missed by then.
 */
int64_t receive(struct receiver *self, const uint32_t *numbers, const _Atomic bool *all_sent,
		uint64_t seed, bool counts);

#endif
