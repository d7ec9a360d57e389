// SPDX-License-Identifier: BSD-3-Clause
/* What the connections of a process get of its target. */
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "report.h"

/* Datagrams, which cannot be held, get no part of a process's target. */
void test_sharing(void)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), fd;
	struct lull_eanem_socket datagrams, connected;
	uint64_t bytes;
	char got[16];
	pid_t child;

	fd = connection(&child);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 4000000), "set a process's target");
	for (int i = 0; i < 50; i++) {
		if (sendto(from, "", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    recv(to, got, sizeof(got), 0) != 1)
			bail("no datagram");
		read_for(&fd, 1, 2 * MS, &bytes);
	}
	check(find(&eanem, cookie(to), &datagrams) && find(&eanem, cookie(fd), &connected) &&
		      (slow || datagrams.last.packets > 0) && datagrams.target == 0 &&
		      connected.target == 4000000,
	      "connections alone share a process's target");
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	end(child);
	close(fd);
	close(to);
	close(from);
}

/*
 * Connections that were silent, and begin at once, do not get all of their process's target each,
 * in an interval in which the control cannot act twice. What they had been offered is theirs.
 */
void test_sharing_at_once(void)
{
	enum { COUNT = 4 };
	uint64_t bytes[COUNT], sum = 0, ns;
	const uint64_t offered = COUNT * 65536, target = 4000000;
	pid_t children[COUNT];
	int fds[COUNT];

	put(EANEM_DIR "/interval_us", LONG_INTERVAL_US);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), target), "set a process's target");
	for (int i = 0; i < COUNT; i++)
		fds[i] = silent_connection(&children[i]);
	clock_sleep(900 * MS);
	for (int i = 0; i < COUNT; i++)
		begin(fds[i]);
	ns = read_for(fds, COUNT, 300 * MS, bytes);
	for (int i = 0; i < COUNT; i++)
		sum += bytes[i];
	/* 1 + 1/2 + 1/3 + 1/4 of the target, and not 4 times as much. */
	sum = sum > offered ? (uint64_t)((double)(sum - offered) * 1e12 / (double)ns / 4e6) : 0;
	check(within(sum, 0, 2500), "%d connections that begin at once: %llu of 1000 together",
	      COUNT, (unsigned long long)sum);
	must(eanem_target_process(&eanem, (uint32_t)getpid(), 0), "take it away");
	for (int i = 0; i < COUNT; i++) {
		end(children[i]);
		close(fds[i]);
	}
	put(EANEM_DIR "/interval_us", INTERVAL_US);
}
