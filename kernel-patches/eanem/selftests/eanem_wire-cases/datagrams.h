/* SPDX-License-Identifier: BSD-3-Clause */
/* Something to receive that is known to the byte. */
#ifndef EANEM_WIRE_CASES_DATAGRAMS_H
#define EANEM_WIRE_CASES_DATAGRAMS_H

#include <netinet/in.h>
#include <stdint.h>

/* Some datagrams over some time. Their bytes in all. */
uint64_t send_datagrams(int from, int to, const struct sockaddr_in *at, unsigned int count);

#endif
