// SPDX-License-Identifier: BSD-3-Clause
/* The kernel has no memory: what was asked for does not happen, and all else stays as it was. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "fail_each.h"
#include "system.h"

#define HANDLER 0xf0

static struct device device;
static int evdev, events = -1;
static char foreground_before[64];

static int register_one(void)
{
	return subscribe(evdev, EV_KEY, ESM_ANY, HANDLER);
}

static void unregister_one(void)
{
	must(unsubscribe(evdev, EV_KEY, ESM_ANY), "remove a registration");
}

static int open_events(void)
{
	events = call_fd(0);
	return events < 0 ? events : 0;
}

static void close_events(void)
{
	close(events);
}

static int add_init(void)
{
	int error = foreground_write((const pid_t[]){getpid(), 1}, 2);
	char now[64];

	if (error &&
	    (system_read("foreground", now, sizeof(now)) || strcmp(now, foreground_before) != 0))
		return -EPROTO;
	return error;
}

static void remove_init(void)
{
	foreground(getpid());
}

void case_memory(void)
{
	device_create(&device, "lull-esm-test");
	evdev = open(device.path, O_RDONLY | O_CLOEXEC);
	if (evdev < 0)
		give_up("cannot open %s: %s", device.path, strerror(errno));
	fail_check(check, fail_each(register_one, unregister_one), "no memory for a registration");
	must(register_one(), "register");
	fail_check(check, fail_each(open_events, close_events), "no memory for a file");
	must(system_read("foreground", foreground_before, sizeof(foreground_before)),
	     "read the foreground");
	fail_check(check, fail_each(add_init, remove_init),
		   "no memory for a foreground, which stays as it was");

	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("an event comes to who has registered", {.handler = HANDLER,
							      .type = EV_KEY,
							      .code = KEY_A,
							      .value = 1,
							      .flags = ESM_EVENT_LAST});
	device_send(&device, EV_KEY, KEY_A, 0);
	close(evdev);
	device_destroy(&device);
}
