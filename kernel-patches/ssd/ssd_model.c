// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a drive has done a request. A request takes the channel that is free
 * first, and then the link for its bytes; both are taken by one request after
 * the other. A flush waits for all channels and the link.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "ssd_model.h"

/* splitmix64, as for the gaps of events. */
static u64 lull_ssd_random(u64 *state)
{
	u64 mixed = (*state += 0x9e3779b97f4a7c15ULL);

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return mixed ^ (mixed >> 31);
}

/* A time from 1 - jitter to 1 + jitter times the average, all as likely. */
static u64 lull_ssd_spread(u64 ns, u32 permille, u64 *random)
{
	u64 reach = ns * permille / 1000;

	return ns - reach + mul_u64_u64_shr(lull_ssd_random(random), 2 * reach + 1, 64);
}

/**
 * lull_ssd_valid - whether the numbers are those of a drive
 * @model: the numbers
 *
 * Return: as the platform's schema has it.
 */
bool lull_ssd_valid(const struct lull_ssd_model *model)
{
	return model->channels >= 1 && model->channels <= LULL_SSD_CHANNELS &&
	       model->depth >= 1 && model->depth <= LULL_SSD_DEPTH &&
	       model->jitter_permille <= 1000;
}

/**
 * lull_ssd_done - when a request is done
 * @model: the drive
 * @state: what the drive is busy with, which grows by this request
 * @operation: what is asked for
 * @bytes: how many; 0 for a flush
 * @now: when it comes, ns, not before the request before it
 *
 * Return: the time, ns, not before @now.
 */
u64 lull_ssd_done(const struct lull_ssd_model *model, struct lull_ssd_state *state,
		  enum lull_ssd_operation operation, u32 bytes, u64 now)
{
	u64 *free = &state->channels[0];
	u64 all = max(now, state->link);
	unsigned int i;

	for (i = 0; i < model->channels; i++) {
		if (state->channels[i] < *free)
			free = &state->channels[i];
		all = max(all, state->channels[i]);
	}

	if (operation == LULL_SSD_FLUSH) {
		*free = all + model->flush_ns;
		return *free;
	}

	*free = max(*free, now) +
		lull_ssd_spread(model->ns[operation], model->jitter_permille, &state->random);
	state->link = max(*free, state->link) + (u64)bytes * model->ns_per_kib[operation] / 1024;
	return state->link;
}
