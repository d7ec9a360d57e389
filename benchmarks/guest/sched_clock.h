/* SPDX-License-Identifier: BSD-3-Clause */
/* How the kernel's sched_clock(), which stamps its trace, follows from the counter. */
#ifndef LULL_SCHED_CLOCK_H
#define LULL_SCHED_CLOCK_H

#include <stdint.h>

/* time = epoch_ns + ((counter - epoch_ticks) * mult >> shift) */
struct sched_clock {
	uint64_t epoch_ns;
	uint64_t epoch_ticks;
	uint32_t mult;
	uint32_t shift;
};

/* Returns 0 or -errno. */
int sched_clock_read(struct sched_clock *clock);

#endif
