/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that do as much of one kind of work as they can. No thread is bound to a CPU. */
#ifndef FULL_LOAD_H
#define FULL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#define FULL_LOADS "none|cpu|memory|io"

bool full_load_is_kind(const char *kind);

/*
 * Starts threads; each finds its memory or its file ready when it begins. 0 or -errno.
 *   none    no thread, whatever their number
 *   cpu     arithmetic in registers
 *   memory  each line of a buffer of kib KiB is read and written, one after the other
 *   io      16 KiB are written to a file of a file system in memory and read back; then the thread
 *           sleeps 100 us, as it does where a flash device answers
 */
int full_load_start(const char *kind, uint64_t threads, uint64_t kib);
/* The units of work that were finished since the start: a unit is always the same work. */
uint64_t full_load_units(void);
/* Ends all threads. */
void full_load_stop(void);

#endif
