// SPDX-License-Identifier: BSD-3-Clause
/* What a socket receives is counted: packets, bytes, their sizes, and how long each stage takes. */
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

#define UDP_PACKETS 10

void test_datagrams(void)
{
	static const char data[200];
	struct lull_eanem_socket now;
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char got[256];
	bool stages = true;

	begin_anew(LONG_INTERVAL_US);
	recv(to, got, sizeof(got), MSG_DONTWAIT);
	next_interval(&eanem, cookie(to), &now);
	for (int i = 0; i < UDP_PACKETS; i++)
		if (sendto(from, data, i % 2 ? 100 : 200, 0, (struct sockaddr *)&at, sizeof(at)) <
		    0)
			bail("cannot send: %s", strerror(errno));
	for (int i = 0; i < UDP_PACKETS; i++)
		if (recv(to, got, sizeof(got), 0) != (i % 2 ? 100 : 200))
			bail("cannot receive");
	next_interval(&eanem, cookie(to), &now);
	check(now.last.packets == UDP_PACKETS && now.last.bytes == 1500,
	      "datagrams are counted: %llu of %llu bytes", now.last.packets, now.last.bytes);
	check(now.last.mean == 150000 && now.last.variance == 2500,
	      "mean %llu and variance %llu of their sizes", now.last.mean, now.last.variance);
	for (int i = 0; i < LULL_EANEM_STAGES; i++) {
		const struct lull_eanem_latency *stage = &now.last.stages[i];

		stages &= stage->count == UDP_PACKETS && stage->most_ns <= stage->sum_ns;
	}
	check(stages, "each stage has a latency for each of them");
	check(now.last.stages[LULL_EANEM_USER].sum_ns > 0 &&
		      now.last.stages[LULL_EANEM_USER].most_ns < 1000 * MS,
	      "the user's takes some time, and not for ever");
	check(now.pid == (uint32_t)getpid() && now.uid == 0 && now.protocol == IPPROTO_UDP &&
		      now.local_port == at.sin_port,
	      "and it is known whose it is");
	next_interval(&eanem, cookie(to), &now);
	check(now.last.packets == 0 && now.packets == UDP_PACKETS,
	      "the next interval begins anew, and the total stays");

	for (int i = 0; i < 2; i++) {
		if (sendto(from, data, 0, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    recv(to, got, sizeof(got), 0) != 0)
			bail("no datagram without bytes");
		if (i == 0)
			next_interval(&eanem, cookie(to), &now);
	}
	check(now.last.packets == 1 && now.last.bytes == 0 &&
		      now.last.stages[LULL_EANEM_USER].count == 1,
	      "a datagram without bytes is one, too");
	turn("0");
	turn("1");
	check(find(&eanem, cookie(to), &now) && now.last.packets == 0 &&
		      now.packets == UDP_PACKETS + 2,
	      "turned off and on, only the total stays");
	close(to);
	close(from);
	begin_anew(INTERVAL_US);
}

/* The end of a connection is read, but it is no packet, and takes no time. */
void test_end(void)
{
	struct sockaddr_in at;
	struct lull_eanem_socket now;
	int listener = socket_at(SOCK_STREAM, &at), from = socket(AF_INET, SOCK_STREAM, 0), to;
	char byte;

	begin_anew(LONG_INTERVAL_US);
	if (listen(listener, 1) || connect(from, (struct sockaddr *)&at, sizeof(at)))
		bail("cannot connect: %s", strerror(errno));
	to = accept(listener, NULL, NULL);
	if (to < 0)
		bail("cannot accept: %s", strerror(errno));
	next_interval(&eanem, cookie(to), &now);
	close(from);
	if (recv(to, &byte, 1, 0) != 0)
		bail("the connection did not end");
	next_interval(&eanem, cookie(to), &now);
	check(now.packets == 0 && now.last.stages[LULL_EANEM_USER].count == 0,
	      "the end of a connection is not counted");
	close(to);
	close(listener);
	begin_anew(INTERVAL_US);
}

/* A program that reads late: how late is counted in the interval in which it reads. */
void test_late_reads(void)
{
	struct lull_eanem_socket now;
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char byte;

	begin_anew(LONG_INTERVAL_US);
	recv(to, &byte, 1, MSG_DONTWAIT);
	next_interval(&eanem, cookie(to), &now);
	if (sendto(from, "", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0)
		bail("cannot send: %s", strerror(errno));
	next_interval(&eanem, cookie(to), &now);
	check(now.last.packets == 1 && now.last.stages[LULL_EANEM_USER].count == 0,
	      "a datagram has come that nobody has read");
	next_interval(&eanem, cookie(to), &now);
	if (recv(to, &byte, 1, 0) != 1)
		bail("cannot receive");
	next_interval(&eanem, cookie(to), &now);
	check(now.last.packets == 0 && now.last.stages[LULL_EANEM_USER].count == 1 &&
		      now.last.stages[LULL_EANEM_USER].most_ns >= 400 * MS,
	      "and is read an interval later: after %llu us",
	      now.last.stages[LULL_EANEM_USER].most_ns / 1000);
	next_interval(&eanem, cookie(to), &now);
	check(now.packets == 1 && now.last.stages[LULL_EANEM_USER].count == 0,
	      "which is counted once");
	close(to);
	close(from);
	begin_anew(INTERVAL_US);
}

/* What is still to come of a sender that has gone. */
static uint64_t read_rest(int fd)
{
	static char data[65536];
	uint64_t bytes = 0;
	ssize_t got;

	while ((got = recv(fd, data, sizeof(data), 0)) > 0)
		bytes += (uint64_t)got;
	return bytes;
}

void test_bytes(void)
{
	struct lull_eanem_socket now;
	struct lull_eanem_cpu cpus[64];
	uint64_t bytes, more, net_ns = 0;
	size_t count = 64;
	pid_t child;
	int fd = connection(&child);

	read_for(&fd, 1, 100 * MS, &bytes);
	must(eanem_cpus(&eanem, cpus, &count), "list CPUs");
	for (size_t i = 0; i < count; i++)
		net_ns += cpus[i].net_rx_ns;
	check(count == (size_t)sysconf(_SC_NPROCESSORS_CONF) && net_ns > 0,
	      "%zu CPUs spent %llu ns of an interval in NET_RX", count, (unsigned long long)net_ns);
	end(child);
	more = read_rest(fd);
	next_interval(&eanem, cookie(fd), &now);
	next_interval(&eanem, cookie(fd), &now);
	check(now.bytes == bytes + more, "a connection's bytes are counted: %llu of %llu",
	      now.bytes, (unsigned long long)(bytes + more));
	check(now.packets >= now.bytes / MTU && now.packets <= now.bytes / 1000,
	      "and its packets as they were on the line: %llu", now.packets);
	close(fd);
	clock_sleep(50 * MS);
}

struct sought {
	uint64_t id;
	bool is_there;
};

static void compare(const struct lull_eanem_socket *socket, void *with)
{
	struct sought *sought = with;

	sought->is_there |= socket->id == sought->id;
}

/* Whether a list of those that received something lately has a socket. */
static bool is_busy(int fd)
{
	struct sought sought = {.id = cookie(fd)};

	must(eanem_each_busy(&eanem, compare, &sought), "list busy sockets");
	return sought.is_there;
}

/* LULL_EANEM_A_BUSY */
void test_busy(void)
{
	struct sockaddr_in at, unused;
	struct lull_eanem_socket now;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	char byte = 0;

	recv(to, &byte, 1, MSG_DONTWAIT);
	check(find(&eanem, cookie(to), &now) && !is_busy(to), "a silent socket is not busy");
	if (sendto(from, &byte, 1, 0, (struct sockaddr *)&at, sizeof(at)) != 1 ||
	    recv(to, &byte, 1, 0) != 1)
		bail("no datagram: %s", strerror(errno));
	check(is_busy(to) && !is_busy(from), "one that has received something is, and only that");
	for (int i = 0; i < PATIENCE_MS && is_busy(to); i++)
		clock_sleep(MS);
	check(!is_busy(to) && find(&eanem, cookie(to), &now) && now.packets == 1,
	      "until it has been silent for some intervals");
	close(to);
	close(from);
}
