// SPDX-License-Identifier: BSD-3-Clause
#include "second.h"

#include <math.h>
#include <string.h>

static struct search search_of(const struct second *second, const struct model *model)
{
	struct search search = {.model = model,
				.net = second->net,
				.reach = second->options.reach,
				.slow = second->slow,
				.slow_count = second->slow_count};

	for (int i = 0; i < second->count; i++)
		search.threads += second->apps[i].threads;
	if (!search.threads)
		search.threads = 1;
	return search;
}

double second_watts(const struct second *second, const struct model *model)
{
	struct search search = search_of(second, model);

	return search_watts(&search, &second->state);
}

static const struct second_app *find(const struct second_app *apps, int count, uint64_t id)
{
	for (int i = 0; i < count; i++)
		if (apps[i].id == id)
			return &apps[i];
	return NULL;
}

/* Rates are counted from the end of the interval in which something has changed. */
static void begin_again(struct second *second)
{
	second->settling = true;
	second->fast = 0;
	second->rest = 0;
}

static void forget_slow(struct second *second)
{
	second->slow_count = 0;
	begin_again(second);
}

static void remember_slow(struct second *second)
{
	for (int i = 0; i < second->slow_count; i++)
		if (search_same(&second->slow[i], &second->state))
			return;
	if (second->slow_count == SECOND_SLOW) {
		memmove(second->slow, second->slow + 1,
			sizeof(second->slow) - sizeof(*second->slow));
		second->slow_count--;
	}
	second->slow[second->slow_count++] = second->state;
}

/* Who has come or gone, and what else is gone for. The beats of those that stay are kept. */
static const char *take_apps(struct second *second, const struct second_app *apps, int count)
{
	const char *why = NULL;

	for (int i = 0; i < second->count; i++)
		if (!find(apps, count, second->apps[i].id))
			why = "application went";
	for (int i = 0; i < count; i++) {
		const struct second_app *known = find(second->apps, second->count, apps[i].id);

		if (!known)
			why = "application came";
		else if (known->least != apps[i].least || known->most != apps[i].most ||
			 known->threads != apps[i].threads)
			forget_slow(second);
	}
	if (why)
		forget_slow(second);
	if (!why && !second->settling) {
		for (int i = 0; i < count; i++)
			second->apps[i].threads = apps[i].threads;
		return NULL;
	}
	second->count = count;
	for (int i = 0; i < count; i++) {
		second->apps[i] = apps[i];
		if (why)
			second->rates[i] = -1;
	}
	return why;
}

static void set_state(struct second *second, const struct search *search,
		      const struct search_state *state)
{
	second->state = *state;
	second->net_cores = search_net_cores(search, state);
	begin_again(second);
}

/* Packets come first: what they have taken is not the applications' any more. */
static const char *take_net(struct second *second, const struct model *model,
			    const struct search_net *net)
{
	struct search_state state = second->state, begin;
	struct search search;

	if (net->is_there != second->net.is_there ||
	    (net->is_there && (net->cluster != second->net.cluster || net->opp != second->net.opp)))
		forget_slow(second);
	second->net = *net;
	search = search_of(second, model);
	if (search_fits(&search, &state) && search_net_cores(&search, &state) == second->net_cores)
		return NULL;
	search_begin(&search, &begin);
	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		if (state.opp[i] < begin.opp[i])
			state.opp[i] = begin.opp[i];
		if (state.cores[i] > begin.cores[i])
			state.cores[i] = begin.cores[i];
	}
	if (!state.cores[MODEL_LITTLE] && !state.cores[MODEL_BIG])
		memcpy(state.cores, begin.cores, sizeof(state.cores));
	set_state(second, &search, &state);
	return "network";
}

/* The rates, if it is time for them. Applications without a goal or a beat are left out. */
static int rate(struct second *second, const struct second_app *apps, uint64_t now_ns,
		struct search_app *rated, bool *slow, bool *fast)
{
	double seconds = (double)(now_ns - second->began_ns) / 1e9;
	int count = 0;

	*slow = false;
	*fast = true;
	for (int i = 0; i < second->count; i++)
		if (second->apps[i].least > 0 &&
		    apps[i].beats - second->apps[i].beats < second->options.beats &&
		    second->intervals < second->options.longest)
			return 0;
	for (int i = 0; i < second->count; i++) {
		const struct second_app *app = &second->apps[i];

		second->rates[i] = (double)(apps[i].beats - app->beats) / seconds;
		if (app->least <= 0 || second->rates[i] <= 0)
			continue;
		*slow |= second->rates[i] < app->least;
		*fast &= second->rates[i] > app->most;
		rated[count++] =
			(struct search_app){second->rates[i], (app->least + app->most) / 2};
	}
	memcpy(second->apps, apps, (size_t)second->count * sizeof(*apps));
	second->began_ns = now_ns;
	second->intervals = 0;
	return count;
}

static const char *mend(struct second *second, const struct model *model,
			const struct search_app *rated, int count)
{
	struct search_state best;
	struct search search;
	bool enough;

	remember_slow(second);
	search = search_of(second, model);
	enough = search_best(&search, &second->state, rated, count, &best);
	if (search_same(&best, &second->state)) {
		second->rest = second->options.rest;
		return NULL;
	}
	set_state(second, &search, &best);
	return enough ? "too slow" : "nothing suffices";
}

static const char *save(struct second *second, const struct model *model,
			const struct search_app *rated, int count)
{
	struct search search = search_of(second, model);
	struct search_state best;

	if (!search_best(&search, &second->state, rated, count, &best) ||
	    search_watts(&search, &best) >
		    (1 - second->options.saves) * search_watts(&search, &second->state)) {
		second->rest = second->options.rest;
		return NULL;
	}
	set_state(second, &search, &best);
	return "less power";
}

static const char *look(struct second *second, const struct model *model,
			const struct second_app *apps, uint64_t now_ns)
{
	struct search_app rated[SECOND_APPS];
	bool slow, fast;
	int count;

	if (second->settling) {
		memcpy(second->apps, apps, (size_t)second->count * sizeof(*apps));
		second->began_ns = now_ns;
		second->intervals = 0;
		second->settling = false;
		return NULL;
	}
	second->intervals++;
	if (second->rest)
		second->rest--;
	count = rate(second, apps, now_ns, rated, &slow, &fast);
	if (!count)
		return NULL;
	second->fast = fast ? second->fast + 1 : 0;
	if (second->rest)
		return NULL;
	if (slow)
		return mend(second, model, rated, count);
	return second->fast >= second->options.patience ? save(second, model, rated, count) : NULL;
}

const char *second_step(struct second *second, const struct model *model,
			const struct search_net *net, const struct second_app *apps, int count,
			uint64_t now_ns)
{
	struct search search;
	struct search_state begin;
	const char *why, *moved;

	if (count <= 0) {
		why = second->manages ? "application went" : NULL;
		*second = (struct second){.options = second->options};
		return why;
	}
	why = take_apps(second, apps, count);
	if (!second->manages) {
		second->net = *net;
		search = search_of(second, model);
		search_begin(&search, &begin);
		set_state(second, &search, &begin);
		second->manages = true;
		return why;
	}
	moved = take_net(second, model, net);
	if (moved || why)
		return why ? why : moved;
	return look(second, model, apps, now_ns);
}
