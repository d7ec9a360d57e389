// SPDX-License-Identifier: BSD-3-Clause
#include "fail_each.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

#define FAIL_DIR "/sys/kernel/debug/failslab/"

/* What fail_each_open() and fail_each_switch() are about, and the file that was opened. */
static const char *subject;
static int opened;

/* Calls @op with that allocation failing. @left is 0 if @op came to it. */
static int fail_nth(int file, int nth, int (*op)(void), int *left)
{
	char text[16] = "";
	int error;

	snprintf(text, sizeof(text), "%d", nth);
	if (pwrite(file, text, strlen(text), 0) < 0)
		return -errno;
	error = op();
	memset(text, 0, sizeof(text));
	if (pread(file, text, sizeof(text) - 1, 0) < 0 || pwrite(file, "0", 1, 0) < 0)
		return -errno;
	*left = atoi(text);
	return error;
}

int fail_each(int (*op)(void), void (*undo)(void))
{
	int file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	int refused = 0, nth = 0, left = 0, error;
	char waits[8], verbose[8];

	if (file < 0)
		return -ENOSYS;
	if (read_text(FAIL_DIR "ignore-gfp-wait", waits, sizeof(waits)) ||
	    read_text(FAIL_DIR "verbose", verbose, sizeof(verbose)) ||
	    write_text(FAIL_DIR "ignore-gfp-wait", "N") || write_text(FAIL_DIR "verbose", "0")) {
		close(file);
		return -ENOSYS;
	}
	do {
		error = fail_nth(file, ++nth, op, &left);
		if (!error && undo)
			undo();
		refused += error == -ENOMEM;
	} while (!left && (!error || error == -ENOMEM));
	write_text(FAIL_DIR "ignore-gfp-wait", waits);
	write_text(FAIL_DIR "verbose", verbose);
	close(file);
	return error ? error : refused;
}

static int open_subject(void)
{
	opened = open(subject, O_RDWR | O_CLOEXEC);
	return opened < 0 ? -errno : 0;
}

static void close_subject(void)
{
	close(opened);
}

int fail_each_open(const char *path)
{
	subject = path;
	return fail_each(open_subject, close_subject);
}

static int turn_on(void)
{
	int error = write_text(subject, "1");
	char now[8];

	if (error && (read_text(subject, now, sizeof(now)) || strcmp(now, "0")))
		return -EPROTO;
	return error;
}

static void turn_off(void)
{
	write_text(subject, "0");
}

int fail_each_switch(const char *path)
{
	subject = path;
	return fail_each(turn_on, turn_off);
}

bool fail_check(bool (*test)(bool passed, const char *format, ...), int refused, const char *what)
{
	if (refused == -ENOSYS)
		return test(true, "ENOMEM: %s # SKIP no allocation can be made to fail", what);
	return test(refused > 0, "ENOMEM: %s (%d)", what, refused);
}
