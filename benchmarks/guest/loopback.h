/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of IPv4 over the loopback device, which init has turned on. What fails ends the program.
 */
#ifndef LULL_LOOPBACK_H
#define LULL_LOOPBACK_H

/* Two sockets that are connected with each other; `type` is SOCK_STREAM or SOCK_DGRAM. */
void loopback_pair(int type, int ends[2]);
/* A socket that takes connections. */
int loopback_listen(void);
/* A connection to it from the beginning to the end, without a byte. */
void loopback_connect(int listener);

#endif
