/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of unusual kinds: with a deadline, a thread of the kernel, one that waits for nothing. */
#ifndef LULL_TASKS_H
#define LULL_TASKS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sched_attr.h"
#include "sysfs.h"

/* Makes the files of new devices in /dev. Who adds a device waits for it. */
#define DEVICE_THREAD "kdevtmpfs"

/* The caller may work for @runtime_ns in each @period_ns (SCHED_DEADLINE). 0 or -errno. */
__attribute__((unused)) static int become_deadline_task(uint64_t runtime_ns, uint64_t period_ns)
{
	return lull_sched_setattr((struct lull_sched_attr){
		.policy = SCHED_DEADLINE,
		.runtime = runtime_ns,
		.deadline = period_ns,
		.period = period_ns,
	});
}

/* 0 if it cannot be found. */
__attribute__((unused)) static pid_t find_device_thread(void)
{
	/* All threads of the kernel that are there from the start have low numbers. */
	for (pid_t pid = 2; pid < 1000; pid++) {
		char path[32], name[32];

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (!read_text(path, name, sizeof(name)) && !strcmp(name, DEVICE_THREAD))
			return pid;
	}
	return 0;
}

/* Returns when the thread has made the file of a device, and removed it. 0 or -errno. */
__attribute__((unused)) static int use_device_thread(void)
{
	struct uinput_setup setup = {.id.bustype = BUS_VIRTUAL, .name = "lull-selftest"};
	int fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, UI_DEV_SETUP, &setup) || ioctl(fd, UI_DEV_CREATE))
		error = -errno;
	close(fd);
	return error;
}

__attribute__((unused)) static void ignore_signal(int number)
{
	(void)number;
}

/*
 * Reads a byte, which SIGUSR1 only interrupts, and then waits for a signal that does not come: for
 * 900 ms, unless it is woken for nothing. Returns 0 if it is not.
 */
__attribute__((unused)) static int wait_for_nothing(int from)
{
	const struct timespec patience = {.tv_nsec = 900 * 1000 * 1000};
	struct sigaction action = {.sa_handler = ignore_signal};
	sigset_t nothing;
	char byte;

	sigemptyset(&nothing);
	sigaddset(&nothing, SIGWINCH);
	sigprocmask(SIG_BLOCK, &nothing, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (read(from, &byte, 1) != 1)
		;
	if (sigtimedwait(&nothing, NULL, &patience) >= 0)
		return 2;
	return errno == EAGAIN ? 0 : 3;
}

#endif
