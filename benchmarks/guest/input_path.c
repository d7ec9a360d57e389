// SPDX-License-Identifier: BSD-3-Clause
#include "input_path.h"

#include <err.h>
#include <fcntl.h>
#include <linux/input.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

/* Waits for one event after the other. 0 when they came one at a time and in order. */
static int read_all(int fd, uint64_t count)
{
	struct input_event packet[3];

	for (uint64_t i = 1; i <= count; i++)
		if (read(fd, packet, sizeof(packet)) != 2 * sizeof(packet[0]) ||
		    packet[0].code != MSC_SERIAL || packet[0].value != (int32_t)i)
			return 1;
	return 0;
}

pid_t input_start_reader(int fd, uint64_t count)
{
	const struct sched_param first = {.sched_priority = 1};
	pid_t child = fork();

	if (child < 0)
		err(1, "cannot fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(read_all(fd, count));
	}
	/* From here on it has the CPU until it waits. */
	if (sched_setscheduler(child, SCHED_FIFO, &first))
		err(1, "cannot let the reader go first");
	return child;
}

void input_send(int fd, uint64_t serial)
{
	const struct input_event packet[] = {
		{.type = EV_MSC, .code = MSC_SERIAL, .value = (int32_t)serial},
		{.type = EV_SYN, .code = SYN_REPORT},
	};

	if (write(fd, packet, sizeof(packet)) != sizeof(packet))
		err(1, "cannot send an event");
}

int input_open(void)
{
	struct events events;
	char path[64];
	int error = events_open(&events), fd;

	if (error)
		errx(1, "cannot open the event timer: %s", strerror(-error));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", events.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err(1, "cannot open the event timer to write");
	events_close(&events);
	return fd;
}

void input_wait_for_reader(pid_t reader)
{
	int status;

	waitpid(reader, &status, 0);
	if (status)
		errx(1, "events did not come one at a time and in order");
}
