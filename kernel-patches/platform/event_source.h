/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_EVENT_SOURCE_H
#define _LULL_EVENT_SOURCE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct platform_device;

/**
 * struct lull_event_source - hardware that interrupts at a given time
 * @arm: make it interrupt at this CLOCK_MONOTONIC, or as soon as it can if
 * that is over; from process context when stopped, and from its own interrupt
 * @stop: no interrupt any more; from process context with the interrupt
 * disabled, and from its own interrupt
 * @expired: in its interrupt: whether it is there because the time armed is
 * over, and if so, when the hardware expired
 */
struct lull_event_source {
	void (*arm)(struct lull_event_source *source, ktime_t when);
	void (*stop)(struct lull_event_source *source);
	bool (*expired)(struct lull_event_source *source, ktime_t *when);
};

struct lull_event_source *lull_event_sp804(struct platform_device *device);
struct lull_event_source *lull_event_virtual(struct platform_device *device, int irq);

#endif /* _LULL_EVENT_SOURCE_H */
