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

#endif
