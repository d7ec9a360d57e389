/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads by windows: what a task or a CPU did in its last windows, and will do in the next. */
#ifndef _LULL_WAEAS_LOAD_H
#define _LULL_WAEAS_LOAD_H

#include <linux/types.h>

/* Windows that are remembered, as in the paper. */
#define LULL_WAEAS_WINDOWS	5
/* Changes of a CPU's speed that are remembered. */
#define LULL_WAEAS_CHANGES	4
/* One, in the fixed point of loads and weights. */
#define LULL_WAEAS_ONE	1024

/**
 * struct lull_waeas_load - a history of windows
 * @number: of the window in progress; windows are numbered from boot
 * @window_ns: how long the windows are; 0 as long as there are none
 * @current_ns: work in that window, in ns of the fastest CPU at its fastest
 * @ns: work in those before it, the newest first
 * @at: the numbers of those, cut to 32 bits; a task's may have gaps
 * @count: how many there are
 */
struct lull_waeas_load {
	u64 number;
	u32 window_ns;
	u32 current_ns;
	u32 ns[LULL_WAEAS_WINDOWS];
	u32 at[LULL_WAEAS_WINDOWS];
	u8 count;
};

/**
 * struct lull_waeas_speeds - how fast a CPU was
 * @at: when its speed changed, in ns since boot, the newest change first
 * @before: the speed until each change, of LULL_WAEAS_ONE
 * @count: how many changes there are
 */
struct lull_waeas_speeds {
	u64 at[LULL_WAEAS_CHANGES];
	u32 before[LULL_WAEAS_CHANGES];
	u8 count;
};

void lull_waeas_change(struct lull_waeas_speeds *speeds, u64 now, unsigned int before);
void lull_waeas_add(struct lull_waeas_load *load, u64 start, u64 end, u64 window_ns,
		    unsigned int speed, bool idle_counts);
void lull_waeas_add_changing(struct lull_waeas_load *load, const struct lull_waeas_speeds *speeds,
			     u64 start, u64 end, u64 window_ns, unsigned int speed,
			     bool idle_counts);
void lull_waeas_begin(struct lull_waeas_load *load, unsigned int demand, u64 now, u64 window_ns);
void lull_waeas_join(struct lull_waeas_load *cpu, const struct lull_waeas_load *task, u64 now,
		     u64 window_ns);
void lull_waeas_leave(struct lull_waeas_load *cpu, const struct lull_waeas_load *task, u64 now,
		      u64 window_ns);
unsigned int lull_waeas_predict(const struct lull_waeas_load *load, u64 now, u64 window_ns,
				unsigned int alpha, bool idle_counts);

#endif /* _LULL_WAEAS_LOAD_H */
