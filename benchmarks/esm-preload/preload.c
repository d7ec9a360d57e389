// SPDX-License-Identifier: BSD-3-Clause
/*
 * LD_PRELOAD=libesm-preload.so: a program that reads evdev receives by the Event Stream Model,
 * and does not know. README.md tells what it takes over and what it does not.
 *
 * The number that open() gave becomes the end of a pipe, so that read(), poll(), select() and
 * epoll need no help; the evdev file stays open under another one, for ioctl().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stream.h"

#define EXPORT __attribute__((visibility("default")))

/* Files with higher numbers are the program's own affair. */
#define FILES_MAX 1024
/* What the program opens has the numbers it expects: ours are above them. */
#define OUR_FILES 256

#define INPUT_MAJOR 13

static struct stream *_Atomic streams[FILES_MAX];

/* The function that the program would have called. */
#define REAL(name)                                                      \
	({                                                              \
		static typeof(name) *_Atomic real;                      \
		if (!real)                                              \
			real = (typeof(name) *)dlsym(RTLD_NEXT, #name); \
		real;                                                   \
	})

static struct stream *stream_of(int fd)
{
	return fd >= 0 && fd < FILES_MAX ? streams[fd] : NULL;
}

static bool reads_evdev(int fd, int flags)
{
	struct stat status;
	int version;

	return fd >= 0 && fd < FILES_MAX && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY &&
	       !fstat(fd, &status) && S_ISCHR(status.st_mode) &&
	       major(status.st_rdev) == INPUT_MAJOR && !REAL(ioctl)(fd, EVIOCGVERSION, &version);
}

static void close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		if (fds[i] >= 0)
			REAL(close)(fds[i]);
}

/* False, with errno, if it stays as it is. */
static bool stream_instead(int fd, int flags)
{
	int ends[2], ours[2], error;
	struct stream *stream = NULL;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	ours[0] = fcntl(fd, F_DUPFD_CLOEXEC, OUR_FILES);
	ours[1] = fcntl(ends[1], F_DUPFD_CLOEXEC, OUR_FILES);
	if (ours[0] >= 0 && ours[1] >= 0)
		stream = stream_start(ours[0], ours[1]);
	error = errno;
	if (stream) {
		dup3(ends[0], fd, flags & O_CLOEXEC);
		fcntl(fd, F_SETFL, flags & O_NONBLOCK);
		streams[fd] = stream;
	} else {
		close_all(ours, 2);
	}
	close_all(ends, 2);
	errno = error;
	return stream != NULL;
}

static int opened(int fd, int flags)
{
	int before = errno;

	if (reads_evdev(fd, flags) && !stream_instead(fd, flags))
		fprintf(stderr, "libesm-preload: file %d is read through evdev itself: %s\n", fd,
			strerror(errno));
	errno = before;
	return fd;
}

/* The mode, if one was given. */
#define MODE(flags)                                                        \
	({                                                                 \
		mode_t mode_ = 0;                                          \
		if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
			va_list arguments_;                                \
			va_start(arguments_, flags);                       \
			mode_ = va_arg(arguments_, mode_t);                \
			va_end(arguments_);                                \
		}                                                          \
		mode_;                                                     \
	})

EXPORT int open(const char *path, int flags, ...)
{
	return opened(REAL(open)(path, flags, MODE(flags)), flags);
}

EXPORT int open64(const char *path, int flags, ...)
{
	return opened(REAL(open64)(path, flags, MODE(flags)), flags);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
	return opened(REAL(openat)(folder, path, flags, MODE(flags)), flags);
}

EXPORT int openat64(int folder, const char *path, int flags, ...)
{
	return opened(REAL(openat64)(folder, path, flags, MODE(flags)), flags);
}

/* What programs call that are built with _FORTIFY_SOURCE. */
EXPORT int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

EXPORT int __openat_2(int folder, const char *path, int flags)
{
	return openat(folder, path, flags);
}

EXPORT int __openat64_2(int folder, const char *path, int flags)
{
	return openat64(folder, path, flags);
}

/* evdev reads whole events only, and has no end but that of the device. */
EXPORT ssize_t read(int fd, void *to, size_t size)
{
	ssize_t got;

	if (!stream_of(fd))
		return REAL(read)(fd, to, size);
	if (size && size < sizeof(struct input_event)) {
		errno = EINVAL;
		return -1;
	}
	got = REAL(read)(fd, to, size - size % sizeof(struct input_event));
	if (got || !size)
		return got;
	errno = ENODEV;
	return -1;
}

EXPORT ssize_t __read_chk(int fd, void *to, size_t size, size_t room)
{
	if (size > room)
		__builtin_trap();
	return read(fd, to, size);
}

/* LEDs and sounds. */
EXPORT ssize_t write(int fd, const void *from, size_t size)
{
	struct stream *stream = stream_of(fd);

	return REAL(write)(stream ? stream->device : fd, from, size);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	struct stream *stream = stream_of(fd);
	va_list arguments;
	void *argument;
	int result;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	/* Others are about the number itself: FIONBIO and the like. */
	if (!stream || _IOC_TYPE(request) != 'E')
		return REAL(ioctl)(fd, request, argument);
	result = REAL(ioctl)(stream->device, request, argument);
	if (!result && request == EVIOCSCLOCKID)
		stream->clock = *(const int *)argument;
	return result;
}

EXPORT int close(int fd)
{
	struct stream *stream = stream_of(fd);

	if (stream) {
		streams[fd] = NULL;
		stream_end(stream);
	}
	return REAL(close)(fd);
}
