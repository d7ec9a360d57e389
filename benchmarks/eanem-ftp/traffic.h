/* SPDX-License-Identifier: BSD-3-Clause */
/* What the monitor's sockets need: packets a second, and whose threads work for them. */
#ifndef EANEM_TRAFFIC_H
#define EANEM_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "eanem_abi.h"

struct traffic {
	/* By the targets, or by what came where there is none. */
	double packets_s;
	double bytes_s;
	uint32_t threads[LULL_EANEM_THREADS_MOST];
	size_t thread_count;
};

/* Sockets that received nothing in the last interval, and have no target, need nothing. */
void traffic_sum(const struct lull_eanem_socket *sockets, size_t count, struct traffic *traffic);
/* All threads of the process, as far as there is room. */
void traffic_add_process(struct traffic *traffic, uint32_t pid);

#endif
