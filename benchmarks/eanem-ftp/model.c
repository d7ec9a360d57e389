// SPDX-License-Identifier: BSD-3-Clause
#include "model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE 256

static struct model_cluster *find(struct model *model, const char *name)
{
	for (int i = 0; i < model->count; i++)
		if (!strcmp(model->clusters[i].name, name))
			return &model->clusters[i];
	return NULL;
}

static bool is_good(const struct model_cluster *cluster)
{
	bool has_cpus = cluster->cpus > 0 && cluster->first_cpu < MODEL_CPUS &&
			cluster->cpus <= MODEL_CPUS - cluster->first_cpu;

	return has_cpus && isfinite(cluster->alpha) && cluster->alpha > 0 &&
	       isfinite(cluster->beta) && isfinite(cluster->tau) && cluster->tau >= 0 &&
	       isfinite(cluster->lambda) && cluster->lambda >= 0 && isfinite(cluster->theta) &&
	       cluster->theta >= 0;
}

static bool add_cluster(struct model *model, const char *line)
{
	struct model_cluster new = {.speed = 1};
	int end = 0;

	if (sscanf(line, "cluster %15s %u %u %lf %lf %lf %lf %lf %n", new.name, &new.first_cpu,
		   &new.cpus, &new.alpha, &new.beta, &new.tau, &new.lambda, &new.theta,
		   &end) != 8 ||
	    line[end] || model->count == MODEL_CLUSTERS || find(model, new.name) || !is_good(&new))
		return false;
	new.all = ~0ULL >> (MODEL_CPUS - new.cpus) << new.first_cpu;
	new.online = new.all;
	model->clusters[model->count++] = new;
	return true;
}

/* From slow to fast, so that the first that suffices is the slowest. */
static bool add_opp(struct model *model, const char *line)
{
	struct model_cluster *cluster;
	struct model_opp new;
	char name[MODEL_NAME];
	int end = 0;

	if (sscanf(line, "opp %15s %u %u %n", name, &new.mhz, &new.mv, &end) != 3 || line[end] ||
	    !new.mhz || !new.mv)
		return false;
	cluster = find(model, name);
	if (!cluster || cluster->opp_count == MODEL_OPPS ||
	    (cluster->opp_count && cluster->opps[cluster->opp_count - 1].mhz >= new.mhz))
		return false;
	cluster->opps[cluster->opp_count++] = new;
	return true;
}

static bool set_speed(struct model *model, const char *line)
{
	struct model_cluster *cluster;
	char name[MODEL_NAME];
	double speed;
	int end = 0;

	if (sscanf(line, "speed %15s %lf %n", name, &speed, &end) != 2 || line[end] ||
	    !isfinite(speed) || speed <= 0)
		return false;
	cluster = find(model, name);
	if (cluster)
		cluster->speed = speed;
	return cluster;
}

static bool set_limit(struct model *model, const char *line)
{
	int end = 0;

	return sscanf(line, "limit %lf %n", &model->limit, &end) == 1 && !line[end] &&
	       isfinite(model->limit) && model->limit >= 0;
}

static bool take(struct model *model, const char *line)
{
	if (!strncmp(line, "cluster ", 8))
		return add_cluster(model, line);
	if (!strncmp(line, "opp ", 4))
		return add_opp(model, line);
	if (!strncmp(line, "speed ", 6))
		return set_speed(model, line);
	return !strncmp(line, "limit ", 6) && set_limit(model, line);
}

int model_read(FILE *file, struct model *model)
{
	char line[LINE];
	int number = 0;

	*model = (struct model){.limit = INFINITY};
	while (fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		if (line[strspn(line, " \t")] && !take(model, line))
			return number;
	}
	for (int i = 0; i < MODEL_CLUSTERS; i++)
		if (i >= model->count || !model->clusters[i].opp_count)
			return number + 1;
	return 0;
}

bool model_set_online(struct model *model, uint64_t online)
{
	bool changed = false;

	for (int i = 0; i < model->count; i++) {
		struct model_cluster *cluster = &model->clusters[i];
		uint64_t now = cluster->all & online;

		changed |= now != cluster->online;
		cluster->online = now;
		cluster->cpus = (unsigned int)__builtin_popcountll(now);
	}
	return changed;
}

uint64_t model_cpus(const struct model_cluster *cluster, unsigned int from, unsigned int count)
{
	uint64_t left = cluster->online, cpus = 0;

	for (unsigned int i = 0; left && i < from + count; i++, left &= left - 1)
		if (i >= from)
			cpus |= left & -left;
	return cpus;
}

double model_need(const struct model_cluster *cluster, double packets_s)
{
	double need = (packets_s - cluster->beta) / cluster->alpha;

	return need > 0 ? need : 0;
}

double model_load(const struct model_cluster *cluster, const struct model_opp *opp,
		  double packets_s)
{
	return model_need(cluster, packets_s) / (opp->mhz / 1e3) + cluster->tau / 1e6 * packets_s;
}

double model_power(const struct model_cluster *cluster, const struct model_opp *opp, double load)
{
	double volt = opp->mv / 1e3;

	return cluster->lambda * load * volt * volt * (opp->mhz / 1e3) + cluster->theta * volt;
}

const struct model_opp *model_opp_for(const struct model_cluster *cluster, double packets_s,
				      double cpus)
{
	for (int i = 0; i < cluster->opp_count; i++)
		if (model_load(cluster, &cluster->opps[i], packets_s) <= cpus)
			return &cluster->opps[i];
	return NULL;
}
