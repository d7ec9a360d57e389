// SPDX-License-Identifier: BSD-3-Clause
/* Connections keep to their targets, whatever the window, the program and the line are like. */
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "measure.h"
#include "report.h"

void test_targets(void)
{
	static const uint64_t targets[] = {2000000, 4000000, 1000000};
	struct lull_eanem_socket now = {0};
	uint64_t part, bytes[2], ns;
	pid_t child, second;
	int fds[2];

	fds[0] = connection(&child);
	for (size_t i = 0; i < 3; i++) {
		must(eanem_target_socket(&eanem, cookie(fds[0]), targets[i]), "set a target");
		part = part_of(fds[0], targets[i], 200, 400);
		check(within(part, 950, 1050), "%llu kB/s of %llu",
		      (unsigned long long)(part * targets[i] / 1000000),
		      (unsigned long long)targets[i] / 1000);
	}
	find(&eanem, cookie(fds[0]), &now);
	check(now.target == targets[2] && now.window > 0, "which can be read, with the window %llu",
	      now.window);
	must(eanem_target_socket(&eanem, cookie(fds[0]), 20000), "set a small target");
	part = part_of(fds[0], 20000, 1500, 3000);
	check(within(part, 850, 1150), "a window of less than a segment: %llu of 1000",
	      (unsigned long long)part);
	must(eanem_target_socket(&eanem, cookie(fds[0]), 0), "take the target away");
	part = part_of(fds[0], 4000000, 200, 100);
	check(within(part, 1501, UINT64_MAX), "without a target it is faster: %llu of 1000",
	      (unsigned long long)part);

	fds[1] = connection(&second);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 4000000), "set a process's target");
	read_for(fds, 2, 300 * MS, bytes);
	ns = read_for(fds, 2, 400 * MS, bytes);
	part = (uint64_t)((double)(bytes[0] + bytes[1]) * 1e12 / (double)ns / 4e6);
	check(within(part, 950, 1050), "two connections of a process: %llu of 1000 together",
	      (unsigned long long)part);
	check(slow || (bytes[0] > bytes[1] / 2 && bytes[1] > bytes[0] / 2), "in equal parts");
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");

	must(eanem_target_socket(&eanem, cookie(fds[0]), 3000), "set a tiny target");
	read_for(fds, 1, 200 * MS, bytes);
	turn("0");
	part = part_of(fds[0], 4000000, 1000, 100);
	check(within(part, 1501, UINT64_MAX), "turned off, nothing is held back: %llu of 1000",
	      (unsigned long long)part);
	turn("1");
	end(child);
	end(second);
	close(fds[0]);
	close(fds[1]);
}

/* A window of the stack that is smaller than a segment: loopback as it is, and a small buffer. */
void test_small_buffer(void)
{
	struct sockaddr_in at;
	uint64_t part, target = 4000000;
	int listener, fd, buffer = 32768;
	pid_t child;

	loopback(true);
	listener = socket_at(SOCK_STREAM, &at);
	if (setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)))
		bail("cannot set a buffer: %s", strerror(errno));
	fd = accept_silent(listener, &at, &child);
	begin(fd);
	must(eanem_target_socket(&eanem, cookie(fd), target), "set a target");
	part = part_of(fd, target, 400, 600);
	check(within(part, 900, 1100), "a small buffer: %llu kB/s of %llu",
	      (unsigned long long)(part * target / 1000000), (unsigned long long)target / 1000);
	end(child);
	close(fd);
	loopback(false);
}

/* A program that does not read closes the window by itself, and opens it again. */
void test_slow_program(void)
{
	pid_t child;
	int fd = connection(&child);
	uint64_t part;

	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	part_of(fd, 2000000, 100, 100);
	clock_sleep(2000 * MS);
	part = part_of(fd, 2000000, 400, 400);
	check(within(part, 900, 1100), "after the program was slow: %llu of 1000",
	      (unsigned long long)part);
	end(child);
	close(fd);
}

/* A lossy connection gets its target, within 15 %, and never stands still for a second. */
void test_loss(void)
{
	uint64_t part, sum = 0, least = UINT64_MAX;
	pid_t child;
	int fd = connection(&child);

	lose_one_of(fd, 100);
	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	part_of(fd, 2000000, 500, 500);
	for (int i = 0; i < 5; i++) {
		part = part_of(fd, 2000000, 0, 1000);
		sum += part / 5;
		least = part < least ? part : least;
	}
	check(within(sum, 850, 1150), "with a loss of 1 %%: %llu of 1000", (unsigned long long)sum);
	check(least > 0, "at least %llu in each second", (unsigned long long)least);
	end(child);
	close(fd);
}
