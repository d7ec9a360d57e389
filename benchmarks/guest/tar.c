// SPDX-License-Identifier: BSD-3-Clause
#include "tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512
#define LONG_NAME "././@LongLink"
/* What eleven octal digits hold. */
#define SIZE_LIMIT (INT64_C(1) << 33)

struct header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[8];
	char user[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

struct writer {
	tar_sink sink;
	void *context;
	bool empty;
	dev_t device;
	size_t used;
	char *failed;
	char buffer[1 << 16]; /* each call of the sink is a trip to the host */
};

static int flush(struct writer *writer)
{
	int error = 0;

	if (writer->used > 0)
		error = writer->sink(writer->context, writer->buffer, writer->used);
	writer->used = 0;
	return error;
}

/* data NULL stands for zeros. */
static int put(struct writer *writer, const void *data, size_t length)
{
	const char *from = data;

	while (length > 0) {
		size_t room = sizeof(writer->buffer) - writer->used;
		size_t part = length < room ? length : room;

		if (from) {
			memcpy(writer->buffer + writer->used, from, part);
			from += part;
		} else {
			memset(writer->buffer + writer->used, 0, part);
		}
		writer->used += part;
		length -= part;
		if (writer->used == sizeof(writer->buffer)) {
			int error = flush(writer);

			if (error)
				return error;
		}
	}
	return 0;
}

static int put_padding(struct writer *writer, uint64_t length)
{
	return put(writer, NULL, (size_t)(-length % BLOCK));
}

/* Cut, and without a final NUL, where text is too long: the long-name record has it whole. */
static void set_field(char *field, size_t size, const char *text)
{
	memcpy(field, text, strnlen(text, size));
}

static void set_octal(char *field, size_t size, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%0*jo", (int)size - 1, (uintmax_t)value);
	memcpy(field, digits, size);
}

static int put_header(struct writer *writer, char type, const char *name, const char *link,
		      mode_t mode, uint64_t size)
{
	struct header header = {.type = type};
	unsigned int sum = 0;

	set_field(header.name, sizeof(header.name), name);
	set_field(header.link, sizeof(header.link), link);
	set_octal(header.mode, sizeof(header.mode), mode & 07777);
	set_octal(header.uid, sizeof(header.uid), 0);
	set_octal(header.gid, sizeof(header.gid), 0);
	set_octal(header.size, sizeof(header.size), size);
	set_octal(header.mtime, sizeof(header.mtime), 0);
	memcpy(header.magic, "ustar  ", 8);

	memset(header.checksum, ' ', sizeof(header.checksum));
	for (size_t i = 0; i < sizeof(header); i++)
		sum += ((const unsigned char *)&header)[i];
	set_octal(header.checksum, 7, sum);
	return put(writer, &header, sizeof(header));
}

static int put_long(struct writer *writer, char type, const char *text)
{
	size_t size = strlen(text) + 1;
	int error = put_header(writer, type, LONG_NAME, "", 0644, size);

	if (!error)
		error = put(writer, text, size);
	return error ? error : put_padding(writer, size);
}

static int put_entry(struct writer *writer, char type, const char *name, const char *link,
		     mode_t mode, uint64_t size)
{
	int error = 0;

	writer->empty = false;
	if (strlen(link) > sizeof(((struct header *)0)->link))
		error = put_long(writer, 'K', link);
	if (!error && strlen(name) > sizeof(((struct header *)0)->name))
		error = put_long(writer, 'L', name);
	return error ? error : put_header(writer, type, name, link, mode, size);
}

static int put_contents(struct writer *writer, int fd, uint64_t size)
{
	static char part[1 << 14];
	uint64_t left = size;
	int error = 0;

	while (left > 0 && !error) {
		ssize_t got = read(fd, part, left < sizeof(part) ? left : sizeof(part));

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		left -= (uint64_t)got;
		error = put(writer, part, (size_t)got);
	}
	return error ? error : put_padding(writer, size);
}

static int add_file(struct writer *writer, int parent, const char *leaf, const char *name,
		    const struct stat *stat)
{
	int fd, error;

	if (stat->st_size >= SIZE_LIMIT)
		return -EFBIG;
	fd = openat(parent, leaf, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = put_entry(writer, '0', name, "", stat->st_mode, (uint64_t)stat->st_size);
	if (!error)
		error = put_contents(writer, fd, (uint64_t)stat->st_size);
	close(fd);
	return error;
}

static int add_link(struct writer *writer, int parent, const char *leaf, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(parent, leaf, target, sizeof(target) - 1);

	if (length < 0)
		return -errno;
	target[length] = '\0';
	return put_entry(writer, '2', name, target, 0777, 0);
}

static int add_children(struct writer *writer, int fd, const char *name);

static int add_directory(struct writer *writer, int parent, const char *leaf, const char *name,
			 const struct stat *stat)
{
	char slashed[PATH_MAX];
	int fd, error;

	if (snprintf(slashed, sizeof(slashed), "%s/", name) >= (int)sizeof(slashed))
		return -ENAMETOOLONG;
	fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = put_entry(writer, '5', slashed, "", stat->st_mode, 0);
	if (!error)
		error = add_children(writer, fd, slashed);
	close(fd);
	return error;
}

static int add(struct writer *writer, int parent, const char *leaf, const char *name)
{
	struct stat stat;

	if (fstatat(parent, leaf, &stat, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (stat.st_dev != writer->device)
		return 0;
	if (S_ISREG(stat.st_mode))
		return add_file(writer, parent, leaf, name, &stat);
	if (S_ISDIR(stat.st_mode))
		return add_directory(writer, parent, leaf, name, &stat);
	if (S_ISLNK(stat.st_mode))
		return add_link(writer, parent, leaf, name);
	return 0;
}

static int is_child(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_children(struct writer *writer, int fd, const char *prefix)
{
	struct dirent **children;
	int count = scandirat(fd, ".", &children, is_child, by_name);
	int error = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		char name[PATH_MAX];
		int length = snprintf(name, sizeof(name), "%s%s", prefix, children[i]->d_name);

		if (!error && length >= (int)sizeof(name))
			error = -ENAMETOOLONG;
		if (!error)
			error = add(writer, fd, children[i]->d_name, name);
		/* The innermost name is the one that tells. */
		if (error && !*writer->failed)
			strcpy(writer->failed, name);
		free(children[i]);
	}
	free(children);
	return error;
}

int tar_directory(const char *directory, tar_sink sink, void *context, char failed[PATH_MAX])
{
	static struct writer writer;
	struct stat stat;
	int error;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	failed[0] = '\0';
	if (fd < 0)
		return -errno;
	writer = (struct writer){.sink = sink, .context = context, .empty = true, .failed = failed};
	if (fstat(fd, &stat)) {
		error = -errno;
	} else {
		writer.device = stat.st_dev;
		error = add_children(&writer, fd, "");
	}
	close(fd);
	if (error || writer.empty)
		return error;
	/* Two empty blocks end the archive. */
	error = put(&writer, NULL, 2 * BLOCK);
	return error ? error : flush(&writer);
}
