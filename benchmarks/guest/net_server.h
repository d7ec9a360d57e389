/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_NET_SERVER_H
#define LULL_NET_SERVER_H

/* Serves clients of lull-net until something is wrong: -errno. */
int net_serve(void);

#endif
