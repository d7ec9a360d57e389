// SPDX-License-Identifier: GPL-2.0-only
/*
 * What raises events, and the interpreter: who is there for them?
 *
 * The interpreter runs in the interrupt that brought the packet, with
 * interrupts off. It allocates nothing and its work is bounded: ESM_FOREGROUND
 * processes of ESM_THREADS, and for each value three searches in
 * ESM_REGISTRATIONS.
 */
#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "esm.h"
#include "esm_stats.h"
#include "esm_trace.h"

LIST_HEAD(esm_sources);
static u32 esm_last_source;

/**
 * esm_source_add - let applications register at a source
 * @source: the source, zeroed but for @name, @irq and @handle; esm_source_put()
 * ends the one reference to it
 */
void esm_source_add(struct esm_source *source)
{
	lockdep_assert_held(&esm_mutex);

	kref_init(&source->ref);
	source->number = ++esm_last_source;
	source->consumer = -1;
	INIT_LIST_HEAD(&source->active);
	list_add_tail(&source->node, &esm_sources);
}

/**
 * esm_source_silence - end all registrations at a source
 * @source: the source
 */
void esm_source_silence(struct esm_source *source)
{
	struct esm_application *application;

	lockdep_assert_held(&esm_mutex);

	list_for_each_entry(application, &esm_applications, node)
		esm_subscriptions_end(application, source, NULL);
}

/**
 * esm_source_remove - a source goes away
 * @source: the source, which interrupts may look at for one more grace period
 */
void esm_source_remove(struct esm_source *source)
{
	esm_source_silence(source);
	list_del(&source->node);
}

/**
 * esm_source_by_number - find a source
 * @number: its number
 *
 * Return: the source or NULL.
 */
struct esm_source *esm_source_by_number(u32 number)
{
	struct esm_source *source;

	lockdep_assert_held(&esm_mutex);

	list_for_each_entry(source, &esm_sources, node)
		if (source->number == number)
			return source;

	return NULL;
}

/**
 * esm_source_by_device - find the source that an input device is
 * @dev: the device
 *
 * Return: the source or NULL.
 */
struct esm_source *esm_source_by_device(const struct input_dev *dev)
{
	struct esm_source *source;

	lockdep_assert_held(&esm_mutex);

	list_for_each_entry(source, &esm_sources, node)
		if (source->handle && source->handle->dev == dev)
			return source;

	return NULL;
}

/**
 * esm_source_reserve - keep a source, and an input device open, for a while
 * @source: the source; esm_source_release() and esm_source_put() undo this
 */
void esm_source_reserve(struct esm_source *source)
{
	lockdep_assert_held(&esm_mutex);

	kref_get(&source->ref);
	WRITE_ONCE(source->numbered, source->numbered + 1);
}

/**
 * esm_source_release - one less needs an input device open
 * @source: the source
 */
void esm_source_release(struct esm_source *source)
{
	lockdep_assert_held(&esm_mutex);

	WRITE_ONCE(source->numbered, source->numbered - 1);
	if (!source->numbered && source->handle)
		esm_input_close(source);
}

static void esm_source_free(struct kref *ref)
{
	kfree(container_of(ref, struct esm_source, ref));
}

/**
 * esm_source_put - one less knows a source
 * @source: the source
 */
void esm_source_put(struct esm_source *source)
{
	kref_put(&source->ref, source->handle ? esm_input_free : esm_source_free);
}

/* Programs are told where a packet ends by the last of its events. */
static bool esm_value_ends(const struct input_value *value)
{
	return value->type == EV_SYN && value->code == SYN_REPORT;
}

static u32 esm_types(const struct input_value *values, unsigned int count)
{
	unsigned int index;
	u32 types = 0;

	for (index = 0; index < count; index++)
		if (!esm_value_ends(&values[index]))
			types |= BIT(values[index].type % EV_CNT);

	return types;
}

