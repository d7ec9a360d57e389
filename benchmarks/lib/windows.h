/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of gem5's statistics, one after the other. */
#ifndef LULL_WINDOWS_H
#define LULL_WINDOWS_H

#include <stdint.h>

struct windows {
	/* From the order to the first window, and of each window. */
	uint64_t settle_us, window_us;
	uint64_t windows;
};

/*
 * The simulator opens and closes the windows by itself, so that no program runs for that. Nothing
 * happens on another engine.
 */
void windows_order(const struct windows *times);

/*
 * Writes a line for each window, by which an analysis finds them: ordered is the counter when they
 * were ordered. 0 or -errno.
 */
int windows_save(const char *path, const struct windows *times, uint64_t ordered);

#endif
