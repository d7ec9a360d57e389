// SPDX-License-Identifier: GPL-2.0-only
/* What is remembered: how long the waits of an action were, and how long tasks were held. */
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "quiescence_memory.h"

/**
 * lull_memory_clear - nothing is known
 * @memory: the memory
 */
void lull_memory_clear(struct lull_memory *memory)
{
	memset(memory, 0, sizeof(*memory));
}

static struct lull_action *lull_memory_find(struct lull_memory *memory, u64 key)
{
	unsigned int i;

	for (i = 0; i < LULL_MEMORY_ACTIONS; i++)
		if (memory->actions[i].key == key)
			return &memory->actions[i];

	return NULL;
}

/* The place of the action in progress: its own, a free one, or that of the one done longest ago. */
static struct lull_action *lull_memory_place(struct lull_memory *memory)
{
	struct lull_action *action = lull_memory_find(memory, memory->now.key);
	unsigned int i;

	if (!action)
		action = lull_memory_find(memory, 0);
	if (!action) {
		action = &memory->actions[0];
		for (i = 1; i < LULL_MEMORY_ACTIONS; i++)
			if (memory->actions[i].used < action->used)
				action = &memory->actions[i];
	}
	if (action->key != memory->now.key)
		*action = (struct lull_action){ .key = memory->now.key };

	return action;
}

/* Half of what is remembered of an error is the last one. */
static u32 lull_memory_blend(u32 error_us, u32 last_us)
{
	return error_us == LULL_ERROR_UNKNOWN ? last_us : ((u64)error_us + last_us) / 2;
}

/* Half of what is remembered of a wait is the last time. */
static void lull_memory_keep(struct lull_memory *memory)
{
	struct lull_action *action = lull_memory_place(memory);
	u32 us, error_us;
	unsigned int i;

	for (i = 0; i < memory->now.count; i++) {
		us = memory->now.waits_us[i];
		if (i < action->count) {
			error_us = abs_diff(us, action->waits_us[i]);
			error_us = lull_memory_blend(action->errors_us[i], error_us);
			us = ((u64)us + action->waits_us[i]) / 2;
		} else {
			error_us = LULL_ERROR_UNKNOWN;
		}
		action->waits_us[i] = us;
		action->errors_us[i] = error_us;
	}
	action->count = memory->now.count;
	action->times++;
	action->used = memory->clock;
}

/**
 * lull_memory_input - the user has done something, for example released a key
 * @memory: the memory
 *
 * A wait that this has ended was one for the user, and no wait of the action.
 */
void lull_memory_input(struct lull_memory *memory)
{
	if (memory->user)
		memory->now.count--;
	memory->user = false;
}

/**
 * lull_memory_begin - an action begins, which ends the one before
 * @memory: the memory
 * @key: of the action, not 0
 */
void lull_memory_begin(struct lull_memory *memory, u64 key)
{
	memory->clock++;
	lull_memory_input(memory);
	if (memory->now.key)
		lull_memory_keep(memory);
	memory->now = (struct lull_action){ .key = key };
}

/* The action in progress as it was the last times, or NULL. */
static struct lull_action *lull_memory_known(struct lull_memory *memory)
{
	return memory->now.key ? lull_memory_find(memory, memory->now.key) : NULL;
}

/**
 * lull_memory_expect - a wait of the action begins
 * @memory: the memory
 *
 * Return: its length in µs the last times; 0 if the action had ended by then;
 * LULL_WAIT_UNKNOWN if the action was never done before.
 */
s64 lull_memory_expect(struct lull_memory *memory)
{
	const struct lull_action *action;

	memory->user = false;
	action = lull_memory_known(memory);
	if (!action)
		return LULL_WAIT_UNKNOWN;

	return memory->now.count < action->count ? action->waits_us[memory->now.count] : 0;
}

/**
 * lull_memory_error - by how much the expected length of this wait was wrong the last times
 * @memory: the memory, in which a wait has begun
 *
 * Return: in µs, on average; LULL_ERROR_UNKNOWN if it was there once at most.
 */
u32 lull_memory_error(struct lull_memory *memory)
{
	const struct lull_action *action = lull_memory_known(memory);

	return action && memory->now.count < action->count ? action->errors_us[memory->now.count] :
							     LULL_ERROR_UNKNOWN;
}

/**
 * lull_wait_is_sure - whether the end of a wait can be foreseen
 * @us: the expected length
 * @error_us: by how much it was wrong the last times
 *
 * Return: false if a CPU that is awake around the end would burn for too long, or in vain.
 */
bool lull_wait_is_sure(u64 us, u32 error_us)
{
	return error_us != LULL_ERROR_UNKNOWN && error_us <= us / LULL_WAIT_PART;
}

/**
 * lull_wait_foresee - when a CPU has to be awake for the end of a wait
 * @us: the expected length
 * @error_us: by how much it was wrong the last times
 * @exit_ns: the exit latency of the CPU, which the length may include: a path whose CPU slept
 * deeply woke so much later than what it waited for
 * @window: is filled in
 *
 * Return: whether there is time to sleep before.
 */
bool lull_wait_foresee(u64 us, u32 error_us, u64 exit_ns, struct lull_wait_window *window)
{
	u64 lead_ns = exit_ns + error_us * (u64)NSEC_PER_USEC + LULL_WAIT_MARGIN_NS;
	u64 ns = us * NSEC_PER_USEC;

	if (lead_ns >= ns)
		return false;
	window->start_ns = ns - lead_ns;
	window->end_ns = ns + lead_ns;
	return true;
}

/**
 * lull_memory_waited - a wait of the action has ended
 * @memory: the memory
 * @us: its length
 * @least_us: a shorter one does not count. Whether it is there may differ from time to time
 * @user: whether it may have been the user who has ended it
 */
void lull_memory_waited(struct lull_memory *memory, u64 us, unsigned int least_us, bool user)
{
	memory->user = false;
	if (!memory->now.key || us < least_us || memory->now.count == LULL_MEMORY_WAITS)
		return;
	memory->now.waits_us[memory->now.count++] = min_t(u64, us, U32_MAX);
	memory->user = user;
}

/**
 * lull_budget_left - for how long tasks may be held now
 * @budget: what was used so far
 * @now: the time, in ns
 * @bound_ns: the most
 *
 * Time that passes without a hold gives back as much. So tasks run at least half
 * of the time, however often they are held.
 *
 * Return: in ns.
 */
u64 lull_budget_left(struct lull_budget *budget, u64 now, u64 bound_ns)
{
	u64 passed = now - budget->since;

	budget->used_ns -= min(budget->used_ns, passed);
	budget->since = now;

	return bound_ns - min(bound_ns, budget->used_ns);
}

/**
 * lull_budget_spend - tasks have been held
 * @budget: what was used so far
 * @now: the time when the hold ended, in ns
 * @held_ns: how long it was
 */
void lull_budget_spend(struct lull_budget *budget, u64 now, u64 held_ns)
{
	budget->used_ns += held_ns;
	budget->since = now;
}
