// SPDX-License-Identifier: BSD-3-Clause
/* Who waits for a change by poll() is told of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

static void *change_soon(void *cpu)
{
	clock_sleep(20 * MS);
	put_cpu(*(int *)cpu, "pseudo_online", "0");
	return NULL;
}

static int opened(const char *path)
{
	int fd = open(path, O_RDONLY);
	char text[64];

	if (fd < 0 || read(fd, text, sizeof(text)) < 0)
		bail("cannot read %s: %s", path, strerror(errno));
	return fd;
}

void test_poll(void)
{
	char path[64];
	struct pollfd files[3];
	pthread_t changer;

	/* Who waits is told a moment after a change. */
	clock_sleep(50 * MS);
	files[0].fd = opened(LIST);
	files[1].fd = opened(CPU_DIR "/cpu0/pseudo_online");
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/pseudo_online", there);
	files[2].fd = opened(path);
	for (int i = 0; i < 3; i++)
		files[i].events = POLLPRI;
	check(poll(files, 3, 0) == 0, "poll() has nothing to say before a change");
	pthread_create(&changer, NULL, change_soon, &there);
	check(poll(&files[2], 1, 2000) == 1 && files[2].revents & POLLPRI,
	      "poll() on the file of a CPU returns when it leaves");
	pthread_join(changer, NULL);
	check(poll(files, 1, 2000) == 1 && files[0].revents & POLLPRI, "and on the list");
	check(poll(&files[1], 1, 100) == 0, "but not on the file of another CPU");
	for (int i = 0; i < 3; i++)
		close(files[i].fd);
	all_in();
}
