/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to take a CPU out of use and to bring it back. Each opens its files before the first toggle.
 */
#ifndef HOTPLUG_WAYS_H
#define HOTPLUG_WAYS_H

/* All return 0 or -errno. */
struct way {
	const char *name;
	int (*prepare)(int cpu);
	int (*out)(void);
	int (*in)(void);
	/* What the file of the way says when the CPU is out, and in; NULL where there is no file.
	 */
	const char *says_out, *says_in;
	/* Leaves the machine as it was; the CPU is in. */
	int (*finish)(void);
};

/* NULL where there is no way of this name. */
const struct way *way_of(const char *name);

/* 0 where the way's file says this, or there is none. A write may have no effect and no error. */
int way_check(const char *says);

/* The number of tasks and interrupts that the latest `affinity` could not move: kernel threads of
 * one CPU, and interrupts that belong to one.
 */
unsigned int ways_refused(void);

#endif
