// SPDX-License-Identifier: BSD-3-Clause
/* Devices that go away or are taken away, what evdev does meanwhile, and the switch. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "sysfs.h"
#include "system.h"
#include "waiter.h"

#define HANDLER 0x80

static struct device device;
static int inherited;

static void removal_ends_wait(void)
{
	struct waiter waiter;
	struct device other;

	device_create(&other, "lull-esm-other");
	waiter = waiter_start_in_foreground(&(struct waiter_setup){.device = &other});
	check_waits(&waiter, "one waits at a device");
	device_destroy(&other);
	check_error(waiter_finish(&waiter).received, ENODEV, "which goes away");
}

static void what_came_before(int fd)
{
	struct device other;
	int other_fd;

	device_create(&other, "lull-esm-other");
	other_fd = device_open(&other, O_RDONLY);
	must(subscribe(other_fd, EV_MSC, ESM_ANY, HANDLER), "register at another");
	device_send(&other, EV_MSC, MSC_SERIAL, 1);
	device_destroy(&other);
	check_events("what came before is delivered",
		     {HANDLER, EV_MSC, MSC_SERIAL, 1, ESM_EVENT_LAST});
	check_error(take(&(struct esm_event){0}, 1), ENODEV, "and then that it is gone");
	check_error(subscribe(other_fd, EV_MSC, ESM_ANY, HANDLER), ENODEV, "a device that is gone");
	close(other_fd);

	device_create(&other, "lull-esm-other");
	other_fd = device_open(&other, O_RDONLY);
	must(subscribe(other_fd, EV_MSC, ESM_ANY, HANDLER), "register at another");
	must(subscribe(fd, EV_MSC, ESM_ANY, HANDLER + 1), "register at one");
	device_destroy(&other);
	device_send(&device, EV_MSC, MSC_SERIAL, 2);
	check_events("who has another device goes on",
		     {HANDLER + 1, EV_MSC, MSC_SERIAL, 2, ESM_EVENT_LAST});
	check_nothing("and waits for it");
	must(unsubscribe(fd, EV_MSC, ESM_ANY), "take it away");
	close(other_fd);
}

static int begin_revoked(int fd)
{
	int result = subscribe(fd, EV_KEY, ESM_ANY, WAITER_HANDLER);

	return result ? result : ioctl(fd, EVIOCREVOKE, NULL) ? -errno : 0;
}

static void revocation_ends_registrations(int fd)
{
	int revoked = device_open(&device, O_RDONLY);
	struct waiter waiter = waiter_start_in_foreground(
		&(struct waiter_setup){.device = &device, .begin = begin_revoked});
	struct outcome outcome = waiter_finish(&waiter);

	check_error(outcome.received, ENODEV, "who waits with a file that is revoked");
	foreground(getpid());
	must(subscribe(revoked, EV_KEY, ESM_ANY, HANDLER), "register");
	must(subscribe(fd, EV_REL, ESM_ANY, HANDLER + 1), "register with another file");
	device_send(&device, EV_KEY, KEY_A, 1);
	must(ioctl(revoked, EVIOCREVOKE, NULL) ? -errno : 0, "revoke");
	device_send(&device, EV_KEY, KEY_A, 0);
	device_send(&device, EV_REL, REL_X, 1);
	check_events("a revoked file brings no more events, but another of the same device does",
		     {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER + 1, EV_REL, REL_X, 1, ESM_EVENT_LAST});
	check_error(subscribe(revoked, EV_KEY, ESM_ANY, HANDLER), ENODEV, "a revoked file");
	must(unsubscribe(fd, EV_REL, ESM_ANY), "take the other away");
	close(revoked);
}

static void descriptor_may_be_closed(void)
{
	int fd = device_open(&device, O_RDONLY);

	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	close(fd);
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("a registration holds the file", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
	fd = device_open(&device, O_RDONLY);
	check(unsubscribe(fd, EV_KEY, ESM_ANY) == 0, "which another file of the device ends");
	close(fd);
}

void case_devices(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	removal_ends_wait();
	what_came_before(fd);
	revocation_ends_registrations(fd);
	descriptor_may_be_closed();
	device_destroy(&device);
}

/* How many values evdev has for a reader that does not wait. */
static int unread(int fd)
{
	struct input_event values[64];
	struct pollfd file = {.fd = fd, .events = POLLIN};
	ssize_t size;

	if (poll(&file, 1, 0) < 1)
		return 0;
	size = read(fd, values, sizeof(values));
	return size < 0 ? -errno : (int)((size_t)size / sizeof(values[0]));
}

