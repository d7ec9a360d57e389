// SPDX-License-Identifier: BSD-3-Clause
#include "second.h"

#include <string.h>

#include "rating.h"

static struct search search_of(const struct second *second, const struct model *model)
{
	struct search search = {.model = model,
				.net = second->net,
				.reach = second->options.reach,
				.slow = second->slow,
				.slow_count = second->slow_count};

	for (int i = 0; i < second->count; i++)
		search.threads += second->apps[i].app.threads;
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

static const struct second_known *find_known(const struct second *second, uint64_t id)
{
	for (int i = 0; i < second->count; i++)
		if (second->apps[i].app.id == id)
			return &second->apps[i];
	return NULL;
}

/* Rates are counted from the end of the interval in which the change is in force. */
static void begin_again(struct second *second)
{
	second->settling = true;
	second->intervals = 0;
	second->rest = 0;
}

static void forget_slow(struct second *second)
{
	second->slow_count = 0;
	second->rest = 0;
}

static void drop_slow(struct second *second, int number)
{
	size_t rest = (size_t)(--second->slow_count - number);

	memmove(&second->slow[number], &second->slow[number + 1], rest * sizeof(second->slow[0]));
	memmove(&second->slow_for[number], &second->slow_for[number + 1],
		rest * sizeof(second->slow_for[0]));
}

/* What was too slow for this application alone may be tried again. */
static void forget_slow_for(struct second *second, uint64_t id)
{
	second->rest = 0;
	for (int i = second->slow_count - 1; i >= 0; i--) {
		bool for_others = false;

		for (int k = 0; k < SECOND_APPS; k++) {
			if (second->slow_for[i][k] == id)
				second->slow_for[i][k] = 0;
			for_others |= second->slow_for[i][k] != 0;
		}
		if (!for_others)
			drop_slow(second, i);
	}
}

static void remember_slow(struct second *second, const struct rating *verdict)
{
	int i = 0;

	while (i < second->slow_count && !search_same(&second->slow[i], &second->state))
		i++;
	if (i == SECOND_SLOW) {
		drop_slow(second, 0);
		i--;
	}
	if (i == second->slow_count)
		second->slow_count++;
	second->slow[i] = second->state;
	memset(second->slow_for[i], 0, sizeof(second->slow_for[i]));
	memcpy(second->slow_for[i], verdict->slow, (size_t)verdict->slow_count * sizeof(uint64_t));
}

static bool has_gone(struct second *second, const struct second_app *apps, int count)
{
	bool gone = false;

	for (int i = 0; i < second->count; i++) {
		if (find(apps, count, second->apps[i].app.id))
			continue;
		gone = true;
		/* What was never rated has slowed nobody down. */
		if (!second->apps[i].is_new)
			forget_slow(second);
	}
	return gone;
}

/* Who has come or gone, and what else is gone for. All that stay are counted on. */
static const char *take_apps(struct second *second, const struct second_app *apps, int count,
			     uint64_t now_ns)
{
	const char *why = has_gone(second, apps, count) ? "application went" : NULL;
	struct second_known now[SECOND_APPS];

	for (int i = 0; i < count; i++) {
		const struct second_known *known = find_known(second, apps[i].id);
		bool other_goal, other_threads;

		if (!known) {
			why = "application came";
			now[i] = (struct second_known){
				.app = apps[i], .began_ns = now_ns, .rate = -1, .is_new = true};
			continue;
		}
		now[i] = *known;
		other_goal = known->app.least != apps[i].least || known->app.most != apps[i].most;
		other_threads = known->app.threads != apps[i].threads;
		if (other_goal || other_threads)
			forget_slow_for(second, apps[i].id);
		now[i].app = apps[i];
		now[i].app.beats = known->app.beats;
		if (other_threads && !known->has_restarted) {
			rating_count_anew(&now[i], &apps[i], now_ns);
			rating_forget(&now[i]);
			now[i].has_restarted = true;
		}
	}
	second->count = count;
	memcpy(second->apps, now, (size_t)count * sizeof(now[0]));
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
	bool fewer = false;

	if (net->is_there != second->net.is_there ||
	    (net->is_there &&
	     (net->cluster != second->net.cluster || net->opp != second->net.opp))) {
		forget_slow(second);
		begin_again(second);
	}
	second->net = *net;
	search = search_of(second, model);
	if (search_fits(&search, &state) && search_net_cores(&search, &state) == second->net_cores)
		return NULL;
	search_begin(&search, &begin);
	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		fewer |= state.cores[i] > model->clusters[i].cpus;
		if (state.opp[i] < begin.opp[i])
			state.opp[i] = begin.opp[i];
		if (state.cores[i] > begin.cores[i])
			state.cores[i] = begin.cores[i];
	}
	if (!state.cores[MODEL_LITTLE] && !state.cores[MODEL_BIG])
		memcpy(state.cores, begin.cores, sizeof(state.cores));
	/* Packets may leave no core at all, for as long as others are offline. */
	if (search_same(&state, &second->state) &&
	    search_net_cores(&search, &state) == second->net_cores)
		return NULL;
	set_state(second, &search, &state);
	return fewer ? "fewer cores" : "network";
}

static const char *mend(struct second *second, const struct model *model,
			const struct rating *verdict)
{
	struct search_app rated[SECOND_APPS];
	struct search_state best;
	struct search search;
	bool enough;

	remember_slow(second, verdict);
	search = search_of(second, model);
	enough = search_best(&search, &second->state, rated, rating_apps(second, rated), &best);
	if (search_same(&best, &second->state)) {
		second->rest = second->options.rest;
		return NULL;
	}
	set_state(second, &search, &best);
	return enough ? "too slow" : "nothing suffices";
}

static const char *save(struct second *second, const struct model *model)
{
	struct search search = search_of(second, model);
	struct search_app rated[SECOND_APPS];
	struct search_state best;

	if (!search_best(&search, &second->state, rated, rating_apps(second, rated), &best) ||
	    search_watts(&search, &best) >
		    (1 - second->options.saves) * search_watts(&search, &second->state)) {
		second->rest = second->options.rest;
		return NULL;
	}
	set_state(second, &search, &best);
	return "less power";
}

static const char *look(struct second *second, const struct model *model,
			const struct second_app *apps, bool in_force, uint64_t now_ns)
{
	struct rating verdict;

	if (second->settling) {
		/* A limit that others have set may keep a clock from ever being in force. */
		if (!in_force && ++second->intervals < second->options.longest)
			return NULL;
		for (int i = 0; i < second->count; i++) {
			rating_count_anew(&second->apps[i], &apps[i], now_ns);
			rating_forget(&second->apps[i]);
			second->apps[i].is_new = false;
		}
		second->intervals = 0;
		second->settling = false;
		return NULL;
	}
	second->intervals++;
	if (second->rest)
		second->rest--;
	if (!rating_take(second, apps, now_ns, &verdict))
		return NULL;
	if (second->rest)
		return NULL;
	if (verdict.slow_count)
		return mend(second, model, &verdict);
	return rating_are_fast(second) ? save(second, model) : NULL;
}

const char *second_step(struct second *second, const struct model *model,
			const struct search_net *net, const struct second_app *apps, int count,
			bool in_force, uint64_t now_ns)
{
	struct search search;
	struct search_state begin;
	const char *why, *moved;

	if (count <= 0) {
		why = second->manages ? "application went" : NULL;
		*second = (struct second){.options = second->options};
		return why;
	}
	why = take_apps(second, apps, count, now_ns);
	if (!second->manages) {
		second->net = *net;
		search = search_of(second, model);
		search_begin(&search, &begin);
		set_state(second, &search, &begin);
		second->manages = true;
		return why;
	}
	moved = take_net(second, model, net);
	if (moved)
		return why ? why : moved;
	/* Who comes and goes all the time does not keep the others from being looked at. */
	moved = look(second, model, apps, in_force, now_ns);
	return moved ? moved : why;
}
