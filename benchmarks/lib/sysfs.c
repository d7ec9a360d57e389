// SPDX-License-Identifier: BSD-3-Clause
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What read() or pread() put into a text. */
static int ended(ssize_t got, char *text)
{
	size_t used = got > 0 ? (size_t)got : 0;

	while (used > 0 && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return got < 0 ? -errno : 0;
}

int read_text_of(int fd, char *text, size_t size)
{
	return ended(pread(fd, text, size - 1, 0), text);
}

int read_number_of(int fd, uint64_t *number)
{
	char text[32];
	char *end;
	int error = read_text_of(fd, text, sizeof(text));

	if (error)
		return error;
	*number = strtoull(text, &end, 10);
	return end == text || *end ? -EINVAL : 0;
}

static int write_to(int fd, const char *text)
{
	size_t length = strlen(text);
	ssize_t done = write(fd, text, length);

	if (done < 0)
		return -errno;
	return (size_t)done == length ? 0 : -EIO;
}

int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	/* In debugfs, some files have no place to read at. */
	error = ended(read(fd, text, size - 1), text);
	close(fd);
	return error;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = write_to(fd, text);
	close(fd);
	return error;
}

int exchange_text_of(int fd, const char *text, char *now, size_t size)
{
	int error = write_to(fd, text);

	now[0] = '\0';
	return error ? error : read_text_of(fd, now, size);
}

int exchange_text(const char *path, const char *text, char *now, size_t size)
{
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
	int error;

	now[0] = '\0';
	if (fd < 0)
		return -errno;
	error = exchange_text_of(fd, text, now, size);
	close(fd);
	return error;
}

int read_count(const char *path, const char *word, uint64_t *number)
{
	size_t length = strlen(word);
	char text[512];
	int error = read_text(path, text, sizeof(text));

	for (char *at = error ? NULL : text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, word, length) || at[length] != ' ')
			continue;
		*number = strtoull(at + length, NULL, 10);
		return 0;
	}
	return error ? error : -ENOENT;
}
