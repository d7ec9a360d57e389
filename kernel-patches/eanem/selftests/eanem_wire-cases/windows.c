// SPDX-License-Identifier: BSD-3-Clause
/* Whatever happens to a target and its connection, no window that was offered is taken back. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "report.h"
#include "sysfs.h"
#include "wire.h"

#define SHRINK "/proc/sys/net/ipv4/tcp_shrink_window"

/* Linux itself takes a window back if it is told to. On the wire, that has to be seen. */
void test_taken_back(void)
{
	int few = 2048;
	struct wire wire;
	char shrinks[16];
	uint64_t bytes;
	pid_t child;
	int fd;

	must(read_text(SHRINK, shrinks, sizeof(shrinks)), "read a setting of TCP");
	put(SHRINK, "1");
	turn("0");
	fd = watched_connection(&wire, &child);
	watch_for(&wire, fd, 50, &bytes);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	watch_for(&wire, fd, 50, &bytes);
	end(child);
	wire_read(&wire);
	wire_close(&wire);
	close(fd);
	put(SHRINK, shrinks);
	turn("1");
	check(wire.edge.back > 0,
	      "with tcp_shrink_window a smaller buffer takes back up to %u bytes",
	      wire.edge.furthest_back);
}

/*
 * A target changes, is taken away, and ends with the system: the edge stays where it was. What it
 * lets through is looked at while the target goes down and up. Then it changes more often.
 */
void test_targets(void)
{
	static const uint64_t targets[] = {4000000, 1000000, 200000, 4000000};
	struct wire wire;
	struct parts parts;
	uint64_t bytes;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		parts = parts_of(&wire, fd, targets[i], targets[i] < 1000000 ? 500 : 200, 1000);
		check(within(parts.let, 950, 1050) && within(parts.came, 950, 1050),
		      "the edge lets %llu of 1000 of %llu kB/s through, and %llu come",
		      (unsigned long long)parts.let, (unsigned long long)targets[i] / 1000,
		      (unsigned long long)parts.came);
	}
	for (size_t i = 0; i < 20; i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i * 7 % 4] >> (i % 3)),
		     "set a target");
		watch_for(&wire, fd, 30 + i, &bytes);
	}
	never_back(&wire, "targets that go down and up");
	must(eanem_target_socket(&eanem, cookie(fd), 0), "take the target away");
	parts = parts_of(&wire, fd, 4000000, 50, 50);
	check(within(parts.let, 1501, UINT64_MAX),
	      "without a target, the edge lets %llu of 1000 through",
	      (unsigned long long)parts.let);
	never_back(&wire, "a target that is taken away");
	for (int i = 0; i < 2; i++) {
		must(eanem_target_socket(&eanem, cookie(fd), 50000), "set a small target");
		watch_for(&wire, fd, 200, &bytes);
		turn("0");
		watch_for(&wire, fd, 20, &bytes);
		turn("1");
	}
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target again");
	watch_for(&wire, fd, 200, &bytes);
	end(child);
	never_back(&wire, "a system that is turned off and on");
	wire_close(&wire);
	close(fd);
}

/* The window of a SYN is the stack's own choice, and is larger than the target asks for. */
void test_syn(void)
{
	struct wire wire;
	uint64_t bytes;
	pid_t child;
	int fd;

	must(eanem_target_process(&eanem, (uint32_t)getpid(), 100000), "set a process's target");
	fd = watched_connection(&wire, &child);
	watch_for(&wire, fd, 400, &bytes);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	end(child);
	never_back(&wire, "a connection that begins with a target");
	check(within(wire.edge.raised, 1, 80000), "which then lets %llu bytes through in 400 ms",
	      (unsigned long long)wire.edge.raised);
	wire_close(&wire);
	close(fd);
}

/*
 * The unit of windows is a byte, or so large that one is more than a window. No rate is judged,
 * because a connection gets a unit each time, whatever the target.
 */
void test_scale(const char *setting, const char *value, unsigned int scale)
{
	static const uint64_t targets[] = {4000000, 500000, 4000000, 100000};
	char before[64], when[64];
	struct wire wire;
	uint64_t bytes;
	pid_t child;
	int fd;

	must(read_text(setting, before, sizeof(before)), "read a setting of TCP");
	put(setting, value);
	fd = watched_connection(&wire, &child);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		watch_for(&wire, fd, 150, &bytes);
	}
	end(child);
	put(setting, before);
	snprintf(when, sizeof(when), "a window scale of %u", wire.edge.scale);
	never_back(&wire, when);
	check(wire.edge.scale == scale, "which is what was asked for");
	wire_close(&wire);
	close(fd);
}

/*
 * A program that does not read fills its buffer, and the window stays closed. The control alone
 * closes it for a period at most.
 */
void test_full_buffer(void)
{
	int buffer = 65536;
	struct wire wire;
	struct parts parts;
	uint64_t bytes, before;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)))
		bail("cannot set a buffer: %s", strerror(errno));
	must(eanem_target_socket(&eanem, cookie(fd), 2000000), "set a target");
	watch_for(&wire, fd, 200, &bytes);
	for (int i = 0; i < 2; i++) {
		do {
			before = wire.edge.raised;
			clock_sleep(300 * MS);
			wire_read(&wire);
		} while (wire.edge.raised != before);
		check(!wire.edge.window, "a program that does not read: the window is closed");
		parts = parts_of(&wire, fd, 2000000, 200, 400);
		check(within(parts.let, 900, 1100),
		      "it reads, and %llu of 1000 are let through again",
		      (unsigned long long)parts.let);
	}
	end(child);
	never_back(&wire, "a window that closes and opens");
	wire_close(&wire);
	close(fd);
}

/* While a segment is missing, all ACKs offer the same. So the sender knows them as duplicates. */
void test_loss(void)
{
	struct wire wire;
	struct parts parts;
	uint64_t bytes;
	pid_t child;
	int fd = watched_connection(&wire, &child);

	must(eanem_target_socket(&eanem, cookie(fd), 4000000), "set a target");
	watch_for(&wire, fd, 200, &bytes);
	lose_one_of(fd, 30);
	parts = parts_of(&wire, fd, 4000000, 0, 1000);
	must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a smaller target");
	watch_for(&wire, fd, 1000, &bytes);
	end(child);
	wire_read(&wire);
	check(parts.let > 0 && wire.edge.holes > 0,
	      "with a loss of 3 %%, %llu of 1000 are let through, and %u ACKs tell of holes",
	      (unsigned long long)parts.let, wire.edge.holes);
	check(!wire.edge.moved_in_hole, "ACKs of one hole offer the same, but for %u",
	      wire.edge.moved_in_hole);
	never_back(&wire, "a loss of 3 %");
	wire_close(&wire);
	close(fd);
}
