/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second level's rates: how fast applications are in the state that is in force, and whether
 * they are too slow or too fast.
 */
#ifndef EANEM_RATING_H
#define EANEM_RATING_H

#include <stdbool.h>
#include <stdint.h>

#include "second.h"

/* Which applications a rating found too slow. */
struct rating {
	uint64_t slow[SECOND_APPS];
	int slow_count;
};

/* An application's beats count from now on. */
void rating_count_anew(struct second_known *known, const struct second_app *app, uint64_t now_ns);
/* Its rate was of another state, or of other threads. */
void rating_forget(struct second_known *known);
/*
 * The rates, if it is time for them. Who cannot be rated yet is counted on. Applications without a
 * goal or a beat have no verdict. False if nobody has one.
 */
bool rating_take(struct second *second, const struct second_app *apps, uint64_t now_ns,
		 struct rating *found);
/* The applications whose rate in the present state is known, and how many they are. */
int rating_apps(const struct second *second, struct search_app *rated);
/* All that have a goal and send beats have been too fast, often enough in a row. */
bool rating_are_fast(const struct second *second);

#endif
