/* SPDX-License-Identifier: BSD-3-Clause */
/* The three system calls as they are, and what tests ask of them again and again. */
#ifndef ESM_CASES_CALLS_H
#define ESM_CASES_CALLS_H

#include <linux/input.h>
#include <linux/time_types.h>
#include <stddef.h>
#include <stdint.h>

#include "esm_abi.h"
#include "report.h"

/* All return what the kernel does, which is -errno for an error. */
int call_register(const struct esm_registration *what, size_t size, unsigned int flags);
int call_wait(void *events, size_t event_size, unsigned int count, unsigned int flags);
int call_wait_until(struct esm_event *events, unsigned int count, unsigned int flags,
		    const struct __kernel_timespec *until);
int call_fd(unsigned int flags);

int subscribe(int fd, uint16_t type, uint16_t code, uint64_t handler);
int unsubscribe(int fd, uint16_t type, uint16_t code);
/* What is there, without waiting. */
int take(struct esm_event *events, unsigned int count);

/* An event that a test expects. */
struct want {
	uint64_t handler;
	uint16_t type, code;
	int32_t value;
	uint32_t flags;
};

/* False, with notes, if these are others. */
bool events_are(const struct esm_event *events, int count, const struct want *want,
		size_t want_count);
/* These are all that is there. */
bool check_received(const char *text, const struct want *want, size_t count);
bool check_nothing(const char *text);
#define check_events(text, ...)                                  \
	check_received(text, (const struct want[]){__VA_ARGS__}, \
		       sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want))

/* result is the -errno that it should be. */
bool check_error(int result, int error, const char *text);
/* 0, or the case ends. */
void must(int result, const char *what);

#endif
