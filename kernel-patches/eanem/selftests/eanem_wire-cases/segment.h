/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of TCP, as they are on the wire. */
#ifndef EANEM_WIRE_CASES_SEGMENT_H
#define EANEM_WIRE_CASES_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of a segment says how far the other end may send. */
struct segment {
	uint32_t ack;
	/* As it is in the header. */
	uint16_t window;
	bool syn, acknowledges, resets;
	/* Tells what has come after a hole. */
	bool hole;
	/* Of a SYN: each unit of later windows is 1 << scale bytes. */
	uint8_t scale;
};

/* A packet from its IP header on. False if it is no segment of TCP. */
bool read_segment(const uint8_t *packet, size_t length, struct segment *segment);

#endif
