// SPDX-License-Identifier: BSD-3-Clause
#include "events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define INPUT_DIR "/dev/input"
#define DEVICE "lull-event"

static int open_if_ours(const char *name)
{
	char path[sizeof(INPUT_DIR) + 256], device[sizeof(DEVICE) + 1] = "";
	int fd, error;

	snprintf(path, sizeof(path), INPUT_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, EVIOCGNAME(sizeof(device)), device) >= 0 && strcmp(device, DEVICE) == 0)
		return fd;
	error = -ENOENT;
	close(fd);
	return error;
}

int events_open(struct events *events)
{
	DIR *directory = opendir(INPUT_DIR);
	int clock = CLOCK_MONOTONIC, fd = -ENOENT, error = -ENOENT;
	struct dirent *entry;

	*events = (struct events){.fd = -1};
	if (!directory)
		return -errno;
	while (fd < 0 && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, "event", 5) != 0)
			continue;
		fd = open_if_ours(entry->d_name);
		if (fd < 0 && fd != -ENOENT)
			error = fd;
	}
	closedir(directory);
	if (fd < 0)
		return error;
	if (ioctl(fd, EVIOCSCLOCKID, &clock)) {
		error = -errno;
		close(fd);
		return error;
	}
	events->fd = fd;
	return 0;
}

void events_close(struct events *events)
{
	close(events->fd);
	events->fd = -1;
}

/* evdev cut the time to microseconds; the raw value has the nanoseconds, of 32 bits. */
static uint64_t exact_time(const struct events *events, const struct input_event *end)
{
	uint64_t cut = (uint64_t)end->input_event_sec * 1000000000 +
		       (uint64_t)end->input_event_usec * 1000;

	return events->has_raw ? cut + (uint32_t)(events->raw - (uint32_t)cut) : cut;
}

static void take(struct events *events, const struct input_event *input)
{
	struct event *event = &events->event;

	if (input->type == EV_KEY || input->type == EV_REL) {
		event->type = input->type;
		event->code = input->code;
		event->value = input->value;
	} else if (input->type == EV_MSC && input->code == MSC_SERIAL) {
		event->serial = (uint32_t)input->value;
	} else if (input->type == EV_MSC && input->code == MSC_TIMESTAMP) {
		event->count = (uint32_t)input->value;
	} else if (input->type == EV_MSC && input->code == MSC_RAW) {
		events->raw = (uint32_t)input->value;
		events->has_raw = true;
	}
}

int events_next(struct events *events, struct event *event)
{
	for (;;) {
		const struct input_event *input;

		if (events->at == events->used) {
			ssize_t size;

			/* What filled only a part of the buffer was all: no need to ask again. */
			if (events->drained) {
				events->drained = false;
				return 0;
			}
			size = read(events->fd, events->buffer, sizeof(events->buffer));

			if (size < 0 && errno == EINTR)
				continue;
			if (size < 0)
				return errno == EAGAIN ? 0 : -errno;
			events->at = 0;
			events->used = (unsigned int)((size_t)size / sizeof(*input));
			if (!events->used)
				return 0;
			events->drained = (size_t)size < sizeof(events->buffer);
		}
		input = &events->buffer[events->at++];
		if (input->type == EV_SYN && input->code == SYN_DROPPED) {
			/* What follows, up to the next end, is a part of a packet. */
			events->overflows++;
			events->skipping = true;
			continue;
		}
		if (input->type != EV_SYN || input->code != SYN_REPORT) {
			take(events, input);
			continue;
		}
		events->event.time_ns = exact_time(events, input);
		*event = events->event;
		events->event = (struct event){0};
		events->has_raw = false;
		if (!events->skipping)
			return 1;
		events->skipping = false;
	}
}
