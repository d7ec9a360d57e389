/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of netlink that the library does not make. */
#ifndef EANEM_CASES_NETLINK_H
#define EANEM_CASES_NETLINK_H

#include <stddef.h>
#include <stdint.h>

#include "eanem.h"

/* More sockets than one answer holds. */
#define MANY 200

/* All of the request after its heads is the caller's. */
void ask(struct eanem *to, uint8_t command, uint16_t flags, const void *rest, size_t size);
/* Until the answer is over: its error, and how many records came before. */
int answer(struct eanem *from, int *records);
/* Appends an attribute to a request. */
void append(char *rest, size_t *size, uint16_t type, const void *value, size_t length);

#endif
