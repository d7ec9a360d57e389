/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64: repeatable, a few instructions a step, and every seed is a good one. */
#ifndef LULL_RANDOM_H
#define LULL_RANDOM_H

#include <stdint.h>

static inline uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif
