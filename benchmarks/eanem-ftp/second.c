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

/* What a rating found: of each application that was rated, and of those that were too slow. */
struct verdict {
	struct search_app rated[SECOND_APPS];
	uint64_t slow[SECOND_APPS];
	int count, slow_count;
	/* All of them are too fast. */
	bool fast;
};

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
	second->fast = 0;
	second->rest = 0;
}

static void count_anew(struct second_known *known, const struct second_app *app, uint64_t now_ns)
{
	known->app = *app;
	known->began_ns = now_ns;
	known->is_new = known->has_restarted = false;
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

static void remember_slow(struct second *second, const struct verdict *verdict)
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
			now[i] = (struct second_known){apps[i], now_ns, -1, true, false};
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
			count_anew(&now[i], &apps[i], now_ns);
			now[i].is_new = known->is_new;
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

static uint64_t beats_of(const struct second_known *known, const struct second_app *app)
{
	return app->beats - known->app.beats;
}

static bool is_time(const struct second *second, const struct second_app *apps)
{
	if (second->intervals >= second->options.longest)
		return true;
	for (int i = 0; i < second->count; i++) {
		const struct second_known *known = &second->apps[i];

		if (known->app.least > 0 && !known->is_new &&
		    beats_of(known, &apps[i]) < second->options.beats)
			return false;
	}
	return true;
}

static void rate_app(const struct second *second, struct second_known *known,
		     const struct second_app *app, uint64_t now_ns, struct verdict *verdict)
{
	uint64_t beats = beats_of(known, app);
	bool is_short = (known->is_new || known->has_restarted) && beats < second->options.beats;
	double seconds;

	/* It is not known to be fast enough. */
	if (is_short && app->least > 0)
		verdict->fast = false;
	if (is_short)
		return;
	seconds = (double)(now_ns - known->began_ns) / 1e9;
	known->rate = (double)beats / seconds;
	if (app->least <= 0 || known->rate <= 0)
		return;
	/* The next beat may be almost there. */
	if ((double)(beats + 1) / seconds < app->least)
		verdict->slow[verdict->slow_count++] = app->id;
	verdict->fast &= known->rate > app->most;
	verdict->rated[verdict->count++] =
		(struct search_app){known->rate, (app->least + app->most) / 2};
}

/* The rates, if it is time for them. Applications without a goal or a beat are left out. */
static bool rate(struct second *second, const struct second_app *apps, uint64_t now_ns,
		 struct verdict *verdict)
{
	*verdict = (struct verdict){.fast = true};
	if (!is_time(second, apps))
		return false;
	for (int i = 0; i < second->count; i++) {
		rate_app(second, &second->apps[i], &apps[i], now_ns, verdict);
		count_anew(&second->apps[i], &apps[i], now_ns);
	}
	second->intervals = 0;
	return verdict->count > 0;
}

static const char *mend(struct second *second, const struct model *model,
			const struct verdict *verdict)
{
	struct search_state best;
	struct search search;
	bool enough;

	remember_slow(second, verdict);
	search = search_of(second, model);
	enough = search_best(&search, &second->state, verdict->rated, verdict->count, &best);
	if (search_same(&best, &second->state)) {
		second->rest = second->options.rest;
		return NULL;
	}
	set_state(second, &search, &best);
	return enough ? "too slow" : "nothing suffices";
}

static const char *save(struct second *second, const struct model *model,
			const struct verdict *verdict)
{
	struct search search = search_of(second, model);
	struct search_state best;

	if (!search_best(&search, &second->state, verdict->rated, verdict->count, &best) ||
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
	struct verdict verdict;

	if (second->settling) {
		/* A limit that others have set may keep a clock from ever being in force. */
		if (!in_force && ++second->intervals < second->options.longest)
			return NULL;
		for (int i = 0; i < second->count; i++)
			count_anew(&second->apps[i], &apps[i], now_ns);
		second->intervals = 0;
		second->settling = false;
		return NULL;
	}
	second->intervals++;
	if (second->rest)
		second->rest--;
	if (!rate(second, apps, now_ns, &verdict))
		return NULL;
	second->fast = verdict.fast ? second->fast + 1 : 0;
	if (second->rest)
		return NULL;
	if (verdict.slow_count)
		return mend(second, model, &verdict);
	return second->fast >= second->options.patience ? save(second, model, &verdict) : NULL;
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
