/* SPDX-License-Identifier: BSD-3-Clause */
/* An application in a process of its own, which registers, waits once, and says what it got. */
#ifndef ESM_CASES_WAITER_H
#define ESM_CASES_WAITER_H

#include <linux/input.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "esm_abi.h"

#define WAITER_EVENTS 32

/* Handlers that waiters register. */
#define WAITER_HANDLER 0x77

struct waiter_setup {
	const struct device *device;
	/* It handles SIGUSR1; by SA_RESTART if that is so. */
	bool handles, restarts;
	/* So many events at a time, 0 for all. */
	unsigned int count;
	/* Instead of registering for all of EV_KEY. Its result is registering's. */
	int (*begin)(int fd);
	/* Who it is, 0 for root. */
	uid_t user;
};

struct outcome {
	int registered, received, signals;
	struct esm_event events[WAITER_EVENTS];
};

struct waiter {
	pid_t pid;
	int answer;
};

/* It has registered, and waits or is about to. */
struct waiter waiter_start(const struct waiter_setup *setup);
/* It does nothing before the foreground has it. The others stay there: at most the caller. */
struct waiter waiter_start_in_foreground(const struct waiter_setup *setup);
/* Once its wait is over; and it is gone. */
struct outcome waiter_finish(struct waiter *waiter);
/* Whatever it does. */
void waiter_kill(struct waiter *waiter);
/* It came back with these keys pressed, one an event. */
bool check_woken_by(struct waiter *waiter, const char *text, uint16_t key);
bool check_waits(const struct waiter *waiter, const char *text);

#endif
