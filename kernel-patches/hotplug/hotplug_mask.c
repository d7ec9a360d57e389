// SPDX-License-Identifier: GPL-2.0-only
/* Which CPUs leave and which come back: arithmetic only. */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/errno.h>

#include "hotplug_mask.h"

/**
 * lull_pseudo_plan - judge a change of the CPUs that are pseudo-offline
 * @state: how it is
 * @wish: the CPUs that shall be pseudo-offline, and no others
 * @change: what there is to do; only written if there is no error
 *
 * A CPU that went offline while it was pseudo-offline keeps its place in @wish.
 *
 * Return: 0, -ENODEV if a CPU is to leave that is not online, -EBUSY if none
 * would be left.
 */
int lull_pseudo_plan(const struct lull_pseudo_state *state, const struct cpumask *wish,
		     struct lull_pseudo_change *change)
{
	struct cpumask down, left;

	cpumask_andnot(&down, wish, &state->out);
	if (!cpumask_subset(&down, &state->online))
		return -ENODEV;

	cpumask_and(&left, &state->online, &state->home);
	cpumask_andnot(&left, &left, wish);
	if (!cpumask_empty(&down) && cpumask_empty(&left))
		return -EBUSY;

	cpumask_copy(&change->down, &down);
	cpumask_andnot(&change->up, &state->out, wish);
	return 0;
}

/**
 * lull_pseudo_parse - read a list of CPUs, such as 1,4-7
 * @text: the list; a newline at its end is allowed, nothing is an empty list
 * @mask: the CPUs; undefined on an error
 *
 * Return: 0, or -EINVAL for what is no list of possible CPUs.
 */
int lull_pseudo_parse(const char *text, struct cpumask *mask)
{
	const char *character;

	/* cpulist_parse() knows more: strides, N for the last, and all. */
	for (character = text; *character; character++)
		if (!isdigit(*character) && !strchr(",-", *character) &&
		    strcmp(character, "\n"))
			return -EINVAL;

	if (cpulist_parse(text, mask) || !cpumask_subset(mask, cpu_possible_mask))
		return -EINVAL;

	return 0;
}
