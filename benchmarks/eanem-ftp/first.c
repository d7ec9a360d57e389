// SPDX-License-Identifier: BSD-3-Clause
#include "first.h"

#include <string.h>

static bool has_thread(const struct traffic *traffic, uint32_t thread)
{
	for (size_t i = 0; i < traffic->thread_count; i++)
		if (traffic->threads[i] == thread)
			return true;
	return false;
}

/* In any order: the process with the most traffic is another one each time. */
static bool same_threads(const struct traffic *one, const struct traffic *other)
{
	if (one->thread_count != other->thread_count)
		return false;
	for (size_t i = 0; i < one->thread_count; i++)
		if (!has_thread(other, one->threads[i]))
			return false;
	return true;
}

static bool same_place(const struct mapping *one, const struct mapping *other)
{
	return one->cluster == other->cluster && one->cores == other->cores &&
	       one->opp.mhz == other->opp.mhz;
}

/* How many intervals in a row, with this one. */
static bool lasts(const struct first *first, unsigned int *intervals, bool now)
{
	*intervals = now ? *intervals + 1 : 0;
	return *intervals >= first->options.patience;
}

/* Whether packets are to be steered at all; a pause is no end. */
static const char *look_for_traffic(struct first *first, bool is_there)
{
	bool rested = !first->has_ended || first->quiet >= FIRST_REST * first->options.patience;
	bool begins = lasts(first, &first->loud, is_there) || (is_there && rested);
	bool ends = lasts(first, &first->quiet, !is_there);

	if (!first->steers)
		return begins ? "traffic began" : NULL;
	return ends ? "traffic ended" : NULL;
}

static void take(struct first *first, const struct mapping *mapping, const struct traffic *traffic)
{
	*first = (struct first){.options = first->options,
				.interval = traffic->interval,
				.mapping = *mapping,
				.traffic = *traffic,
				.steers = true};
}

/* Too little is mended at once. All else has to last. */
static const char *look_at_mapping(struct first *first, const struct model *model,
				   const struct traffic *traffic, const struct mapping *best,
				   bool enough)
{
	double packets_s = traffic->packets_s;
	bool stays = mapping_stays(model, &first->mapping, best, packets_s, first->options.saves);
	bool better = enough && !stays, others;

	if (first->mapping.cores > model->clusters[first->mapping.cluster].cpus)
		return "fewer cores";
	if (!enough && !same_place(&first->mapping, best))
		return "nothing suffices";
	if (better && !mapping_stays(model, &first->mapping, best, packets_s, 1))
		return "too little";
	better = lasts(first, &first->better, better);
	others = lasts(first, &first->others, !same_threads(&first->traffic, traffic));
	return better ? "less power" : others ? "other threads" : NULL;
}

const char *first_step(struct first *first, const struct model *model,
		       const struct traffic *traffic)
{
	bool is_there = traffic->packets_s > 0, enough;
	struct mapping best;
	const char *why;

	if (traffic->interval && traffic->interval == first->interval)
		return NULL;
	first->interval = traffic->interval;
	why = look_for_traffic(first, is_there);
	if (why && first->steers) {
		*first = (struct first){.options = first->options,
					.has_ended = true,
					.interval = traffic->interval};
		return why;
	}
	if (!is_there || (!why && !first->steers))
		return NULL;
	enough = mapping_choose(model, traffic->packets_s, first->options.room, &best);
	if (!why)
		why = look_at_mapping(first, model, traffic, &best, enough);
	if (why && !strcmp(why, "other threads"))
		best = first->mapping;
	if (why)
		take(first, &best, traffic);
	return why;
}

void first_take_threads(struct first *first, const struct traffic *traffic)
{
	memcpy(first->traffic.threads, traffic->threads, sizeof(traffic->threads));
	first->traffic.thread_count = traffic->thread_count;
	first->traffic.left_out = traffic->left_out;
}
