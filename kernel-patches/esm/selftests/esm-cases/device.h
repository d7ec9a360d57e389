/* SPDX-License-Identifier: BSD-3-Clause */
/* Input devices that a test makes by uinput. Who sends has been interpreted when it returns. */
#ifndef ESM_CASES_DEVICE_H
#define ESM_CASES_DEVICE_H

#include <linux/input.h>
#include <stddef.h>
#include <stdint.h>

struct device {
	int uinput;
	char name[32];
	char path[300];
};

/* A keyboard with the keys up to KEY_M, motion, and MSC_SERIAL for any number. */
void device_create(struct device *device, const char *name);
/* It goes away as if it had been unplugged. */
void device_destroy(struct device *device);
/* Every reader of the device has a descriptor of its own. */
int device_open(const struct device *device, int flags);

/* A packet of one value. */
void device_send(const struct device *device, uint16_t type, uint16_t code, int32_t value);
/* As it is: packets end with SYN_REPORT. A time that is not 0 is CLOCK_MONOTONIC. */
void device_send_values(const struct device *device, const struct input_event *values,
			size_t count);
/* So many packets of MSC_SERIAL, which count on from the first. */
void device_send_serials(const struct device *device, int32_t first, unsigned int count);

#endif
