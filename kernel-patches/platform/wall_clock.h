/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_WALL_CLOCK_H
#define _LULL_WALL_CLOCK_H

#include <linux/ktime.h>
#include <linux/types.h>

struct platform_device;

/**
 * struct lull_clock_reading - the wall clock and the kernel's clock at one moment
 * @count: ticks of the wall clock
 * @hz: its rate, 0 if this machine has no wall clock
 * @at: CLOCK_MONOTONIC
 */
struct lull_clock_reading {
	u64 count;
	u32 hz;
	ktime_t at;
};

struct lull_clock_reading lull_clock_read(void);
u64 lull_clock_count_at(const struct lull_clock_reading *reading, ktime_t earlier);
u32 lull_clock_hz(void);
int lull_clock_probe(struct platform_device *device);

#if IS_ENABLED(CONFIG_KUNIT)
u64 lull_clock_extend(u32 counted, u64 expected);
#endif

#endif /* _LULL_WALL_CLOCK_H */
