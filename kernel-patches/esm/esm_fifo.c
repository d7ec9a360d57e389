// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of one application: a ring of events that takes packets whole or
 * not at all, and that tells of each loss where it happened.
 *
 * Losses are counted in @lost until they are told of, by an event that takes a
 * slot: before the next packet that fits, or when the reader has come to the
 * end. Packets never use the last slot, so that there is one for that event
 * however full the ring is.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "esm_fifo.h"

/**
 * esm_fifo_init - make an empty queue
 * @fifo: the queue; its @events are freed with kvfree()
 * @size: events it shall have room for
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int esm_fifo_init(struct esm_fifo *fifo, unsigned int size, gfp_t gfp)
{
	memset(fifo, 0, sizeof(*fifo));
	fifo->size = size;
	fifo->events = kvcalloc(size + 1, sizeof(*fifo->events), gfp);

	return fifo->events ? 0 : -ENOMEM;
}

static struct esm_event *esm_fifo_slot(struct esm_fifo *fifo, unsigned int index)
{
	unsigned int slot = fifo->first + index;

	return &fifo->events[slot <= fifo->size ? slot : slot - fifo->size - 1];
}

/* Slots in use once all losses are told of. */
static unsigned int esm_fifo_needed(const struct esm_fifo *fifo)
{
	return fifo->used + (fifo->lost ? 1 : 0);
}

static void esm_fifo_tell_lost(struct esm_fifo *fifo)
{
	*esm_fifo_slot(fifo, fifo->used++) = (struct esm_event){
		.hardware_ns = fifo->first_lost.hardware_ns,
		.kernel_ns = fifo->first_lost.kernel_ns,
		.value = fifo->lost,
		.flags = ESM_EVENT_OVERFLOW,
	};
	fifo->lost = 0;
}

/**
 * esm_fifo_add - add one event of a packet
 * @fifo: the queue
 * @event: the event
 *
 * The reader sees nothing of it before esm_fifo_end_packet().
 */
void esm_fifo_add(struct esm_fifo *fifo, const struct esm_event *event)
{
	unsigned int index = esm_fifo_needed(fifo) + fifo->packet++;

	if (index < fifo->size)
		*esm_fifo_slot(fifo, index) = *event;
	else if (!fifo->lost && fifo->packet == 1)
		fifo->first_lost = *event;
}

/**
 * esm_fifo_end_packet - make what was added since the last packet one
 * @fifo: the queue, to which at least one event was added
 *
 * Return: whether there was room for it. If not, its events are lost.
 */
bool esm_fifo_end_packet(struct esm_fifo *fifo)
{
	unsigned int needed = esm_fifo_needed(fifo), packet = fifo->packet;

	fifo->packet = 0;
	if (needed + packet > fifo->size) {
		if (!fifo->lost && needed < fifo->size)
			fifo->first_lost = *esm_fifo_slot(fifo, needed);
		fifo->lost = min_t(u64, (u64)fifo->lost + packet, S32_MAX);
		fifo->lost_ever += packet;
		return false;
	}

	if (fifo->lost)
		esm_fifo_tell_lost(fifo);
	fifo->used += packet;
	esm_fifo_slot(fifo, fifo->used - 1)->flags |= ESM_EVENT_LAST;
	return true;
}

/**
 * esm_fifo_peek - read the oldest events
 * @fifo: the queue
 * @events: where to
 * @count: how many at most
 *
 * What was read stays, unchanged, until it is dropped.
 *
 * Return: how many.
 */
unsigned int esm_fifo_peek(struct esm_fifo *fifo, struct esm_event *events, unsigned int count)
{
	unsigned int index;

	if (fifo->lost && fifo->used < count && fifo->used <= fifo->size)
		esm_fifo_tell_lost(fifo);

	count = min(count, fifo->used);
	for (index = 0; index < count; index++)
		events[index] = *esm_fifo_slot(fifo, index);

	return count;
}

/**
 * esm_fifo_drop - remove the oldest events
 * @fifo: the queue
 * @count: how many, of those that were peeked
 */
void esm_fifo_drop(struct esm_fifo *fifo, unsigned int count)
{
	fifo->first += count;
	if (fifo->first > fifo->size)
		fifo->first -= fifo->size + 1;
	fifo->used -= count;
}
