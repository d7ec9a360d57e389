/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receiving end of a connection sends, by a packet socket on the loopback device. */
#ifndef EANEM_WIRE_CASES_WIRE_H
#define EANEM_WIRE_CASES_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#include "edge.h"

/* The segments that are kept. */
#define LOG 16384

/* A segment that was sent: when, what it acknowledges, and its window in bytes. */
struct sent {
	uint64_t at_ns;
	uint32_t ack, window;
};

/* What one end of a connection sends. */
struct wire {
	int fd;
	struct edge edge;
	/* CLOCK_REALTIME less CLOCK_MONOTONIC. */
	uint64_t offset_ns;
	unsigned int segments, strange, lost;
	/* All of them, or NULL if nobody wants to know. */
	struct sent *log;
};

/* Looks at all that was sent meanwhile. */
void wire_read(struct wire *wire);
void wire_close(struct wire *wire);

/* All segments have to be there: one that is missing might be one that takes a window back. */
void never_back(struct wire *wire, const char *when);

/* A connection whose receiving end, this one, is looked at from its SYN on. */
int watched_connection(struct wire *wire, pid_t *child);
/* Reads all that comes for so long, and looks at the wire. How long it took. */
uint64_t watch_for(struct wire *wire, int fd, uint64_t ms, uint64_t *bytes);

/* In thousandths of a target, after some time to settle: what was let through, and what came. */
struct parts {
	uint64_t let, came;
};

struct parts parts_of(struct wire *wire, int fd, uint64_t target, uint64_t settle_ms, uint64_t ms);

#endif
