/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ESM_FIFO_H
#define _LULL_ESM_FIFO_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#include "esm_abi.h"

/**
 * struct esm_fifo - the events that wait for one application
 * @events: a ring of @size + 1 slots, the last one for telling of an overflow
 * @size: events it has room for
 * @first: slot of the oldest event
 * @used: slots in use
 * @packet: events of the packet that is being added, behind those in use
 * @lost: how many events were lost after the newest, and not told of yet
 * @first_lost: the first of these
 * @lost_ever: all that were lost
 *
 * A packet is taken whole or not at all. Its user serialises all calls.
 */
struct esm_fifo {
	struct esm_event *events;
	unsigned int size;
	unsigned int first;
	unsigned int used;
	unsigned int packet;
	unsigned int lost;
	struct esm_event first_lost;
	u64 lost_ever;
};

int esm_fifo_init(struct esm_fifo *fifo, unsigned int size, gfp_t gfp);
void esm_fifo_add(struct esm_fifo *fifo, const struct esm_event *event);
bool esm_fifo_end_packet(struct esm_fifo *fifo);
unsigned int esm_fifo_peek(struct esm_fifo *fifo, struct esm_event *events, unsigned int count);
void esm_fifo_drop(struct esm_fifo *fifo, unsigned int count);

/* Whether there is nothing to tell. */
static inline bool esm_fifo_empty(const struct esm_fifo *fifo)
{
	return !fifo->used && !fifo->lost;
}

#endif /* _LULL_ESM_FIFO_H */
