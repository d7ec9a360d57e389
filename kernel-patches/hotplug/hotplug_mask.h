/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_HOTPLUG_MASK_H
#define _LULL_HOTPLUG_MASK_H

#include <linux/cpumask.h>
#include <linux/types.h>

/**
 * struct lull_pseudo_state - what a change is judged by
 * @out: CPUs that are pseudo-offline
 * @online: CPUs that are online
 * @home: CPUs that may have all the others' work: those that are not isolated
 */
struct lull_pseudo_state {
	struct cpumask out;
	struct cpumask online;
	struct cpumask home;
};

/**
 * struct lull_pseudo_change - what there is to do
 * @down: CPUs that leave
 * @up: CPUs that come back
 */
struct lull_pseudo_change {
	struct cpumask down;
	struct cpumask up;
};

int lull_pseudo_plan(const struct lull_pseudo_state *state, const struct cpumask *wish,
		     struct lull_pseudo_change *change);
int lull_pseudo_parse(const char *text, struct cpumask *mask);

#endif /* _LULL_HOTPLUG_MASK_H */
