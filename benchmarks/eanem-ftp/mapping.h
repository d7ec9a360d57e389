/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithm 2 of the EANeM paper: which cores receive packets, at which frequency? */
#ifndef EANEM_MAPPING_H
#define EANEM_MAPPING_H

#include <stdbool.h>

#include "model.h"

struct mapping {
	/* Which cluster, and how many of its cores. */
	int cluster;
	unsigned int cores;
	struct model_opp opp;
	/* Of both clusters, by the model. */
	double watts;
};

/*
 * The one that needs the least power. room: the part of the cores' time that may be used, so that
 * bursts have some left. False if no mapping suffices: then it is all big cores at their fastest,
 * or all little ones if no big core is online.
 */
bool mapping_choose(const struct model *model, double packets_s, double room,
		    struct mapping *mapping);

/*
 * Whether a mapping stays although another one is better: it still suffices for so many packets,
 * and the other one saves less than this part of the power.
 */
bool mapping_stays(const struct model *model, const struct mapping *now,
		   const struct mapping *better, double packets_s, double saves);

#endif
