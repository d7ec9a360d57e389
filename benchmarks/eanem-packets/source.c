// SPDX-License-Identifier: BSD-3-Clause
#include "source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "net_order.h"

/* The server may not have begun yet. */
#define TRIES 1000
#define PAUSE_NS 10000000
/* Longer than any run. */
#define FOREVER_NS 1000000000000000ULL
#define WRITE_SIZE 16384

static char data[262144];

static int try_to_connect(uint32_t mss, uint32_t rcvbuf)
{
	struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(NET_PORT)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	inet_pton(AF_INET, NET_PEER, &server.sin_addr);
	if ((!mss || !setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss))) &&
	    (!rcvbuf || !setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf))) &&
	    !connect(fd, (struct sockaddr *)&server, sizeof(server)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int source_open(uint64_t kbit_s, bool paced, uint32_t mss, uint32_t rcvbuf)
{
	const struct net_order order = {.magic = NET_MAGIC,
					.what = NET_RECEIVE,
					.proto = NET_TCP,
					.bit_s = kbit_s * 1000,
					.duration_ns = FOREVER_NS,
					.size = WRITE_SIZE,
					.paced = paced};
	int fd = -ECONNREFUSED;

	for (int i = 0; i < TRIES && fd == -ECONNREFUSED; i++) {
		if (i)
			clock_sleep(PAUSE_NS);
		fd = try_to_connect(mss, rcvbuf);
	}
	if (fd >= 0 && send(fd, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order)) {
		close(fd);
		return -EPIPE;
	}
	return fd;
}

int source_clamp(int fd, uint64_t bytes)
{
	int most = (int)bytes;

	return setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &most, sizeof(most)) ? -errno : 0;
}

uint64_t source_id(int fd)
{
	uint64_t id = 0;
	socklen_t length = sizeof(id);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &id, &length) ? 0 : id;
}

int64_t source_read_until(int fd, uint64_t ns)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	uint64_t now;
	int64_t bytes = 0;

	while ((now = clock_ns()) < ns) {
		const struct timespec left = clock_time(ns - now);
		ssize_t got;

		if (ppoll(&ready, 1, &left, NULL) <= 0)
			continue;
		got = recv(fd, data, sizeof(data), MSG_DONTWAIT);
		if (got == 0)
			return -EPIPE;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got > 0)
			bytes += got;
	}
	return bytes;
}
