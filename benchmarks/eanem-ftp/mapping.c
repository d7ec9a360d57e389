// SPDX-License-Identifier: BSD-3-Clause
#include "mapping.h"

#include <math.h>

/* The cluster that does the work, and the other one, which sleeps at its slowest. */
static double watts(const struct model *model, int cluster, const struct model_opp *opp,
		    double load)
{
	const struct model_cluster *other = &model->clusters[!cluster];

	return model_power(&model->clusters[cluster], opp, load) +
	       model_power(other, &other->opps[0], 0);
}

static void try_cluster(const struct model *model, int number, double packets_s, double room,
			struct mapping *best)
{
	const struct model_cluster *cluster = &model->clusters[number];

	for (unsigned int cores = 1; cores <= cluster->cpus; cores++) {
		const struct model_opp *opp = model_opp_for(cluster, packets_s, room * cores);
		double power = INFINITY;

		if (opp)
			power = watts(model, number, opp, model_load(cluster, opp, packets_s));
		if (power < best->watts)
			*best = (struct mapping){number, cores, *opp, power};
	}
}

bool mapping_choose(const struct model *model, double packets_s, double room,
		    struct mapping *mapping)
{
	int last = model->clusters[MODEL_BIG].cpus ? MODEL_BIG : MODEL_LITTLE;
	const struct model_cluster *cluster = &model->clusters[last];
	const struct model_opp *fastest = &cluster->opps[cluster->opp_count - 1];

	*mapping = (struct mapping){.watts = INFINITY};
	try_cluster(model, MODEL_BIG, packets_s, room, mapping);
	if (model_need(&model->clusters[MODEL_LITTLE], packets_s) <= model->limit)
		try_cluster(model, MODEL_LITTLE, packets_s, room, mapping);
	if (isfinite(mapping->watts))
		return true;
	*mapping = (struct mapping){last, cluster->cpus, *fastest,
				    watts(model, last, fastest, cluster->cpus)};
	return false;
}

bool mapping_stays(const struct model *model, const struct mapping *now,
		   const struct mapping *better, double packets_s, double saves)
{
	const struct model_cluster *cluster = &model->clusters[now->cluster];
	double load = model_load(cluster, &now->opp, packets_s);

	if (now->cluster == better->cluster && now->cores == better->cores &&
	    now->opp.mhz == better->opp.mhz)
		return true;
	if (load > now->cores ||
	    (now->cluster == MODEL_LITTLE && model_need(cluster, packets_s) > model->limit))
		return false;
	return watts(model, now->cluster, &now->opp, load) * (1 - saves) <= better->watts;
}
