/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_CSTATES_H
#define _LULL_CSTATES_H

#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/types.h>

/* What Linux is told of one idle state. */
struct lull_cstate {
	unsigned int depth;
	unsigned int exit_us;
	unsigned int residency_us;
};

/* What Linux is told of the idle states of one CPU; no states, no driver. */
struct lull_cstates {
	int count;
	/* CPUs that share the numbers, because they share the driver. */
	const struct cpumask *sharers;
	struct lull_cstate states[CPUIDLE_STATE_MAX];
};

#if IS_ENABLED(CONFIG_KUNIT)
int lull_cstates_change(struct lull_cstates *cpus, unsigned int count, char *text);
#endif

#endif /* _LULL_CSTATES_H */
