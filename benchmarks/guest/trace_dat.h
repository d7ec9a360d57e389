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

/*
 * Keeps the formats of the events that are on, when the trace begins. On gem5 that is before the
 * detailed CPUs are there; the formats take millions of instructions to print.
 */
void trace_dat_begin(void);

/*
 * Takes the events out of the buffer, after trace_dat_begin(). Both end the program with a message
 * when they cannot.
 */
void trace_dat_write(const char *path);

#endif
