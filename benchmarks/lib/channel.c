// SPDX-License-Identifier: BSD-3-Clause
#include "channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "m5.h"
#include "sysfs.h"

#define PORTS "/sys/class/virtio-ports"

/* The driver adds its ports from a work queue, so the first programs of a boot may be early. */
#define PORT_WAIT_MS 2000

static int open_port(const char *name)
{
	DIR *ports = opendir(PORTS);
	struct dirent *port;
	int fd = -ENOENT;

	if (!ports)
		return -errno;
	while (fd == -ENOENT && (port = readdir(ports))) {
		char path[sizeof(PORTS) + sizeof(port->d_name) + sizeof("/name")];
		char found[64];

		snprintf(path, sizeof(path), PORTS "/%s/name", port->d_name);
		if (read_text(path, found, sizeof(found)) || strcmp(found, name) != 0)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", port->d_name);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	closedir(ports);
	return fd;
}

static int wait_for_port(const char *name)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	int fd = open_port(name);

	for (int waited = 0; fd == -ENOENT && waited < PORT_WAIT_MS; waited++) {
		nanosleep(&millisecond, NULL);
		fd = open_port(name);
	}
	return fd;
}

int channel_open(struct channel *channel, enum engine engine, const char *name)
{
	char port[sizeof("lull.") + sizeof(channel->file)];

	*channel = (struct channel){.engine = engine, .fd = -1};
	/* gem5 takes a bare "stdout" for its own; a path it does not. */
	if (snprintf(channel->file, sizeof(channel->file), "./%s", name) >=
	    (int)sizeof(channel->file))
		return -ENAMETOOLONG;
	snprintf(port, sizeof(port), "lull.%.*s", (int)strcspn(name, "."), name);

	switch (engine) {
	case ENGINE_GEM5:
		m5_write_file("", 0, 0, channel->file);
		return 0;
	case ENGINE_QEMU:
		channel->fd = wait_for_port(port);
		return channel->fd < 0 ? channel->fd : 0;
	default:
		return -ENODEV;
	}
}

static int write_port(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		length -= (size_t)done;
	}
	return 0;
}

int channel_write(struct channel *channel, const void *data, size_t length)
{
	switch (channel->engine) {
	case ENGINE_GEM5:
		channel->offset += m5_write_file(data, length, channel->offset, channel->file);
		return 0;
	case ENGINE_QEMU:
		return write_port(channel->fd, data, length);
	default:
		return -ENODEV;
	}
}
