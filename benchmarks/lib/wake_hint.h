/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network peer's hint: my next message comes in so many microseconds. A program that receives it
 * asks for its CPU to be ready then (kernel-patches/anticipation, /dev/lull-wake-ahead).
 *
 * A hint is 16 bytes, a datagram of its own or the head of one; all numbers are in network order:
 *
 *    0  4  "LWH1"
 *    4  4  in_us, from when the hint was sent until the message comes at the earliest
 *    8  4  for_us, from then until it comes at the latest
 *   12  4  0
 *
 * Times are distances, because two machines have two clocks. The way of the hint through the
 * network is not taken off; the message takes the same way.
 */
#ifndef LULL_WAKE_HINT_H
#define LULL_WAKE_HINT_H

#include <stddef.h>
#include <stdint.h>

#define WAKE_HINT_BYTES 16

struct wake_hint {
	uint32_t in_us, for_us;
};

/*
 * What a program believes a peer, at most. Whoever may send it messages could keep its CPU light
 * for so long with each of them, and no longer: a program has one window at a time.
 */
struct wake_hint_limits {
	uint32_t most_in_us, most_for_us;
};

void wake_hint_write(const struct wake_hint *hint, uint8_t bytes[WAKE_HINT_BYTES]);
/* 0; -EBADMSG if that is no hint, -ERANGE if it asks for more than the limits or for nothing. */
int wake_hint_read(const void *data, size_t length, const struct wake_hint_limits *limits,
		   struct wake_hint *hint);
/*
 * Asks through an open /dev/lull-wake-ahead for this thread's CPU, in place of what the thread
 * asked for there before. @arrived_ns is when the hint came, of CLOCK_MONOTONIC. 0 or -errno of
 * WAKE_AHEAD_BEGIN.
 */
int wake_hint_ask(int fd, const struct wake_hint *hint, uint64_t arrived_ns);
/* The message has come. 0, or -ENODATA if nothing was in force. */
int wake_hint_came(int fd);

#endif
