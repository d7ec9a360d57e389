/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_SCRIPT_H
#define LULL_SCRIPT_H

#include <stdbool.h>

#include "machine.h"

struct script {
	bool empty;
	double limit_s; /* simulated seconds, 0 for none */
};

/* Starts the shell, which waits for its script: a checkpoint spares each run that. */
void start_shell(enum engine engine);

/*
 * Takes the script from the host and hands it to the shell. Its limit is the one on its first
 * line, "#lull limit_s=2.5", or else the kernel parameter lull.limit_s: a checkpoint fixes the
 * latter, so gem5 needs the former.
 */
struct script fetch_script(enum engine engine);

/*
 * Lets the shell run it to its end, its output going to the stdout channel. Then everything it
 * left behind is killed. Returns its exit status, 128 + n after signal n, or STATUS_LIMIT.
 */
int run_script(const struct script *script);

/* An interactive shell on the console. */
int run_shell(void);

/* True when the kernel command line has the parameter; its value is cut to size. */
bool kernel_parameter(const char *name, char *value, size_t size);

#endif
