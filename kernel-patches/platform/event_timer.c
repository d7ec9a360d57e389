// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a user would cause, played from a schedule by a timer that
 * interrupts as a keyboard or a mouse would:
 *
 *   /sys/kernel/lull/events/enabled   1 plays the schedule from its start
 *   /sys/kernel/lull/events/schedule  takes the text of one (event_schedule.c)
 *   /sys/kernel/lull/events/error     why the last text was refused
 *   /sys/kernel/lull/events/state     empty, loading, ready, playing or done;
 *                                     poll() tells when it is done
 *   /sys/kernel/lull/events/count     events in the schedule
 *   /sys/kernel/lull/events/played    events since the last start
 *   /sys/kernel/lull/events/late      of these, events that were due before the
 *                                     interrupt of the one before was handled
 *   /sys/kernel/lull/events/clock_hz  rate of the wall clock (wall_clock.c)
 *
 * Only root may look: when a user types is nobody else's business. The
 * schedule's clock is CLOCK_MONOTONIC and its times are absolute, so that no
 * delay adds up. An interrupt that comes late delivers what is due, in order,
 * each with its own time; LULL_EVENTS_AT_ONCE of them at most, and the next
 * interrupts the rest.
 */
#define pr_fmt(fmt) "lull: events: " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/input.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include "event_input.h"
#include "event_schedule.h"
#include "event_source.h"
#include "lull.h"
#include "wall_clock.h"

/* Events that one interrupt delivers at most. */
#define LULL_EVENTS_AT_ONCE	16

/**
 * struct lull_events - the event generator
 * @system: its switch
 * @source: what interrupts
 * @input: where events come out
 * @irq: the interrupt
 * @state_file: for those who wait for the end
 * @lock: protects what follows down to @enabled
 * @text: a schedule on its way in
 * @schedule: the last one accepted, or NULL
 * @error: why the last one was refused
 * @enabled: what the switch says
 * @start: when the schedule began
 * @played: events sent; from here on all belongs to the interrupt while it plays
 * @late: events that were late
 * @behind: the next event was due already when the last interrupt ended
 * @behind_since: if so, the time that this event carries
 * @playing: whether it plays
 */
struct lull_events {
	struct lull_system system;
	struct lull_event_source *source;
	struct input_dev *input;
	int irq;
	struct kernfs_node *state_file;

	struct mutex lock; /* see above */
	struct lull_schedule_text text;
	struct lull_schedule *schedule;
	char error[80];
	bool enabled;

	ktime_t start;
	unsigned int played;
	unsigned int late;
	bool behind;
	ktime_t behind_since;
	bool playing;
};

static struct lull_events *lull_events;

static ktime_t lull_event_due(const struct lull_events *events)
{
	return ktime_add_ns(events->start, events->schedule->events[events->played].time_ns);
}

/*
 * Sends the event whose interrupt this is, and those that are due as well, as
 * far as one interrupt may. While events come faster than they are handled, the
 * next interrupt leaves the CPU to others for as long as this one took.
 */
static void lull_events_play(struct lull_events *events, ktime_t when)
{
	const struct lull_schedule *schedule = events->schedule;
	struct lull_clock_reading clock = lull_clock_read();
	ktime_t began = ktime_get(), now, due;
	unsigned int sent = 0, late = 0;

	for (;;) {
		lull_event_input_send(events->input, &schedule->events[events->played],
				      events->played + 1, when, &clock);
		WRITE_ONCE(events->played, events->played + 1);
		events->behind = false;
		if (events->played == schedule->count)
			break;
		due = lull_event_due(events);
		now = ktime_get();
		if (ktime_after(due, now)) {
			events->source->arm(events->source, due);
			break;
		}
		late++;
		/* Two at the same moment must not seem to go backwards. */
		when = ktime_after(due, when) ? due : when;
		if (++sent == LULL_EVENTS_AT_ONCE) {
			events->behind = true;
			events->behind_since = when;
			events->source->arm(events->source,
					    ktime_add(now, ktime_sub(now, began)));
			break;
		}
	}

	WRITE_ONCE(events->late, events->late + late);
	if (events->played < schedule->count)
		return;
	events->source->stop(events->source);
	WRITE_ONCE(events->playing, false);
	sysfs_notify_dirent(events->state_file);
}

