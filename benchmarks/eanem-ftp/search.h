/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second level's search, after HARS: which cores, and how fast, for applications that say how
 * fast they have to be? It looks around what is in force, beside what packets need.
 */
#ifndef EANEM_SEARCH_H
#define EANEM_SEARCH_H

#include <stdbool.h>

#include "model.h"

/* What packets need, as algorithm 2 has it. */
struct search_net {
	/* False: there are none, and the rest does not count. */
	bool is_there;
	int cluster;
	/* The operating point that algorithm 2 has chosen: it is the least. */
	int opp;
	/* The cores that it has chosen: packets have no more, also if these do not suffice. */
	unsigned int cores;
	/* Packets, and the part of the cores' time that may be used. */
	double packets_s, room;
};

struct search_state {
	/* By cluster: cores of the applications, and the operating point of all cores. */
	unsigned int cores[MODEL_CLUSTERS];
	int opp[MODEL_CLUSTERS];
};

struct search_app {
	/* Beats a second in the state that is in force; what is gone for. */
	double rate, aim;
};

struct search {
	const struct model *model;
	struct search_net net;
	/* Threads of all applications. */
	unsigned int threads;
	/* Steps of a core or of an operating point that the answer may be away. */
	int reach;
	/* States that have been tried, and were too slow for these goals. */
	const struct search_state *slow;
	int slow_count;
};

/* The operating point's place in its cluster's list, or -1. */
int search_opp(const struct model_cluster *cluster, unsigned int mhz);
/* Cores that packets take in a state: fewer than algorithm 2's where the clock is faster. */
unsigned int search_net_cores(const struct search *search, const struct search_state *state);
/* Whether packets and applications have room beside each other. */
bool search_fits(const struct search *search, const struct search_state *state);
/* Work a second: the fastest cores that threads can be on. */
double search_speed(const struct search *search, const struct search_state *state);
/* By equation 3: threads are never asleep. */
double search_watts(const struct search *search, const struct search_state *state);
/* The least part of its aim that an application gets, if rates go as the speeds. */
double search_reached(const struct search *search, const struct search_state *now,
		      const struct search_state *state, const struct search_app *apps, int count);
/* Where to begin: all cores that packets leave, at the slowest that packets allow. */
void search_begin(const struct search *search, struct search_state *state);
/*
 * The state with the least power in which each application gets its aim. False if there is none
 * within reach: then it is the one that comes nearest.
 */
bool search_best(const struct search *search, const struct search_state *now,
		 const struct search_app *apps, int count, struct search_state *best);
bool search_same(const struct search_state *one, const struct search_state *other);

#endif
