// SPDX-License-Identifier: BSD-3-Clause
#include "receive.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "esm.h"
#include "events.h"
#include "handler.h"
#include "sysfs.h"

#define ESM_DIR SYS_DIR "/kernel/lull/esm/"

static struct receive_options options;
static struct events device;
static uint64_t first_look_ns;
static volatile sig_atomic_t stopped;
static unsigned int lost;
static const char *complaint;
static bool masked;
static uint32_t unnumbered;

int receive_open(const struct receive_options *asked)
{
	int error = events_open(&device);

	options = *asked;
	if (error)
		complaint = "no input device lull-event";
	return error;
}

void receive_from(uint64_t ns)
{
	first_look_ns = ns;
}

void receive_stop(void)
{
	stopped = true;
	esm_stop();
}

unsigned int receive_lost(void)
{
	return lost + device.overflows;
}

const char *receive_complaint(void)
{
	return complaint;
}

static int nothing(void)
{
	return 0;
}

static int handle_all(void)
{
	struct event event;
	int got;

	while ((got = events_next(&device, &event)) > 0) {
		/* A mask takes the serial number away. The order then is that of the queue. */
		if (options.only_keys && masked)
			event.serial = ++unnumbered;
		if (!options.only_keys || event.type == EV_KEY)
			handle(event.time_ns, event.count, event.serial, event.type);
	}
	if (got < 0)
		complaint = "reading events";
	return got;
}

/* Until the next look is due. A look that took longer than delay_us leaves some out. */
static void sleep_steadily(void)
{
	uint64_t delay_ns = options.delay_us * 1000;
	uint64_t looks = (clock_ns() - first_look_ns) / delay_ns + 1;
	const struct timespec due = clock_time(first_look_ns + looks * delay_ns);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

/* The loop that the paper calls the pull model: look, handle, sleep. */
static int pull(void)
{
	const struct timespec delay = clock_time(options.delay_us * 1000);
	int error = 0;

	while (!stopped && !error) {
		spin(options.look);
		error = handle_all();
		if (options.steady)
			sleep_steadily();
		else
			clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
	}
	return error;
}

/* What a program does today: it sleeps until the device has something. */
static int wait_by_epoll(void)
{
	struct epoll_event ready = {.events = EPOLLIN};
	int poll = epoll_create1(EPOLL_CLOEXEC), error = 0;

	complaint = "epoll";
	if (poll < 0)
		return -errno;
	if (epoll_ctl(poll, EPOLL_CTL_ADD, device.fd, &ready))
		error = -errno;
	while (!stopped && !error) {
		int count = epoll_wait(poll, &ready, 1, -1);

		if (count > 0)
			error = handle_all();
		else if (count < 0 && errno != EINTR)
			error = -errno;
	}
	close(poll);
	return error;
}

/*
 * No code of the type passes evdev to this reader, and a packet of which nothing is left does not
 * wake it.
 */
static int mask(unsigned int type)
{
	static const uint64_t none;
	const struct input_mask nothing_of = {
		.type = type,
		.codes_size = sizeof(none),
		.codes_ptr = (uint64_t)(uintptr_t)&none,
	};

	return ioctl(device.fd, EVIOCSMASK, &nothing_of) ? -errno : 0;
}

static int prepare_mask(void)
{
	int error;

	if (!options.only_keys)
		return 0;
	masked = true;
	complaint = "masking events";
	error = mask(EV_REL);
	/* What a packet says of itself comes with motions, too, and would wake the application. */
	return error ? error : mask(EV_MSC);
}

/* Of the packet that is being delivered: the event itself comes after it. 0 is not known. */
static uint32_t hardware_count;

static void on_count(const struct esm_event *event)
{
	hardware_count = (uint32_t)event->value;
}

static void on_event(const struct esm_event *event)
{
	handle(event->hardware_ns, hardware_count, (uint32_t)event->packet, event->type);
}

static void on_overflow(const struct esm_event *event)
{
	lost += (unsigned int)event->value;
}

static int esm_set(const char *file, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), ESM_DIR "%s", file);
	complaint = file;
	return write_text(path, value);
}

static int prepare_esm(void)
{
	char self[16];
	int error;

	snprintf(self, sizeof(self), "%d", getpid());
	error = esm_set("enabled", "1");
	if (!error)
		error = esm_set("dispatch", options.dispatch);
	if (!error)
		error = esm_set("foreground", self);
	if (error)
		return error;
	complaint = "registering for events";
	esm_on_overflow(on_overflow);
	if (esm_register(device.fd, EV_KEY, ESM_ANY, on_event))
		return -errno;
	if (options.only_keys)
		return 0;
	/* The wall clock is in every packet: asking for it brings those of motions, too. */
	if (esm_register(device.fd, EV_REL, ESM_ANY, on_event) ||
	    esm_register(device.fd, EV_MSC, MSC_TIMESTAMP, on_count))
		return -errno;
	return 0;
}

static int wait_by_esm(void)
{
	complaint = "waiting for events";
	while (!stopped)
		if (esm_run() && errno != EINTR)
			return -errno;
	return 0;
}

static const struct {
	const char *mode;
	struct receiver receiver;
} receivers[] = {
	{"pull", {nothing, pull}},
	{"epoll", {nothing, wait_by_epoll}},
	{"masked", {prepare_mask, wait_by_epoll}},
	{"esm", {prepare_esm, wait_by_esm}},
};

const struct receiver *receiver_named(const char *mode)
{
	for (size_t i = 0; i < sizeof(receivers) / sizeof(*receivers); i++)
		if (strcmp(mode, receivers[i].mode) == 0)
			return &receivers[i].receiver;
	return NULL;
}
