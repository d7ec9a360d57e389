/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seven kernels of the MiBench kind. A unit is a piece of work whose input is made from a seed and
 * whose result is a number: the same seed gives the same number, on every machine. Only integers.
 */
#ifndef PARMI_KERNELS_H
#define PARMI_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct kernel {
	const char *name;
	uint64_t (*unit)(uint64_t seed, void *room);
	/* Memory that a unit works in. */
	size_t room;
	/* What the unit of seed 1 gives. */
	uint64_t result;
};

#define KERNELS 7

extern const struct kernel kernels[KERNELS];

#endif
