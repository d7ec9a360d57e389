/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run ends: the channels to the host, and the two ways out of PID 1. */
#ifndef LULL_END_H
#define LULL_END_H

#include <stddef.h>

#include "machine.h"

/* Exit statuses that are init's own; a script's pass through unchanged. */
#define STATUS_LIMIT 124
#define STATUS_INIT_FAILED 125

/* A line on the console. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* From here on fail() can tell the host. */
void set_engine(enum engine engine);
/* This machine is the peer of the one under test: its channels have other names, and its end is not
 * the end of the simulation. */
void set_peer(void);
/* Opens stdout and status. A checkpoint must not hold them open: gem5 makes the files anew. */
void open_channels(void);

/* Sends bytes of the script's output; fails the run when the host does not take them. */
void send_stdout(const char *data, size_t length);
/* A line of init's own on stdout, begun on a new line. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Kills whatever runs, reports the message and ends the machine with STATUS_INIT_FAILED. */
_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
/* Sends the status and ends the machine. */
_Noreturn void finish(int status);

/* Makes a crash of init itself end in fail() instead of a kernel panic. */
void catch_crashes(void);

#endif
