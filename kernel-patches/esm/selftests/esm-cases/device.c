// SPDX-License-Identifier: BSD-3-Clause
#include "device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"

#define VIRTUAL_INPUT "/sys/devices/virtual/input"

/* uinput takes as many as there are; a page at a time is plenty. */
#define SERIALS_AT_ONCE 64

static void find_path(struct device *device)
{
	char number[32], folder[sizeof(VIRTUAL_INPUT) + sizeof(number)];
	struct dirent *entry;
	DIR *directory;

	if (ioctl(device->uinput, UI_GET_SYSNAME(sizeof(number)), number) < 0)
		give_up("a new input device has no name: %s", strerror(errno));
	snprintf(folder, sizeof(folder), VIRTUAL_INPUT "/%s", number);
	directory = opendir(folder);
	while (directory && (entry = readdir(directory)))
		if (strncmp(entry->d_name, "event", 5) == 0)
			snprintf(device->path, sizeof(device->path), "/dev/input/%s",
				 entry->d_name);
	if (directory)
		closedir(directory);
	if (!*device->path)
		give_up("evdev does not know %s", number);
}

void device_create(struct device *device, const char *name)
{
	struct uinput_setup setup = {.id.bustype = BUS_VIRTUAL};
	int fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC), failed = 0;

	*device = (struct device){.uinput = fd};
	if (fd < 0)
		give_up("cannot open /dev/uinput: %s", strerror(errno));
	snprintf(device->name, sizeof(device->name), "%s", name);
	snprintf(setup.name, sizeof(setup.name), "%s", name);
	failed |= ioctl(fd, UI_SET_EVBIT, EV_KEY);
	for (int key = 1; key <= KEY_M; key++)
		failed |= ioctl(fd, UI_SET_KEYBIT, key);
	failed |= ioctl(fd, UI_SET_EVBIT, EV_REL);
	failed |= ioctl(fd, UI_SET_RELBIT, REL_X);
	failed |= ioctl(fd, UI_SET_RELBIT, REL_Y);
	failed |= ioctl(fd, UI_SET_EVBIT, EV_MSC);
	failed |= ioctl(fd, UI_SET_MSCBIT, MSC_SERIAL);
	failed |= ioctl(fd, UI_DEV_SETUP, &setup);
	failed |= ioctl(fd, UI_DEV_CREATE);
	if (failed)
		give_up("cannot create an input device: %s", strerror(errno));
	find_path(device);
}

void device_destroy(struct device *device)
{
	if (ioctl(device->uinput, UI_DEV_DESTROY))
		give_up("cannot destroy %s: %s", device->name, strerror(errno));
	close(device->uinput);
	device->uinput = -1;
}

int device_open(const struct device *device, int flags)
{
	int fd = open(device->path, flags | O_CLOEXEC);

	if (fd < 0)
		give_up("cannot open %s: %s", device->path, strerror(errno));
	return fd;
}

void device_send_values(const struct device *device, const struct input_event *values, size_t count)
{
	size_t size = count * sizeof(*values);

	if (write(device->uinput, values, size) != (ssize_t)size)
		give_up("cannot send events of %s: %s", device->name, strerror(errno));
}

void device_send(const struct device *device, uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event packet[] = {
		{.type = type, .code = code, .value = value},
		{.type = EV_SYN, .code = SYN_REPORT},
	};

	device_send_values(device, packet, 2);
}

void device_send_serials(const struct device *device, int32_t first, unsigned int count)
{
	struct input_event packets[2 * SERIALS_AT_ONCE] = {0};
	unsigned int used = 0;

	for (unsigned int i = 0; i < count; i++) {
		packets[used++] = (struct input_event){
			.type = EV_MSC, .code = MSC_SERIAL, .value = first + (int32_t)i};
		packets[used++] = (struct input_event){.type = EV_SYN, .code = SYN_REPORT};
		if (used == 2 * SERIALS_AT_ONCE || i + 1 == count) {
			device_send_values(device, packets, used);
			used = 0;
		}
	}
}