/* Whether evdev tells a reader that events went elsewhere, and nothing else. */
static bool told_of_loss(int fd)
{
	struct pollfd file = {.fd = fd, .events = POLLIN};
	struct input_event values[3];

	return poll(&file, 1, 0) == 1 &&
	       read(fd, values, sizeof(values)) == (ssize_t)(2 * sizeof(values[0])) &&
	       values[0].type == EV_SYN && values[0].code == SYN_DROPPED &&
	       values[1].type == EV_SYN && values[1].code == SYN_REPORT;
}

static void evdev_keeps_quiet(int fd)
{
	int other = device_open(&device, O_RDONLY | O_NONBLOCK);

	must(subscribe(fd, EV_KEY, KEY_A, HANDLER), "register for A");
	must(subscribe(fd, EV_KEY, KEY_B, HANDLER), "register for B");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("who registered is told", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	check(unread(fd) == 0, "and not by evdev too");
	check(unread(other) == 2, "whose other readers are");
	must(unsubscribe(fd, EV_KEY, KEY_A), "take A away");
	device_send(&device, EV_KEY, KEY_A, 0);
	check(unread(fd) == 0, "nor while one registration is left");
	must(subscribe(fd, EV_KEY, KEY_B, HANDLER + 1), "replace B");
	check(unread(fd) == 0, "nor when that is replaced");
	must(unsubscribe(fd, EV_KEY, KEY_B), "take B away");
	check(told_of_loss(fd), "then its reader is told that it has missed something");
	check(unread(other) == 2, "and others are not");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(unread(fd) == 2, "without registrations evdev is as ever");
	device_send(&device, EV_KEY, KEY_A, 0);
	check(unread(fd) == 2 && unread(other) == 4, "for all");
	close(other);
}

static int begin_with_inherited(int fd)
{
	(void)fd;
	return subscribe(inherited, EV_KEY, ESM_ANY, WAITER_HANDLER);
}

static void one_file_of_two_processes(int fd)
{
	struct waiter waiter;

	inherited = fd;
	waiter = waiter_start_in_foreground(
		&(struct waiter_setup){.device = &device, .begin = begin_with_inherited});
	await_state(waiter.pid, EV_WAIT);
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&waiter, "a child registers with the file it inherited", KEY_A);
	check(told_of_loss(fd), "when it ends, the parent is told that it has missed something");
	device_send(&device, EV_KEY, KEY_A, 0);
	check(unread(fd) == 2, "and then what comes");
}

