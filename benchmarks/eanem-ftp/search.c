// SPDX-License-Identifier: BSD-3-Clause
#include "search.h"

#include <math.h>
#include <stdlib.h>

static double ghz_of(const struct model_cluster *cluster, int opp)
{
	return cluster->opps[opp].mhz / 1e3;
}

int search_opp(const struct model_cluster *cluster, unsigned int mhz)
{
	for (int i = 0; i < cluster->opp_count; i++)
		if (cluster->opps[i].mhz == mhz)
			return i;
	return -1;
}

/* CPUs that are busy with packets in a state. */
static double net_load(const struct search *search, const struct search_state *state)
{
	const struct search_net *net = &search->net;
	const struct model_cluster *cluster = &search->model->clusters[net->cluster];
	const struct model_opp *opp = &cluster->opps[state->opp[net->cluster]];

	return fmin(model_load(cluster, opp, net->packets_s), net->room * net->cores);
}

unsigned int search_net_cores(const struct search *search, const struct search_state *state)
{
	double cores;

	if (!search->net.is_there)
		return 0;
	cores = ceil(net_load(search, state) / search->net.room - 1e-9);
	return cores > 1 ? (unsigned int)cores : 1;
}

bool search_fits(const struct search *search, const struct search_state *state)
{
	const struct search_net *net = &search->net;
	bool any = false;

	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		const struct model_cluster *cluster = &search->model->clusters[i];
		bool has_net = net->is_there && net->cluster == i;
		unsigned int taken = has_net ? search_net_cores(search, state) : 0;

		if (state->opp[i] < (has_net ? net->opp : 0) ||
		    state->opp[i] >= cluster->opp_count || taken > cluster->cpus ||
		    state->cores[i] > cluster->cpus - taken)
			return false;
		any |= state->cores[i] > 0;
	}
	return any;
}

/* How many of a cluster's cores have a thread, where the faster cores have theirs first. */
static void busy_cores(const struct search *search, const struct search_state *state,
		       unsigned int busy[MODEL_CLUSTERS])
{
	const struct model_cluster *clusters = search->model->clusters;
	double little = clusters[MODEL_LITTLE].speed *
			ghz_of(&clusters[MODEL_LITTLE], state->opp[MODEL_LITTLE]);
	double big =
		clusters[MODEL_BIG].speed * ghz_of(&clusters[MODEL_BIG], state->opp[MODEL_BIG]);
	int first = big >= little ? MODEL_BIG : MODEL_LITTLE;
	unsigned int left = search->threads;

	busy[first] = state->cores[first] < left ? state->cores[first] : left;
	left -= busy[first];
	busy[!first] = state->cores[!first] < left ? state->cores[!first] : left;
}

double search_speed(const struct search *search, const struct search_state *state)
{
	unsigned int busy[MODEL_CLUSTERS];
	double sum = 0;

	busy_cores(search, state, busy);
	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		const struct model_cluster *cluster = &search->model->clusters[i];

		sum += busy[i] * cluster->speed * ghz_of(cluster, state->opp[i]);
	}
	return sum;
}

double search_watts(const struct search *search, const struct search_state *state)
{
	const struct search_net *net = &search->net;
	unsigned int busy[MODEL_CLUSTERS];
	double sum = 0;

	busy_cores(search, state, busy);
	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		const struct model_cluster *cluster = &search->model->clusters[i];
		double load = busy[i];

		if (net->is_there && net->cluster == i)
			load += net_load(search, state);
		sum += model_power(cluster, &cluster->opps[state->opp[i]], load);
	}
	return sum;
}

double search_reached(const struct search *search, const struct search_state *now,
		      const struct search_state *state, const struct search_app *apps, int count)
{
	double faster = search_speed(search, state) / search_speed(search, now), least = INFINITY;

	for (int i = 0; i < count; i++)
		least = fmin(least, apps[i].rate * faster / apps[i].aim);
	return least;
}

void search_begin(const struct search *search, struct search_state *state)
{
	const struct search_net *net = &search->net;

	*state = (struct search_state){0};
	if (net->is_there)
		state->opp[net->cluster] = net->opp;
	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		unsigned int cpus = search->model->clusters[i].cpus;
		unsigned int taken =
			net->is_there && net->cluster == i ? search_net_cores(search, state) : 0;

		state->cores[i] = taken < cpus ? cpus - taken : 0;
	}
}

bool search_same(const struct search_state *one, const struct search_state *other)
{
	for (int i = 0; i < MODEL_CLUSTERS; i++)
		if (one->cores[i] != other->cores[i] || one->opp[i] != other->opp[i])
			return false;
	return true;
}

/* What is not faster than a state that was too slow need not be tried again. */
static bool was_slow(const struct search *search, const struct search_state *state)
{
	for (int i = 0; i < search->slow_count; i++) {
		const struct search_state *slow = &search->slow[i];
		bool more = false;

		for (int k = 0; k < MODEL_CLUSTERS; k++)
			more |= state->cores[k] > slow->cores[k] ||
				(state->cores[k] && state->opp[k] > slow->opp[k]);
		if (!more)
			return true;
	}
	return false;
}

struct found {
	struct search_state state;
	double watts, reached;
	bool enough, any;
};

/* Enough for less power; or as long as nothing is enough, more than now. */
static void consider(const struct search *search, const struct search_state *now,
		     const struct search_state *state, const struct search_app *apps, int count,
		     struct found *found)
{
	double reached, watts;
	bool enough;

	if (!search_fits(search, state) || was_slow(search, state))
		return;
	reached = search_reached(search, now, state, apps, count);
	enough = reached >= 1;
	watts = search_watts(search, state);
	if (enough ? found->enough && watts >= found->watts
		   : found->enough || reached < found->reached ||
			     (reached == found->reached && (!found->any || watts >= found->watts)))
		return;
	*found = (struct found){*state, watts, reached, enough, true};
}

/* Operating points so many steps away, as far as there are some; none if steps are negative. */
static int below(int opp, int steps)
{
	return opp > steps ? opp - steps : 0;
}

static int above(int opp, int steps, const struct model_cluster *cluster)
{
	if (steps < 0)
		return -1;
	return opp + steps < cluster->opp_count ? opp + steps : cluster->opp_count - 1;
}

bool search_best(const struct search *search, const struct search_state *now,
		 const struct search_app *apps, int count, struct search_state *best)
{
	const struct model_cluster *little = &search->model->clusters[MODEL_LITTLE];
	const struct model_cluster *big = &search->model->clusters[MODEL_BIG];
	struct found found = {.state = *now,
			      .reached = search_reached(search, now, now, apps, count)};
	struct search_state state;

	for (unsigned int i = 0; i <= little->cpus; i++) {
		for (unsigned int k = 0; k <= big->cpus; k++) {
			int left = search->reach - abs((int)i - (int)now->cores[MODEL_LITTLE]) -
				   abs((int)k - (int)now->cores[MODEL_BIG]);
			int last = above(now->opp[MODEL_LITTLE], left, little);

			for (int m = below(now->opp[MODEL_LITTLE], left); m <= last; m++) {
				int rest = left - abs(m - now->opp[MODEL_LITTLE]);
				int end = above(now->opp[MODEL_BIG], rest, big);

				for (int n = below(now->opp[MODEL_BIG], rest); n <= end; n++) {
					state = (struct search_state){{i, k}, {m, n}};
					consider(search, now, &state, apps, count, &found);
				}
			}
		}
	}
	*best = found.state;
	return found.any && found.enough;
}
