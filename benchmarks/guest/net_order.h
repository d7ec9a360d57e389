/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client of lull-net asks of the server, and what the server answers. Both ends run on the
 * same kind of machine, so numbers travel as they are.
 */
#ifndef LULL_NET_ORDER_H
#define LULL_NET_ORDER_H

#include <stdint.h>

#define NET_MAGIC 0x6c756c6c2d6e6574ULL /* "lull-net" */
#define NET_PORT 5001
#define NET_PEER "10.0.0.2"

enum net_what { NET_RECEIVE, NET_SEND, NET_ECHO };
enum net_proto { NET_TCP, NET_UDP };

/* The first thing on a TCP connection. `what` is the client's part. */
struct net_order {
	uint64_t magic;
	uint32_t what, proto;
	/* Of a stream that the server sends: bits per second, 0 for as fast as it can. */
	uint64_t bit_s, duration_ns;
	/* Bytes of a write, or of a datagram. */
	uint32_t size;
	/* The client's port for datagrams. */
	uint32_t port;
	/* Of a TCP stream: the server's kernel paces it. Otherwise the server sleeps between
	 * writes. */
	uint32_t paced, unused;
};

/* From the server: at first its port for datagrams, at the end what it sent or got. */
struct net_report {
	uint64_t magic;
	uint64_t bytes, packets, took_ns;
	uint32_t port, unused;
};

#endif
