/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One half of an Arm SP804: a 32-bit counter that counts down and interrupts
 * at 0. Whoever models a device that answers after a time can use one, as the
 * event source does (event_sp804.c).
 *
 * Only the registers below are touched, 32 bits wide: gem5 ends the simulation
 * on any other access, reads included. That is why no program gets this page.
 */
#ifndef _LULL_SP804_H
#define _LULL_SP804_H

#include <linux/io.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

struct platform_device;

#define LULL_SP804_HALF(n)	((n) * 0x20)
#define LULL_SP804_LOAD		0x00
#define LULL_SP804_VALUE	0x04
#define LULL_SP804_CONTROL	0x08
#define LULL_SP804_INTCLR	0x0c

#define LULL_SP804_32BIT	BIT(1)
#define LULL_SP804_INTERRUPT	BIT(5)
#define LULL_SP804_ENABLE	BIT(7)

/*
 * The longest time that can be armed. The upper half of the counter's range
 * tells how long ago it was at 0.
 */
#define LULL_SP804_TICKS_MAX	0x7fffffffU

/**
 * struct lull_sp804 - a half
 * @base: its registers
 * @hz: its clock
 */
struct lull_sp804 {
	void __iomem *base;
	u32 hz;
};

int lull_sp804_get(struct platform_device *device, struct lull_sp804 *timer);

static inline u64 lull_sp804_to_ns(const struct lull_sp804 *timer, u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, timer->hz);
}

static inline u64 lull_sp804_to_ticks(const struct lull_sp804 *timer, u64 ns)
{
	return mul_u64_u64_div_u64(ns, timer->hz, NSEC_PER_SEC);
}

/* What the counter has counted since it was at its highest value. */
static inline u32 lull_sp804_counted(const struct lull_sp804 *timer)
{
	return ~readl(timer->base + LULL_SP804_VALUE);
}

static inline void lull_sp804_stop(const struct lull_sp804 *timer)
{
	writel(0, timer->base + LULL_SP804_CONTROL);
	writel(1, timer->base + LULL_SP804_INTCLR);
}

/* Counts for ever, without an interrupt. */
static inline void lull_sp804_run(const struct lull_sp804 *timer)
{
	lull_sp804_stop(timer);
	writel(~0U, timer->base + LULL_SP804_LOAD);
	writel(LULL_SP804_ENABLE | LULL_SP804_32BIT, timer->base + LULL_SP804_CONTROL);
}

/*
 * Interrupts after so many ticks and counts on from its highest value, so that
 * the handler finds out from the timer itself when it expired.
 */
static inline void lull_sp804_arm(const struct lull_sp804 *timer, u32 ticks)
{
	lull_sp804_stop(timer);
	writel(ticks, timer->base + LULL_SP804_LOAD);
	writel(LULL_SP804_ENABLE | LULL_SP804_32BIT | LULL_SP804_INTERRUPT,
	       timer->base + LULL_SP804_CONTROL);
}

/* The same for a timer that was armed: one write, because time is counting. */
static inline void lull_sp804_rearm(const struct lull_sp804 *timer, u32 ticks)
{
	writel(ticks, timer->base + LULL_SP804_LOAD);
}

/* Whether an armed timer expired, and how many ticks ago; takes the interrupt back. */
static inline bool lull_sp804_expired(const struct lull_sp804 *timer, u32 *ticks)
{
	*ticks = lull_sp804_counted(timer);
	if (*ticks > LULL_SP804_TICKS_MAX)
		return false;
	writel(1, timer->base + LULL_SP804_INTCLR);
	return true;
}

#endif /* _LULL_SP804_H */
