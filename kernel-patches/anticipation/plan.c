// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU's plan: the windows in which it has to be ready, and how deep it may
 * sleep before and inside. Nothing here reads a clock or takes a lock.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "plan.h"

/**
 * lull_plan_add - put a window into a plan
 * @plan: the plan
 * @window: a window that is in none; stays the caller's
 *
 * Return: 0, or -ENOSPC if the plan is full.
 */
int lull_plan_add(struct lull_plan *plan, struct lull_window *window)
{
	unsigned int at = plan->count;

	if (plan->count >= LULL_PLAN_MOST)
		return -ENOSPC;

	for (; at && plan->windows[at - 1]->start > window->start; at--)
		plan->windows[at] = plan->windows[at - 1];
	plan->windows[at] = window;
	plan->count++;
	return 0;
}

/**
 * lull_plan_remove - take a window out of a plan
 * @plan: the plan
 * @window: the window
 *
 * Return: whether it was there.
 */
bool lull_plan_remove(struct lull_plan *plan, const struct lull_window *window)
{
	unsigned int at;

	for (at = 0; at < plan->count; at++) {
		if (plan->windows[at] != window)
			continue;
		plan->count--;
		memmove(&plan->windows[at], &plan->windows[at + 1],
			(plan->count - at) * sizeof(plan->windows[0]));
		return true;
	}

	return false;
}

/**
 * lull_plan_over - a window that has passed
 * @plan: the plan
 * @now: ns
 *
 * Return: one of those whose end is not after @now, or NULL.
 */
struct lull_window *lull_plan_over(const struct lull_plan *plan, u64 now)
{
	unsigned int at;

	for (at = 0; at < plan->count && plan->windows[at]->start < now; at++)
		if (plan->windows[at]->end <= now)
			return plan->windows[at];

	return NULL;
}

/*
 * The least bound of the windows that hold @time, and when another bound holds:
 * windows that follow or overlap with the same bound or a higher one are one.
 * A plan is ordered by start, so one pass sees how far the run of windows goes.
 */
static u32 lull_plan_bound(const struct lull_plan *plan, u64 time, u64 *until)
{
	const struct lull_window *window;
	u32 bound = U32_MAX;
	u64 end = time;
	unsigned int at;

	for (at = 0; at < plan->count && plan->windows[at]->start <= time; at++)
		if (plan->windows[at]->end > time)
			bound = min(bound, plan->windows[at]->bound_ns);

	for (at = 0; at < plan->count; at++) {
		window = plan->windows[at];
		if (window->start > time && window->start > end)
			break;
		if (window->end <= time)
			continue;
		if (window->start > time && window->bound_ns < bound) {
			end = window->start;
			break;
		}
		if (window->bound_ns == bound)
			end = max(end, window->end);
	}

	*until = end;
	return bound;
}

/**
 * lull_plan_look - what a plan says of a moment
 * @plan: a plan without windows that are over
 * @now: the moment, ns
 * @outlook: is filled in
 */
void lull_plan_look(const struct lull_plan *plan, u64 now, struct lull_outlook *outlook)
{
	unsigned int at;

	*outlook = (struct lull_outlook){
		.bound_ns = U32_MAX,
		.until = U64_MAX,
		.next_bound_ns = U32_MAX,
		.next_until = U64_MAX,
	};

	if (plan->count && plan->windows[0]->start <= now) {
		outlook->inside = true;
		outlook->bound_ns = lull_plan_bound(plan, now, &outlook->until);
		return;
	}

	for (at = 0; at < plan->count; at++) {
		if (plan->windows[at]->start <= now)
			continue;
		outlook->until = plan->windows[at]->start;
		outlook->next_bound_ns =
			lull_plan_bound(plan, outlook->until, &outlook->next_until);
		return;
	}
}

/**
 * lull_plan_choose - the deepest state that fits
 * @states: the CPU's states, lightest first
 * @count: how many
 * @bound_ns: the longest exit latency that is allowed
 * @timer_ns: until the next timer, which wakes the CPU late by the exit latency
 * @free_ns: until the CPU has to be ready, which is not late: it is woken before
 *
 * Return: its index; 0 if none fits, as the first state always does.
 */
int lull_plan_choose(const struct lull_plan_state *states, int count, u64 bound_ns, u64 timer_ns,
		     u64 free_ns)
{
	int i;

	for (i = count - 1; i > 0; i--) {
		const struct lull_plan_state *state = &states[i];

		if (state->usable && state->exit_ns <= bound_ns &&
		    state->residency_ns <= timer_ns && state->exit_ns <= free_ns &&
		    state->residency_ns <= free_ns - state->exit_ns)
			return i;
	}

	return 0;
}

/**
 * lull_learn - remember how long it took to leave a state
 * @learned: what is known of the state
 * @ns: from when the timer was due until the CPU was in its handler
 */
void lull_learn(struct lull_learned *learned, u64 ns)
{
	WRITE_ONCE(learned->ns[learned->count % LULL_LEARN_SAMPLES], min_t(u64, ns, U32_MAX));
	/* Only whether it is small, and the place in the ring, matter. */
	if (++learned->count == 2 * LULL_LEARN_SAMPLES)
		learned->count = LULL_LEARN_SAMPLES;
}

/**
 * lull_learned_ns - how long it takes to leave a state
 * @learned: what is known of the state
 * @advertised_ns: what is promised, for as long as too little is known
 *
 * The second longest of the last times: an outlier among them does not count,
 * and all others were not longer.
 */
u64 lull_learned_ns(const struct lull_learned *learned, u64 advertised_ns)
{
	unsigned int i, known = min_t(unsigned int, learned->count, LULL_LEARN_SAMPLES);
	u32 first = 0, second = 0;

	if (known < LULL_LEARN_LEAST)
		return advertised_ns;

	for (i = 0; i < known; i++) {
		u32 ns = READ_ONCE(learned->ns[i]);

		if (ns >= first) {
			second = first;
			first = ns;
		} else if (ns > second) {
			second = ns;
		}
	}

	return second;
}
