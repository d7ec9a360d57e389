/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which an application gets its events. */
#ifndef INPUT_APP_RECEIVE_H
#define INPUT_APP_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

struct receiver {
	/* Gets ready; 0 or -errno. */
	int (*prepare)(void);
	/* Handles events until receive_stop(); 0 or -errno. */
	int (*run)(void);
};

/* NULL for a name that is none. */
const struct receiver *receiver_named(const char *mode);

struct receive_options {
	/* Of a poll: the sleep between two looks, and the steps of arithmetic in a look. */
	uint64_t delay_us, look;
	/* Looks begin delay_us apart, from receive_from() on, however long a look takes. */
	bool steady;
	/* Of ESM: how events are handed over. */
	const char *dispatch;
	/* Motions are not what the application is about: it does not handle them. */
	bool only_keys;
};

/* Opens the device, whatever the mode. 0 or -errno. */
int receive_open(const struct receive_options *options);

/* Steady looks begin at this moment of CLOCK_MONOTONIC. */
void receive_from(uint64_t ns);

/* In a signal handler, which is called again until run() is back. */
void receive_stop(void);

/* Events that the kernel had no room for, as far as it says how many. */
unsigned int receive_lost(void);

/* Why prepare() or run() failed, or NULL: what could not be done. */
const char *receive_complaint(void);

#endif
