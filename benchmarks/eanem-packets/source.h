/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection on which lull-net's server at the peer sends. */
#ifndef EANEM_SOURCE_H
#define EANEM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A socket on which data comes at this rate, until it is closed. paced: by SO_MAX_PACING_RATE of
 * the sender; otherwise the sender sleeps between writes of 16 KiB. mss: the largest segment, 0 for
 * the link's. rcvbuf: what SO_RCVBUF is given, 0 for the kernel's choice. The descriptor or -errno.
 */
int source_open(uint64_t kbit_s, bool paced, uint32_t mss, uint32_t rcvbuf);
/* The largest window that is offered, in bytes. 0 or -errno. */
int source_clamp(int fd, uint64_t bytes);
/* What SO_COOKIE says, or 0. */
uint64_t source_id(int fd);
/* Reads what comes until then. Bytes, or -errno; -EPIPE if the peer has gone. */
int64_t source_read_until(int fd, uint64_t ns);

#endif
