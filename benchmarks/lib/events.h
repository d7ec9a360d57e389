/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input device "lull-event", whose packets say exactly when the hardware raised them:
 * kernel-patches/platform/README.md.
 */
#ifndef LULL_EVENTS_H
#define LULL_EVENTS_H

#include <linux/input.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENTS_DIR "/sys/kernel/lull/events/"

struct event {
	/* When the hardware raised it, CLOCK_MONOTONIC. */
	uint64_t time_ns;
	/* The wall clock then, low 32 bits. */
	uint32_t count;
	/* Its number in the schedule, from 1; 0 for the release of a key when a schedule is
	 * stopped, which no schedule asked for. */
	uint32_t serial;
	uint16_t type;
	uint16_t code;
	int32_t value;
};

struct events {
	int fd;
	/* Packets that the kernel had no room for, as often as it said so. */
	unsigned int overflows;
	/* private: */
	struct input_event buffer[64];
	unsigned int used, at;
	struct event event;
	uint32_t raw;
	bool has_raw, skipping, drained;
};

/* Opens the device; its reads do not block. 0, -ENOENT without such a device, -errno. */
int events_open(struct events *events);
void events_close(struct events *events);
/* The next event: 1, 0 if there is none yet, -errno. */
int events_next(struct events *events, struct event *event);

#endif
