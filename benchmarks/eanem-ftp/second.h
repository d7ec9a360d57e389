/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second level: when is it time to look for other cores or another frequency for applications
 * with heartbeats, and to take them? It knows nothing of the machine but its model.
 */
#ifndef EANEM_SECOND_H
#define EANEM_SECOND_H

#include <stdbool.h>
#include <stdint.h>

#include "search.h"

#define SECOND_APPS 32
#define SECOND_SLOW 16

/* What an application says. Goals in beats/s; 0 for an application that has none. */
struct second_app {
	uint64_t id, beats;
	double least, most;
	unsigned int threads;
};

struct second_options {
	/*
	 * Beats that a rate takes. Intervals after which those that have sent so many are not kept
	 * waiting by the others, and clocks that are not in force are not waited for.
	 */
	uint64_t beats;
	unsigned int longest;
	/* Rates in a row that have to be too high, and the part of the power that is then saved. */
	unsigned int patience;
	double saves;
	/* Intervals without another look after one that found nothing. */
	unsigned int rest;
	int reach;
};

/* An application, and the rate that is being counted. */
struct second_known {
	/* Its beats are those when the rate began; all else is of now. */
	struct second_app app;
	uint64_t began_ns;
	/* The last rate; -1 before there is one. Whether it is of the present state and threads. */
	double rate;
	bool is_rated;
	/* Rates in a row that were too high. */
	unsigned int fast;
	/* It came while the others were already counted: they do not wait for it. */
	bool is_new;
	/* Its threads changed meanwhile, so that it was counted anew: once in a rating. */
	bool has_restarted;
};

struct second {
	struct second_options options;
	/* Whether there are applications, where they are, and on how many cores packets are then.
	 */
	bool manages;
	struct search_state state;
	unsigned int net_cores;

	struct second_known apps[SECOND_APPS];
	int count;
	unsigned int intervals, rest;
	bool settling;
	struct search_net net;
	/* States that were too slow, and for which applications. */
	struct search_state slow[SECOND_SLOW];
	uint64_t slow_for[SECOND_SLOW][SECOND_APPS];
	int slow_count;
};

/*
 * Once in an interval. in_force: whether the clocks of `state` are; a rate of other clocks would be
 * taken for one of these. NULL if nothing changes; otherwise why `state` and `net_cores` are new:
 * "application came", "application went", "network", "fewer cores", "too slow", "nothing suffices",
 * "less power".
 */
const char *second_step(struct second *second, const struct model *model,
			const struct search_net *net, const struct second_app *apps, int count,
			bool in_force, uint64_t now_ns);

/* By the model, in the state that is in force. */
double second_watts(const struct second *second, const struct model *model);

#endif
