/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a phone whose screen is scrolled: a frame after the other, and work in the
 * background. */
#ifndef HOTPLUG_SCROLL_H
#define HOTPLUG_SCROLL_H

#include <stdint.h>

struct scroll {
	uint64_t frame_us;
	/* Steps of arithmetic for each frame: of the thread that handles input, of the one that
	 * renders, and of each that draws tiles.
	 */
	uint64_t ui_steps, render_steps, raster_steps, raster_threads;
	/* Threads that sleep for a random time with this mean, and then do so many steps. */
	uint64_t background_threads, background_us, background_steps;
	/* Real-time threads that run once in so many microseconds, as an audio server does. */
	uint64_t rt_threads, rt_us, rt_steps;
	uint64_t seed;
};

struct frames {
	uint64_t count;
	/* From the time when a frame was due to its last tile. */
	uint64_t sum_ns, most_ns;
};

/* 0 or -errno. */
int scroll_start(const struct scroll *scroll);
/* The frames since the latest call. */
struct frames scroll_frames(void);
void scroll_stop(void);

#endif