/* Gives an application what it registered for. Returns whether that was anything. */
static bool esm_give(struct esm_subscription *subscription, const struct esm_packet *packet)
{
	struct esm_application *application = subscription->application;
	const struct esm_match *match;
	unsigned int index, events;
	unsigned long flags;

	if (!(READ_ONCE(subscription->matches.types) & packet->types))
		return false;

	raw_spin_lock_irqsave(&application->lock, flags);
	for (index = 0; index < packet->count; index++) {
		const struct input_value *value = &packet->values[index];
		struct esm_event event = {
			.hardware_ns = packet->hardware_ns,
			.kernel_ns = packet->kernel_ns,
			.packet = packet->number,
			.source = packet->source->number,
			.type = value->type,
			.code = value->code,
			.value = value->value,
		};

		if (esm_value_ends(value))
			continue;
		match = esm_matches_find(&subscription->matches, value->type, value->code,
					 packet->only);
		if (!match)
			continue;
		event.handler = match->handler;
		esm_fifo_add(&application->fifo, &event);
	}
	events = application->fifo.packet;
	if (events)
		esm_application_push(application, packet);
	raw_spin_unlock_irqrestore(&application->lock, flags);

	return events;
}

/**
 * esm_interpret - a packet has come
 * @source: from where
 * @values: what it is made of
 * @count: how many values
 * @hardware: when the hardware raised it
 * @only: NULL, or the one reader that may have it
 *
 * Context: any, one at a time for each source, under rcu_read_lock().
 */
void esm_interpret(struct esm_source *source, const struct input_value *values,
		   unsigned int count, ktime_t hardware, const struct esm_reader *only)
{
	struct esm_packet packet = {
		.source = source,
		.number = source->packets + 1,
		.hardware_ns = ktime_to_ns(hardware),
		.kernel_ns = ktime_get_ns(),
		.values = values,
		.count = count,
		.types = esm_types(values, count),
		.only = only,
	};
	struct esm_subscription *subscription;
	bool wanted = false;

	WRITE_ONCE(source->packets, packet.number);
	esm_count(ESM_PACKETS, 1);
	esm_count(ESM_VALUES, count);
	trace_esm_interpret(&packet);

	list_for_each_entry_rcu(subscription, &source->active, active)
		if (esm_give(subscription, &packet))
			wanted = true;
	if (wanted)
		return;

	esm_count(ESM_DISCARDED, 1);
	trace_esm_discard(&packet);
}

/**
 * esm_source_create - make a source of a driver's own
 * @name: its name, which lives as long
 * @irq: the interrupt that its events come by, or 0
 *
 * Only tasks with CAP_SYS_ADMIN can register at it, by its number.
 *
 * Return: the source or an error pointer.
 */
struct esm_source *esm_source_create(const char *name, unsigned int irq)
{
	struct esm_source *source = kzalloc(sizeof(*source), GFP_KERNEL);

	if (!source)
		return ERR_PTR(-ENOMEM);

	source->name = name;
	source->irq = irq;
	mutex_lock(&esm_mutex);
	esm_source_add(source);
	mutex_unlock(&esm_mutex);

	return source;
}

/**
 * esm_source_destroy - take a source away
 * @source: the source; nobody pushes to it any more
 */
void esm_source_destroy(struct esm_source *source)
{
	mutex_lock(&esm_mutex);
	esm_source_remove(source);
	mutex_unlock(&esm_mutex);
	esm_source_put(source);
}

/**
 * esm_source_push - send a packet to whoever registered for it
 * @source: the source
 * @values: what it is made of; EV_SYN SYN_REPORT at its end is not needed
 * @count: how many values
 * @hardware: CLOCK_MONOTONIC when the hardware raised it
 *
 * Context: any, one at a time for each source. Nothing while the system is off.
 */
void esm_source_push(struct esm_source *source, const struct input_value *values,
		     unsigned int count, ktime_t hardware)
{
	if (!READ_ONCE(esm_on))
		return;

	rcu_read_lock();
	esm_interpret(source, values, count, hardware, NULL);
	rcu_read_unlock();
}