static void grabbed_by_another(int fd)
{
	int other = device_open(&device, O_RDONLY | O_NONBLOCK);

	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	must(ioctl(other, EVIOCGRAB, 1) ? -errno : 0, "grab");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_nothing("who grabs a device has it for itself");
	check(unread(other) == 4, "and is told");
	must(ioctl(other, EVIOCGRAB, 0) ? -errno : 0, "release");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("released, it is for all", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	close(other);
}

static void grabbed_by_oneself(int fd)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	uint64_t waits;

	await_state(waiter.pid, EV_WAIT);
	waits = asleep(waiter.pid);
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	must(ioctl(fd, EVIOCGRAB, 1) ? -errno : 0, "grab");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("who grabs and registers gets events",
		     {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
	check(slept_on(waiter.pid, waits), "and others do not");
	must(ioctl(fd, EVIOCGRAB, 0) ? -errno : 0, "release");
	device_send(&device, EV_KEY, KEY_B, 1);
	check_woken_by(&waiter, "before it is released", KEY_B);
	device_send(&device, EV_KEY, KEY_B, 0);
	check_events("then each once", {HANDLER, EV_KEY, KEY_B, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_B, 0, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
}

void case_evdev(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY | O_NONBLOCK);
	evdev_keeps_quiet(fd);
	one_file_of_two_processes(fd);
	grabbed_by_another(fd);
	grabbed_by_oneself(fd);
	device_destroy(&device);
}

static void refused_settings(void)
{
	char before[16], now[32];

	must(system_read("dispatch", before, sizeof(before)), "read dispatch");
	check_error(system_write("dispatch", "never"), EINVAL, "a way of dispatch that is none");
	check_error(system_write("dispatch", "direct"), EBUSY,
		    "a way of dispatch while somebody is registered");
	check(!system_read("dispatch", now, sizeof(now)) && strcmp(now, before) == 0,
	      "leaves it as it was");
	check_error(system_write("enabled", "2"), EINVAL, "a switch has two positions");
	check_error(system_write("dispatcher_cpus", "1000"), EINVAL, "a CPU that is not there");
	check_error(system_write("dispatcher_cpus", "x"), EINVAL, "a list that is none");
}

/* The thread of that name, 0 if there is none. */
static pid_t find_thread(const char *name)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char path[300], now[32];
	pid_t found = 0;

	while (processes && !found && (entry = readdir(processes))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (!read_text(path, now, sizeof(now)) && strcmp(now, name) == 0)
			found = atoi(entry->d_name);
	}
	if (processes)
		closedir(processes);
	return found;
}

static void dispatcher_is_there(void)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	char name[32], mode[16], cpus[32], before[32];
	pid_t thread;

	await_state(waiter.pid, EV_WAIT);
	must(system_read("dispatch", mode, sizeof(mode)), "read dispatch");
	must(system_read("dispatcher_cpus", before, sizeof(before)), "read dispatcher_cpus");
	snprintf(name, sizeof(name), "esm/%d", waiter.pid);
	thread = find_thread(name);
	check(!thread == !strcmp(mode, "direct"), "there is %s %s",
	      strcmp(mode, "direct") ? "a thread" : "no thread", name);
	if (thread) {
		system_set("dispatcher_cpus", "1");
		task_status(thread, "Cpus_allowed_list", cpus, sizeof(cpus));
		check(strcmp(cpus, "1") == 0, "it may be kept on one CPU");
	}
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&waiter, "that is how one is woken", KEY_A);
	device_send(&device, EV_KEY, KEY_A, 0);
	check(!find_thread(name), "it goes with its application");
	system_set("dispatcher_cpus", before);
	foreground(getpid());
}

void case_switch(void)
{
	struct waiter waiter;
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	dispatcher_is_there();
	waiter = waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	device_send(&device, EV_REL, REL_X, 1);
	refused_settings();
	check_waits(&waiter, "one waits");
	system_set("enabled", "0");
	check_error(waiter_finish(&waiter).received, EOPNOTSUPP,
		    "who waits when it is switched off");
	check_error(take(&(struct esm_event){0}, 1), EOPNOTSUPP, "who waits then");
	while (unread(fd))
		;
	check_error(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), EOPNOTSUPP, "who registers then");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(unread(fd) == 2, "evdev has all events for itself");
	check(foreground_write((pid_t[]){getpid()}, 1) == 0, "the foreground can be set");
	system_set("enabled", "1");
	device_send(&device, EV_KEY, KEY_A, 0);
	check_error(take(&(struct esm_event){0}, 1), ENODEV, "switched on, nobody is registered");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("and all is as before", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	device_destroy(&device);
}
