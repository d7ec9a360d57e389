/* SPDX-License-Identifier: BSD-3-Clause */
/* How far one end of a connection lets the other one send. */
#ifndef EANEM_WIRE_CASES_EDGE_H
#define EANEM_WIRE_CASES_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "segment.h"

/*
 * The right edge of the windows that one end of a connection has offered: the sequence number up to
 * which the other end may send.
 */
struct edge {
	bool known;
	uint8_t scale;
	/* The furthest one that was ever offered. */
	uint32_t right;
	/* In the last segment: what it acknowledges, and its window in bytes. */
	uint32_t ack, window;
	bool hole;
	/* Bytes that it has gone up by in all. */
	uint64_t raised;
	/* Segments that offered less than one before, and the most bytes by which they did. */
	unsigned int back, furthest_back;
	/* Segments that tell of a hole, and those of the same hole that another edge came with. */
	unsigned int holes, moved_in_hole;
};

/* In the order in which the segments were sent. */
void edge_sees(struct edge *edge, const struct segment *segment);

#endif
