/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_PROCESS_H
#define LULL_PROCESS_H

#include <sys/types.h>

struct piped {
	pid_t pid;
	int output, children;
};

/* Starts a program in a session of its own, its input empty. What it says waits in a pipe. */
struct piped start_piped(const char *path, char *const argv[]);

/*
 * Sends its output and errors to the stdout channel as they come, and reaps orphans, until it
 * ends, and then kills what is left. Returns its status. A limit of 0 is none.
 */
int finish_piped(const struct piped *piped, double limit_s);

/* Runs a program that owns the console as its terminal. */
int run_on_console(const char *path, char *const argv[]);

#endif
