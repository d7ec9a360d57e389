/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that receive what the peer sends, each at its bandwidth, and count it by window. */
#ifndef EANEM_TRANSFERS_H
#define EANEM_TRANSFERS_H

#include <stdint.h>

#include "windows.h"

#define TRANSFERS_MOST 8
#define TRANSFERS_WINDOWS 1000

struct transfers;

/* Processes that wait. NULL if there is no memory or no process. */
struct transfers *transfers_make(int count);
/*
 * What holds a transfer: the sender's pacing and the receiver's target in kbit/s, and what
 * SO_RCVBUF is given; 0 for none.
 */
struct transfers_hold {
	uint64_t rate_kbit_s, target_kbit_s, rcvbuf;
};

/* Connects all. 0 or -errno. */
int transfers_connect(struct transfers *transfers, const struct transfers_hold *hold);
/* The windows, from this time on. */
void transfers_begin(struct transfers *transfers, const struct windows *times, uint64_t ns);
/* Waits for the last window's end. 0 or -errno. */
int transfers_end(struct transfers *transfers);
uint64_t transfers_bytes(const struct transfers *transfers, int transfer, uint64_t window);

#endif
