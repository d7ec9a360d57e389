/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ends of wake-net say to each other. Both are the same kind of machine. */
#ifndef WAKE_NET_MESSAGE_H
#define WAKE_NET_MESSAGE_H

#include <stdint.h>

#define PORT 5002

/* A datagram; the answer is the same. Times are of the asking end's clock. */
struct message {
	uint64_t number;
	uint64_t sent_ns;
	/* When the next request will be sent: the hint. 0: this one was the last. */
	uint64_t next_ns;
	/* How long the request before this one took, from its sending to its answer. 0: not known,
	 * because it was sent more than once.
	 */
	uint64_t before_ns;
	uint64_t padding[4];
};

/* The end that asks: requests at random distances, around gap_us. 0 or -errno. */
int ask(uint64_t requests, uint64_t gap_us, uint64_t spread_percent, uint64_t seed);

#endif
