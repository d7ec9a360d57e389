// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event source on gem5: the first half of an SP804. The second is free.
 *
 * When an event happened is read from the timer, which counts on after it
 * expired, and not computed from what was programmed: the period of an SP804's
 * clock and that of the system counter are both rounded by gem5, and ten parts
 * in a million of a pause of a second are as long as a wakeup.
 */
#include <linux/err.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "event_source.h"
#include "sp804.h"

/**
 * struct lull_event_sp804 - the source
 * @source: what others see of it
 * @timer: the hardware
 * @target: when the next event is due
 * @running: whether the timer counts
 * @short_of: whether it expires before the target, which is too far away
 */
struct lull_event_sp804 {
	struct lull_event_source source;
	struct lull_sp804 timer;
	ktime_t target;
	bool running;
	bool short_of;
};

static struct lull_event_sp804 *to_sp804(struct lull_event_source *source)
{
	return container_of(source, struct lull_event_sp804, source);
}

static void lull_event_sp804_arm(struct lull_event_source *source, ktime_t when)
{
	struct lull_event_sp804 *sp804 = to_sp804(source);
	s64 ns = ktime_to_ns(ktime_sub(when, ktime_get()));
	u64 ticks = lull_sp804_to_ticks(&sp804->timer, max(ns, 0LL));

	sp804->target = when;
	sp804->short_of = ticks > LULL_SP804_TICKS_MAX;
	ticks = clamp(ticks, 1, LULL_SP804_TICKS_MAX);
	if (sp804->running)
		lull_sp804_rearm(&sp804->timer, ticks);
	else
		lull_sp804_arm(&sp804->timer, ticks);
	sp804->running = true;
}

static void lull_event_sp804_stop(struct lull_event_source *source)
{
	struct lull_event_sp804 *sp804 = to_sp804(source);

	lull_sp804_stop(&sp804->timer);
	sp804->running = false;
}

static bool lull_event_sp804_expired(struct lull_event_source *source, ktime_t *when)
{
	struct lull_event_sp804 *sp804 = to_sp804(source);
	ktime_t now = ktime_get();
	u64 age_ns;
	u32 ticks;

	if (!sp804->running || !lull_sp804_expired(&sp804->timer, &ticks))
		return false;
	if (sp804->short_of) {
		lull_event_sp804_arm(source, sp804->target);
		return false;
	}

	/* A tick that has begun is counted whole: the middle is the best guess. */
	age_ns = lull_sp804_to_ns(&sp804->timer, 2ULL * ticks) -
		 (ticks ? lull_sp804_to_ns(&sp804->timer, 1) : 0);
	*when = ktime_sub_ns(now, age_ns / 2);
	return true;
}

/**
 * lull_event_sp804 - use an SP804 as the event source
 * @device: the SP804
 *
 * Return: the source, which lives as long as the device, or an error pointer.
 */
struct lull_event_source *lull_event_sp804(struct platform_device *device)
{
	struct lull_event_sp804 *sp804;
	int error;

	sp804 = devm_kzalloc(&device->dev, sizeof(*sp804), GFP_KERNEL);
	if (!sp804)
		return ERR_PTR(-ENOMEM);

	error = lull_sp804_get(device, &sp804->timer);
	if (error)
		return ERR_PTR(error);

	sp804->source.arm = lull_event_sp804_arm;
	sp804->source.stop = lull_event_sp804_stop;
	sp804->source.expired = lull_event_sp804_expired;
	lull_event_sp804_stop(&sp804->source);
	return &sp804->source;
}
