/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ESM_STATS_H
#define _LULL_ESM_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/* What is counted, in the order of the names in debugfs. */
enum esm_statistic {
	ESM_APPLICATIONS,	/* tasks that became one */
	ESM_PACKETS,		/* seen by the interpreter */
	ESM_VALUES,		/* in these packets */
	ESM_DISCARDED,		/* packets that nobody was there for */
	ESM_ENQUEUED,		/* packets that an application got while it was busy */
	ESM_HANDED_OVER,	/* packets that an application got out of EV_WAIT */
	ESM_OVERFLOWED,		/* packets that an application had no room for */
	ESM_WAITS,		/* times that an application went into EV_WAIT */
	ESM_WAKE_UPS,		/* times that an event woke it in EV_WAIT */
	ESM_SIGNALS,		/* times that a signal ended EV_WAIT */
	ESM_DELIVERED,		/* events that esm_wait() returned */
	ESM_STATISTICS
};

struct esm_stats {
	u64 count[ESM_STATISTICS];
};

DECLARE_PER_CPU(struct esm_stats, esm_stats);

static inline void esm_count(enum esm_statistic what, unsigned int more)
{
	this_cpu_add(esm_stats.count[what], more);
}

#endif /* _LULL_ESM_STATS_H */
