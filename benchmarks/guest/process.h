/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_PROCESS_H
#define LULL_PROCESS_H

/*
 * Runs a program in a session of its own, its input empty, its output and errors sent to the
 * stdout channel as they come. Reaps orphans meanwhile; kills what is left when it has ended.
 * A limit of 0 is none.
 */
int run_piped(const char *path, char *const argv[], double limit_s);

/* Runs a program that owns the console as its terminal. */
int run_on_console(const char *path, char *const argv[]);

#endif
