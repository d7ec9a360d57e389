/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel carries bytes from the guest to one file on the host. On gem5 it is the file of that
 * name in the output directory; on QEMU the virtio-serial port lull.<name up to its first dot>.
 * Neither waits for a reader.
 */
#ifndef LULL_CHANNEL_H
#define LULL_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* The names the engines provide. */
#define CHANNEL_STDOUT "stdout"
#define CHANNEL_FILES "files.tar"
#define CHANNEL_CPUIDLE "cpuidle.jsonl"
#define CHANNEL_STATUS "status"
/* Of a network's other end. On QEMU it has no status, because it ends with the machine. */
#define CHANNEL_PEER_STDOUT "peer.stdout"
#define CHANNEL_PEER_STATUS "peer.status"
#define CHANNEL_PEER_READY "peer.ready"

struct channel {
	enum engine engine;
	char file[32];	 /* gem5 */
	int fd;		 /* QEMU */
	uint64_t offset; /* gem5 */
};

/* Both return 0 or -errno. Opening a channel again on gem5 empties it. */
int channel_open(struct channel *channel, enum engine engine, const char *name);
int channel_write(struct channel *channel, const void *data, size_t length);

#endif
