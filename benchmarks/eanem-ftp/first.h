/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first level: when do packets get other cores, or another frequency? It knows nothing of the
 * machine but its model.
 */
#ifndef EANEM_FIRST_H
#define EANEM_FIRST_H

#include <stdbool.h>

#include "mapping.h"
#include "model.h"
#include "traffic.h"

struct first_options {
	/* Parts of the cores' time and of the power: mapping.h. */
	double room, saves;
	/* Intervals in a row that anything but too little has to last. */
	unsigned int patience;
};

struct first {
	struct first_options options;
	/* Where packets would be without the second level, and for what traffic. */
	struct mapping mapping;
	struct traffic traffic;
	bool steers;

	/* first.c's own: intervals in a row with traffic, without it, with a better mapping, and
	 * with other threads.
	 */
	unsigned int loud, quiet, better, others;
	bool has_ended;
	uint64_t interval;
};

/* After traffic has ended, it begins at once again only after so many times the patience. */
#define FIRST_REST 10

/*
 * Once in an interval: one that has been looked at is not looked at again. NULL if nothing changes;
 * otherwise why `mapping`, `traffic` and `steers` are new: "traffic began", "traffic ended", "fewer
 * cores", "too little", "nothing suffices", "less power", "other threads".
 */
const char *first_step(struct first *first, const struct model *model,
		       const struct traffic *traffic);
/* These threads are steered from now on, for the same packets. */
void first_take_threads(struct first *first, const struct traffic *traffic);

#endif
