/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_SCRIPT_H
#define LULL_SCRIPT_H

#include <stdbool.h>

#include "machine.h"

struct script {
	bool empty;
	double limit_s; /* simulated seconds, 0 for none */
};

/*
 * Takes the script from the host. Its limit is the one on its first line, "#lull limit_s=2.5",
 * or else the kernel parameter lull.limit_s: a checkpoint fixes the latter, so gem5 needs the
 * former.
 */
struct script fetch_script(enum engine engine);

/*
 * Runs it with its output going to the stdout channel. When it ends, everything it left behind
 * is killed. Returns its exit status, 128 + n after signal n, or STATUS_LIMIT.
 */
int run_script(const struct script *script, enum engine engine);

/* An interactive shell on the console. */
int run_shell(enum engine engine);

/* True when the kernel command line has the parameter; its value is cut to size. */
bool kernel_parameter(const char *name, char *value, size_t size);

#endif
