/* SPDX-License-Identifier: BSD-3-Clause */
/* What an interface does if the kernel has no memory. Only the flavour debug can be made to. */
#ifndef LULL_FAIL_EACH_H
#define LULL_FAIL_EACH_H

#include <stdbool.h>

/*
 * Calls @op with its first allocation failing, then with its second one, and so on, until @op needs
 * no more. @op returns 0 or -errno. What it did is undone by @undo, if that is not NULL.
 *
 * All return how many times ENOMEM was the answer; the first other error; or -ENOSYS if this kernel
 * lets no allocation fail.
 */
int fail_each(int (*op)(void), void (*undo)(void));
/* The same of a file that is opened. */
int fail_each_open(const char *path);
/* The same of a switch that is turned on, and stays off if there is no memory. */
int fail_each_switch(const char *path);

/* A test of what these return, by tap_ok() or check(). It is skipped if no allocation can fail. */
bool fail_check(bool (*test)(bool passed, const char *format, ...), int refused, const char *what);

#endif
