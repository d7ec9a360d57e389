/* SPDX-License-Identifier: BSD-3-Clause */
/* What the monitor's sockets need: packets a second, and whose threads work for them. */
#ifndef EANEM_TRAFFIC_H
#define EANEM_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "eanem_abi.h"

/*
 * A target counts at most as so many times what came in the last interval: any user may choose any
 * target for a socket, also for one that is idle. A connection that begins needs some room: its
 * first interval may be short.
 */
#define TRAFFIC_FACTOR 8
/* Processes that are told apart, and threads that are steered beside the manager's own. */
#define TRAFFIC_PROCESSES 64
#define TRAFFIC_THREADS (LULL_EANEM_THREADS_MOST - 1)

struct traffic_process {
	uint32_t pid;
	double bytes_s;
};

struct traffic {
	/* By the targets, or by what came where there is none. */
	double packets_s;
	double bytes_s;
	/* Those with the most traffic; and how many threads, at least, were left out. */
	uint32_t threads[TRAFFIC_THREADS];
	size_t thread_count;
	size_t left_out;
	/* The kernel's number of the interval; 0 if nobody has told it. */
	uint64_t interval;

	/* traffic.c's own. */
	struct traffic_process processes[TRAFFIC_PROCESSES];
	size_t process_count;
};

void traffic_begin(struct traffic *traffic);
/* Once for each socket. One that received nothing in the last interval needs nothing. */
void traffic_add(const struct lull_eanem_socket *socket, void *traffic);
/* After the last socket: the threads of the processes. */
void traffic_end(struct traffic *traffic);

#endif
