/* SPDX-License-Identifier: BSD-3-Clause */
/* What an interface does if the kernel has no memory. Only the debug flavour can be made to say so.
 */
#ifndef LULL_FAIL_EACH_H
#define LULL_FAIL_EACH_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

#define FAIL_DIR "/sys/kernel/debug/failslab/"
/* Behind the name of a test. */
#define FAIL_SKIP(refused) ((refused) == -ENOSYS ? " # SKIP no allocation can be made to fail" : "")

/*
 * Calls @op with its first allocation failing, then with its second one, and so on, until @op needs
 * no more. @op returns 0 or -errno. What it did is undone by @undo, if that is not NULL.
 *
 * Returns how many times @op said ENOMEM; the first other error; or -ENOSYS if this kernel lets no
 * allocation fail.
 */
__attribute__((unused)) static int fail_each(int (*op)(void), void (*undo)(void))
{
	int file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), refused = 0, other = 0;
	char waits[8], verbose[8], text[16];

	if (file < 0 || read_text(FAIL_DIR "ignore-gfp-wait", waits, sizeof(waits)) ||
	    read_text(FAIL_DIR "verbose", verbose, sizeof(verbose)) ||
	    write_text(FAIL_DIR "ignore-gfp-wait", "N") || write_text(FAIL_DIR "verbose", "0"))
		return -ENOSYS;
	for (int nth = 1; !other; nth++) {
		int error;

		snprintf(text, sizeof(text), "%d", nth);
		if (pwrite(file, text, strlen(text), 0) < 0) {
			other = -errno;
			break;
		}
		error = op();
		/* The number that is left: 0 if an allocation failed. */
		memset(text, 0, sizeof(text));
		if (pread(file, text, sizeof(text) - 1, 0) < 0 || pwrite(file, "0", 1, 0) < 0)
			other = -errno;
		if (!error && undo)
			undo();
		if (atoi(text)) {
			other = error;
			break;
		}
		refused += error == -ENOMEM;
		if (error && error != -ENOMEM)
			other = error;
	}
	write_text(FAIL_DIR "ignore-gfp-wait", waits);
	write_text(FAIL_DIR "verbose", verbose);
	close(file);
	return other ? other : refused;
}

#endif
