/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_NETWORK_H
#define LULL_NETWORK_H

/*
 * Addresses, neighbours and carrier of the network cards of a machine that has a peer. On QEMU the
 * peer's card is one of them: it gets a namespace of its own.
 */
void bring_up_network(void);

#endif