static irqreturn_t lull_events_interrupt(int irq, void *data)
{
	struct lull_events *events = data;
	ktime_t when;

	if (!events->playing || !events->source->expired(events->source, &when))
		return IRQ_NONE;
	lull_events_play(events, events->behind ? events->behind_since : when);
	return IRQ_HANDLED;
}

static int lull_events_enable(struct lull_system *system)
{
	struct lull_events *events = container_of(system, struct lull_events, system);
	unsigned long flags;
	int error = 0;

	mutex_lock(&events->lock);
	if (events->text.used) {
		strscpy(events->error, "the schedule has no end");
		error = -EINVAL;
	} else if (!events->schedule) {
		error = -ENODATA;
	} else {
		/* While it is disabled, what belongs to the interrupt is ours. */
		disable_irq(events->irq);
		WRITE_ONCE(events->played, 0);
		WRITE_ONCE(events->late, 0);
		events->behind = false;
		WRITE_ONCE(events->playing, true);
		events->enabled = true;
		enable_irq(events->irq);
		/*
		 * An event at time 0 interrupts at once. Disabled, its interrupt would be
		 * masked, and gem5 presents what is unmasked only along with another one.
		 * This CPU takes it when the source knows that it has been armed.
		 */
		local_irq_save(flags);
		events->start = ktime_get();
		events->source->arm(events->source, lull_event_due(events));
		local_irq_restore(flags);
	}
	mutex_unlock(&events->lock);

	return error;
}

static int lull_events_disable(struct lull_system *system)
{
	struct lull_events *events = container_of(system, struct lull_events, system);

	mutex_lock(&events->lock);
	disable_irq(events->irq);
	events->source->stop(events->source);
	WRITE_ONCE(events->playing, false);
	events->enabled = false;
	enable_irq(events->irq);
	/* No key stays pressed. */
	input_reset_device(events->input);
	sysfs_notify_dirent(events->state_file);
	mutex_unlock(&events->lock);

	return 0;
}

/* Takes a text that is complete, whole or not at all. */
static int lull_events_load(struct lull_events *events)
{
	struct lull_schedule_error error = {};
	struct lull_schedule *schedule;

	lockdep_assert_held(&events->lock);

	schedule = lull_schedule_parse(events->text.data, events->text.used, &error);
	lull_schedule_text_drop(&events->text);
	if (schedule == ERR_PTR(-EINVAL)) {
		snprintf(events->error, sizeof(events->error), "line %u: %s", error.line,
			 error.reason);
		pr_err("schedule refused, %s\n", events->error);
		return -EINVAL;
	}
	if (IS_ERR(schedule)) {
		strscpy(events->error, "out of memory");
		return PTR_ERR(schedule);
	}

	lull_schedule_free(events->schedule);
	events->schedule = schedule;
	events->error[0] = '\0';
	WRITE_ONCE(events->played, 0);
	WRITE_ONCE(events->late, 0);
	return 0;
}

static ssize_t schedule_write(struct file *file, struct kobject *kobj,
			      struct bin_attribute *attr, char *piece, loff_t offset, size_t size)
{
	struct lull_events *events = lull_events;
	int error;

	mutex_lock(&events->lock);
	if (events->enabled) {
		error = -EBUSY;
	} else {
		error = lull_schedule_text_add(&events->text, piece, offset, size);
		if (error == 1)
			error = lull_events_load(events);
		else if (error)
			strscpy(events->error, error == -EINVAL ? "a piece of the text is missing" :
				error == -EFBIG ? "the text is too long" : "out of memory");
	}
	mutex_unlock(&events->lock);

	return error ? error : size;
}

static BIN_ATTR(schedule, 0200, NULL, schedule_write, 0);

static ssize_t error_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t size;

	mutex_lock(&lull_events->lock);
	size = sysfs_emit(buf, "%s\n", lull_events->error);
	mutex_unlock(&lull_events->lock);

	return size;
}

static const char *lull_events_state(const struct lull_events *events)
{
	lockdep_assert_held(&events->lock);

	if (READ_ONCE(events->playing))
		return "playing";
	if (events->text.used)
		return "loading";
	if (!events->schedule)
		return "empty";
	return READ_ONCE(events->played) == events->schedule->count ? "done" : "ready";
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t size;

	mutex_lock(&lull_events->lock);
	size = sysfs_emit(buf, "%s\n", lull_events_state(lull_events));
	mutex_unlock(&lull_events->lock);

	return size;
}

