// SPDX-License-Identifier: BSD-3-Clause
#include "rating.h"

/*
 * An application whose goal allows so many times the beats of a rating is rated without them. It is
 * not half as fast as its goal then.
 */
#define LATE 2

void rating_count_anew(struct second_known *known, const struct second_app *app, uint64_t now_ns)
{
	known->app = *app;
	known->began_ns = now_ns;
	known->has_restarted = false;
}

void rating_forget(struct second_known *known)
{
	known->is_rated = false;
	known->fast = 0;
}

static uint64_t beats_of(const struct second_known *known, const struct second_app *app)
{
	return app->beats - known->app.beats;
}

/*
 * Whether an application can be rated: it has sent enough beats, or it has had so much time for
 * them that it is too slow, to a beat more or less.
 */
static bool can_be_rated(const struct second *second, const struct second_known *known,
			 const struct second_app *app, uint64_t now_ns)
{
	double seconds = (double)(now_ns - known->began_ns) / 1e9;

	if (now_ns == known->began_ns)
		return false;
	return app->least <= 0 || beats_of(known, app) >= second->options.beats ||
	       seconds * app->least >= LATE * (double)second->options.beats;
}

/* One that beats rarely does not keep the others from being rated for ever. */
static bool is_time(const struct second *second, const struct second_app *apps, uint64_t now_ns)
{
	if (second->intervals >= second->options.longest)
		return true;
	for (int i = 0; i < second->count; i++) {
		const struct second_known *known = &second->apps[i];

		if (known->app.least > 0 && !known->is_new &&
		    !can_be_rated(second, known, &apps[i], now_ns))
			return false;
	}
	return true;
}

/*
 * The beats may be one more or one less than the rate has: neither verdict goes by that one.
 * Returns whether there is a verdict.
 */
static bool rate_app(struct second_known *known, const struct second_app *app, uint64_t now_ns,
		     struct rating *found)
{
	double seconds = (double)(now_ns - known->began_ns) / 1e9;
	uint64_t beats = beats_of(known, app);

	known->rate = (double)beats / seconds;
	known->is_rated = true;
	known->fast = ((double)beats - 1) / seconds > app->most ? known->fast + 1 : 0;
	if (app->least <= 0 || !beats)
		return false;
	if ((double)(beats + 1) / seconds < app->least)
		found->slow[found->slow_count++] = app->id;
	return true;
}

bool rating_take(struct second *second, const struct second_app *apps, uint64_t now_ns,
		 struct rating *found)
{
	bool any = false;

	*found = (struct rating){0};
	if (!is_time(second, apps, now_ns))
		return false;
	for (int i = 0; i < second->count; i++) {
		struct second_known *known = &second->apps[i];

		known->is_new = false;
		if (!can_be_rated(second, known, &apps[i], now_ns))
			continue;
		any |= rate_app(known, &apps[i], now_ns, found);
		rating_count_anew(known, &apps[i], now_ns);
	}
	second->intervals = 0;
	return any;
}

int rating_apps(const struct second *second, struct search_app *rated)
{
	int count = 0;

	for (int i = 0; i < second->count; i++) {
		const struct second_known *known = &second->apps[i];

		if (known->is_rated && known->app.least > 0 && known->rate > 0)
			rated[count++] = (struct search_app){
				known->rate, (known->app.least + known->app.most) / 2};
	}
	return count;
}

bool rating_are_fast(const struct second *second)
{
	for (int i = 0; i < second->count; i++) {
		const struct second_known *known = &second->apps[i];
		bool counts = known->app.least > 0 && (!known->is_rated || known->rate > 0);

		if (counts && known->fast < second->options.patience)
			return false;
	}
	return true;
}
