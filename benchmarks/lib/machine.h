/* SPDX-License-Identifier: BSD-3-Clause */
/* What the guest knows of the machine it runs on: the device tree's /lull node. */
#ifndef LULL_MACHINE_H
#define LULL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum engine { ENGINE_UNKNOWN, ENGINE_GEM5, ENGINE_QEMU };

/* Needs /proc. ENGINE_UNKNOWN when the device tree has no /lull node or names another engine. */
enum engine machine_engine(void);
const char *engine_name(enum engine engine);

/*
 * A machine may have a network of two: itself at 10.0.0.1, and a peer at 10.0.0.2. On gem5 the peer
 * is a second machine with the same kernel and image. On QEMU it is a network namespace of the same
 * guest, with a network card of its own.
 */
enum part { PART_ALONE, PART_MACHINE, PART_PEER };

#define PEER_NAMESPACE "/run/netns/peer"

enum part machine_part(void);

/* A string property of the /lull node, empty when it is not there. */
void machine_property(const char *property, char *value, size_t size);

#endif
