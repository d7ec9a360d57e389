/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of bytes over a connected socket, at a rate. */
#ifndef LULL_NET_STREAM_H
#define LULL_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_LARGEST_WRITE (64 << 10)
#define NET_LARGEST_DATAGRAM 1472

struct net_count {
	uint64_t bytes, packets, began_ns, took_ns;
};

/* Called about once in an interval. */
typedef void (*net_tell)(const struct net_count *so_far);

/* Each returns 0 or -errno. A write that the other end's reset interrupts ends the stream. */
int net_send_stream(int fd, uint64_t bit_s, uint64_t duration_ns, size_t size,
		    struct net_count *count);
/* Until the end of the stream; of datagrams, until something comes from `control` and they have all
 * been read. -1: there is no such connection. */
int net_receive_stream(int fd, int control, struct net_count *count, uint64_t interval_ns,
		       net_tell tell);

/* All of it: 0, or -errno, -EPIPE at the end of the stream. */
int net_write_all(int fd, const void *data, size_t length);
int net_read_all(int fd, void *data, size_t length);

#endif
