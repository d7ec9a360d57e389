/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that a run plays, and the generator that plays them (kernel-patches/platform). */
#ifndef INPUT_APP_PLAN_H
#define INPUT_APP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* How often; 0 for never. A key and a click are pressed and released. */
struct rates {
	uint64_t keys_per_minute, clicks_per_second, moves_per_second;
};

/* The run in microseconds from its start: settling, then windows that follow each other. */
struct times {
	uint64_t settle_us, window_us, windows;
};

/* Where in its interval an event comes: `after_us` after a multiple of `look_us`, or anywhere. */
struct places {
	bool random;
	uint64_t look_us, after_us;
};

/*
 * Loads what is to be played, and returns how many events that is, or -errno. The events of each
 * kind come one in each interval of 1 / rate, at a random place within it, so that a window has as
 * many as its rate says and none has a fixed phase to anything. Those that begin in window n are of
 * seed + n. With a fixed place, an event comes after the first look that begins in its interval,
 * and is released a whole number of looks later: all come with the same phase to the looks. A few
 * keys while it settles warm up what handles them.
 */
int plan_load(const struct rates *rates, const struct times *times, const struct places *places,
	      uint64_t seed);

/* How many of them come in a window. */
unsigned int plan_windowed(const struct times *times, bool only_keys);

/* Starts and stops the play; the moment of the start is the run's. 0 or -errno. */
int plan_play(bool on);

#endif