static ssize_t count_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t size;

	mutex_lock(&lull_events->lock);
	size = sysfs_emit(buf, "%u\n", lull_events->schedule ? lull_events->schedule->count : 0);
	mutex_unlock(&lull_events->lock);

	return size;
}

static ssize_t played_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(lull_events->played));
}

static ssize_t late_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(lull_events->late));
}

static ssize_t clock_hz_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", lull_clock_hz());
}

static struct kobj_attribute error_attr = __ATTR_RO_MODE(error, 0400);
static struct kobj_attribute state_attr = __ATTR_RO_MODE(state, 0400);
static struct kobj_attribute count_attr = __ATTR_RO_MODE(count, 0400);
static struct kobj_attribute played_attr = __ATTR_RO_MODE(played, 0400);
static struct kobj_attribute late_attr = __ATTR_RO_MODE(late, 0400);
static struct kobj_attribute clock_hz_attr = __ATTR_RO(clock_hz);

static struct attribute *lull_events_attrs[] = {
	&error_attr.attr,
	&state_attr.attr,
	&count_attr.attr,
	&played_attr.attr,
	&late_attr.attr,
	&clock_hz_attr.attr,
	NULL
};

static struct bin_attribute *lull_events_bin_attrs[] = {
	&bin_attr_schedule,
	NULL
};

static const struct attribute_group lull_events_group = {
	.attrs = lull_events_attrs,
	.bin_attrs = lull_events_bin_attrs,
};

static int lull_events_probe(struct platform_device *device)
{
	struct lull_events *events;
	int error;

	if (lull_events)
		return -EEXIST;
	events = devm_kzalloc(&device->dev, sizeof(*events), GFP_KERNEL);
	if (!events)
		return -ENOMEM;
	mutex_init(&events->lock);

	events->irq = platform_get_irq(device, 0);
	if (events->irq < 0)
		return events->irq;
	events->source = platform_get_resource(device, IORESOURCE_MEM, 0) ?
			 lull_event_sp804(device) : lull_event_virtual(device, events->irq);
	if (IS_ERR(events->source))
		return PTR_ERR(events->source);
	events->input = lull_event_input_create(&device->dev);
	if (IS_ERR(events->input))
		return PTR_ERR(events->input);
	error = devm_request_irq(&device->dev, events->irq, lull_events_interrupt, 0,
				 "lull-event", events);
	if (error)
		return error;

	events->system.name = "events";
	events->system.enable = lull_events_enable;
	events->system.disable = lull_events_disable;
	error = lull_register_system(&events->system);
	if (error)
		return error;
	lull_events = events;
	error = sysfs_create_group(events->system.kobj, &lull_events_group);
	if (!error) {
		events->state_file = sysfs_get_dirent(events->system.kobj->sd, "state");
		if (events->state_file)
			return 0;
		error = -ENOENT;
	}

	lull_unregister_system(&events->system);
	lull_events = NULL;
	return error;
}

/* What a timer is there for. A model of another device would be one more line. */
static const struct lull_timer_use {
	const char *label;
	int (*probe)(struct platform_device *device);
} lull_timer_uses[] = {
	{ "wall-clock", lull_clock_probe },
	{ "event", lull_events_probe },
};

static int lull_timer_probe(struct platform_device *device)
{
	const char *label;
	int i, error;

	error = of_property_read_string(device->dev.of_node, "label", &label);
	if (error)
		return error;

	for (i = 0; i < ARRAY_SIZE(lull_timer_uses); i++)
		if (!strcmp(lull_timer_uses[i].label, label))
			return lull_timer_uses[i].probe(device);

	return -ENODEV;
}

static const struct of_device_id lull_timer_match[] = {
	{ .compatible = "lull,event-timer" },
	{ .compatible = "lull,virtual-event-timer" },
	{}
};

static struct platform_driver lull_timer_driver = {
	.probe = lull_timer_probe,
	.driver = {
		.name = "lull-event-timer",
		.of_match_table = lull_timer_match,
		.suppress_bind_attrs = true,
	},
};
builtin_platform_driver(lull_timer_driver);
