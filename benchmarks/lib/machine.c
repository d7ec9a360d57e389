// SPDX-License-Identifier: BSD-3-Clause
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LULL_NODE "/proc/device-tree/lull/"

int read_text(const char *path, char *text, size_t size)
{
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t got = read(fd, text + used, size - 1 - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			close(fd);
			text[0] = '\0';
			return -error;
		}
		if (got == 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	while (used > 0 && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return 0;
}

int write_text(const char *path, const char *text)
{
	size_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;
	int error = 0;

	if (fd < 0)
		return -errno;
	do {
		done = write(fd, text, length);
	} while (done < 0 && errno == EINTR);
	if (done < 0)
		error = -errno;
	else if ((size_t)done != length)
		error = -EIO;
	close(fd);
	return error;
}

void machine_property(const char *property, char *value, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), LULL_NODE "%s", property);
	read_text(path, value, size);
}

enum engine machine_engine(void)
{
	char name[16];

	machine_property("engine", name, sizeof(name));
	if (strcmp(name, "gem5") == 0)
		return ENGINE_GEM5;
	if (strcmp(name, "qemu") == 0)
		return ENGINE_QEMU;
	return ENGINE_UNKNOWN;
}

const char *engine_name(enum engine engine)
{
	static const char *const names[] = {
		[ENGINE_UNKNOWN] = "unknown",
		[ENGINE_GEM5] = "gem5",
		[ENGINE_QEMU] = "qemu",
	};

	return names[engine];
}
