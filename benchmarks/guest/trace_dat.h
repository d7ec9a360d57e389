/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace buffer as a file of trace-cmd, version 7 (trace-cmd.dat.v7(5)).
 *
 * trace-cmd itself needs 150 million instructions for that: it takes every format
 * that the kernel knows, all symbols, and compresses them. This takes what the
 * events that are on need.
 */
#ifndef LULL_TRACE_DAT_H
#define LULL_TRACE_DAT_H

#define TRACING "/sys/kernel/tracing"

/* Takes the events out of the buffer. Ends the program with a message when it cannot. */
void trace_dat_write(const char *path);

#endif
