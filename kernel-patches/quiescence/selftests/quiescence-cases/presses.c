// SPDX-License-Identifier: BSD-3-Clause
/* Whose path it is if a key is pressed while the path waits, and if two programs read a press. */
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "events.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "system.h"

/* Returns when this program has read a press. It is a real-time task, and so never held. */
static void read_press(struct events *events)
{
	struct pollfd ready = {.fd = events->fd, .events = POLLIN};
	struct event event = {0};
	int got;

	do {
		got = events_next(events, &event);
		if (got < 0 || (!got && poll(&ready, 1, 20000) != 1))
			bail("no key is pressed");
	} while (!got || event.type != EV_KEY || event.value != 1);
}

void test_presses(void)
{
	struct events events;
	unsigned long by_path;
	uint64_t read;
	bool held;

	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	held = press_and_hold(CHAIN);
	/* Of a press before this it is not told. */
	must(events_open(&events), "read keys");
	clock_sleep(SLACK_MS * MS);
	by_path = stat_of("by_path");
	press(CHAIN);
	read_press(&events);
	read = clock_ns();
	check(held && stat_of("by_path") == by_path + 1, "a new press ends a hold");
	check(on_path(getpid()) && !on_path(ui) && !on_path(net), "and begins a new path");
	clock_sleep(SLACK_MS * MS);
	check(ran(SLEEPER, read, clock_ns()) && network_waits(),
	      "others go on, though the path before still waits");
	/* The consumer reads the new press only now. */
	finish();
	check(on_path(ui) && !on_path(getpid()), "the path begins with who reads a press last");
	finish();

	clock_sleep(2 * LONG_MS * MS);
	held = press_and_hold(CHAIN);
	by_path = stat_of("by_path");
	read_press(&events);
	check(held && stat_of("by_path") == by_path + 1 && on_path(getpid()) && !on_path(ui),
	      "also if two programs read the same press, which ends the hold of the first one");
	finish();
	events_close(&events);
	atomic_store(&shared->wait_ms, WAIT_MS);
	clock_sleep(2 * LONG_MS * MS);
}
