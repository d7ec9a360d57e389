/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits in the kernel behind which others may wait: uninterruptible, for a mutex, for a futex. */
#ifndef LULL_WAITS_H
#define LULL_WAITS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Sleeps uninterruptibly (state D), until its child has read a byte and ended. The child calls
 * @begin first, and gives up if that returns anything but 0.
 */
__attribute__((unused)) static void wait_for_child(int from, int (*begin)(void))
{
	char byte;

	/* From here on both have the same memory. */
	if (!vfork())
		_exit(begin() || read(from, &byte, 1) != 1);
}

/* A futex with priority inheritance: FUTEX_LOCK_PI or FUTEX_UNLOCK_PI. 0 or -errno. */
__attribute__((unused)) static int lock_or_unlock(_Atomic uint32_t *lock, int operation)
{
	return syscall(SYS_futex, lock, operation, 0, NULL) ? -errno : 0;
}

/* The kernel's messages, from the next one on; or -1. Who waits for one has the file's mutex. */
__attribute__((unused)) static int open_messages(void)
{
	int log = open("/dev/kmsg", O_RDWR);

	return log < 0 || lseek(log, 0, SEEK_END) < 0 ? -1 : log;
}

/* 0 or -errno */
__attribute__((unused)) static int read_message(int log)
{
	char record[1024];

	return read(log, record, sizeof(record)) < 0 ? -errno : 0;
}

/* 0 or -errno */
__attribute__((unused)) static int write_message(int log)
{
	static const char message[] = "<7>lull-selftest: one message\n";

	return write(log, message, strlen(message)) < 0 ? -errno : 0;
}

#endif
