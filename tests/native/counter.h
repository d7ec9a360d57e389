/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of benchmarks/lib/counter.h, which is for arm64. */
#ifndef LULL_COUNTER_H
#define LULL_COUNTER_H

#include <stdint.h>

static inline uint64_t counter_now(void)
{
	return 0;
}

#endif
