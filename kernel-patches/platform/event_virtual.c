// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event source on QEMU, whose machine has no SP804: a timer of the kernel
 * that sets the device's own interrupt pending in the interrupt controller.
 * From there on all is as with hardware: the interrupt goes to the CPU that it
 * is routed to, wakes it, and is handled there.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "event_source.h"

/**
 * struct lull_event_virtual - the source
 * @source: what others see of it
 * @timer: stands for the hardware
 * @when: when it expired
 * @fired: whether it expired and the interrupt has not come yet
 * @irq: the interrupt
 */
struct lull_event_virtual {
	struct lull_event_source source;
	struct hrtimer timer;
	ktime_t when;
	atomic_t fired;
	int irq;
};

static struct lull_event_virtual *to_virtual(struct lull_event_source *source)
{
	return container_of(source, struct lull_event_virtual, source);
}

static enum hrtimer_restart lull_event_virtual_fire(struct hrtimer *timer)
{
	struct lull_event_virtual *virtual = container_of(timer, struct lull_event_virtual, timer);

	virtual->when = hrtimer_get_expires(timer);
	/* The handler may run on another CPU before this returns. */
	atomic_set_release(&virtual->fired, 1);
	irq_set_irqchip_state(virtual->irq, IRQCHIP_STATE_PENDING, true);
	return HRTIMER_NORESTART;
}

static void lull_event_virtual_arm(struct lull_event_source *source, ktime_t when)
{
	hrtimer_start(&to_virtual(source)->timer, when, HRTIMER_MODE_ABS_HARD);
}

static void lull_event_virtual_stop(struct lull_event_source *source)
{
	struct lull_event_virtual *virtual = to_virtual(source);

	hrtimer_cancel(&virtual->timer);
	irq_set_irqchip_state(virtual->irq, IRQCHIP_STATE_PENDING, false);
	atomic_set(&virtual->fired, 0);
}

static bool lull_event_virtual_expired(struct lull_event_source *source, ktime_t *when)
{
	struct lull_event_virtual *virtual = to_virtual(source);

	if (!atomic_xchg(&virtual->fired, 0))
		return false;
	*when = virtual->when;
	return true;
}

/**
 * lull_event_virtual - use a timer of the kernel as the event source
 * @device: the stand-in
 * @irq: its interrupt
 *
 * Return: the source, which lives as long as the device, or an error pointer.
 */
struct lull_event_source *lull_event_virtual(struct platform_device *device, int irq)
{
	struct lull_event_virtual *virtual;

	virtual = devm_kzalloc(&device->dev, sizeof(*virtual), GFP_KERNEL);
	if (!virtual)
		return ERR_PTR(-ENOMEM);

	virtual->irq = irq;
	hrtimer_init(&virtual->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	virtual->timer.function = lull_event_virtual_fire;
	virtual->source.arm = lull_event_virtual_arm;
	virtual->source.stop = lull_event_virtual_stop;
	virtual->source.expired = lull_event_virtual_expired;
	return &virtual->source;
}
