// SPDX-License-Identifier: BSD-3-Clause
#include "net_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "net_order.h"
#include "net_stream.h"

/* Clients at once. Those that come then wait until one has gone. */
#define CLIENTS 256
/* A client says at once what it wants. One that does not is ended, so that it holds no place. */
#define SILENT_S 5
/* Between two tries when there are too many clients, files or processes. */
#define PAUSE_MS 10

static int clients;

static int open_at(int type, uint16_t port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    ((type & SOCK_STREAM) == SOCK_STREAM && listen(fd, SOMAXCONN)))
		return -errno;
	return fd;
}

static int report(int fd, const struct net_count *count, uint16_t port)
{
	const struct net_report said = {.magic = NET_MAGIC,
					.bytes = count->bytes,
					.packets = count->packets,
					.took_ns = count->took_ns,
					.port = port};

	return net_write_all(fd, &said, sizeof(said));
}

/* A socket for datagrams to and from the client's port alone, if it has one yet. */
static int open_datagrams(int control, uint32_t port)
{
	struct sockaddr_in client;
	socklen_t length = sizeof(client);
	int fd = open_at(SOCK_DGRAM, 0);

	if (fd < 0 || getpeername(control, (struct sockaddr *)&client, &length))
		return fd < 0 ? fd : -errno;
	client.sin_port = htons((uint16_t)port);
	return connect(fd, (struct sockaddr *)&client, length) ? -errno : fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in own = {0};
	socklen_t length = sizeof(own);

	getsockname(fd, (struct sockaddr *)&own, &length);
	return ntohs(own.sin_port);
}

static int serve_datagrams(int control, const struct net_order *order)
{
	struct net_count count = {0};
	int fd = open_datagrams(control, order->port);
	int error = fd < 0 ? fd : report(control, &count, port_of(fd));

	if (error)
		return error;
	if (order->what == NET_RECEIVE)
		error = net_send_stream(fd, order->bit_s, order->duration_ns, order->size, &count);
	else
		error = net_receive_stream(fd, control, &count, 0, NULL);
	return error ? error : report(control, &count, 0);
}

/* At a rate that the kernel paces, or by a sleep after each write. */
static int serve_stream(int fd, const struct net_order *order)
{
	uint64_t bytes_s = order->bit_s / 8;
	struct net_count count;

	if (!order->paced || !bytes_s)
		return net_send_stream(fd, order->bit_s, order->duration_ns, order->size, &count);
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_s, sizeof(bytes_s)))
		return -errno;
	return net_send_stream(fd, 0, order->duration_ns, order->size, &count);
}

static int echo(int fd, size_t size)
{
	static char data[NET_LARGEST_WRITE];
	int error = 0;

	while (!error) {
		error = net_read_all(fd, data, size);
		if (!error)
			error = net_write_all(fd, data, size);
	}
	return error;
}

static int serve_client(int fd)
{
	struct timeval silent = {.tv_sec = SILENT_S}, never = {0};
	struct net_count count;
	struct net_order order;
	int error, yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silent, sizeof(silent));
	error = net_read_all(fd, &order, sizeof(order));
	if (error)
		return error;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
	if (order.magic != NET_MAGIC || !order.size || order.size > NET_LARGEST_WRITE)
		return -EPROTO;
	if (order.proto == NET_UDP)
		return serve_datagrams(fd, &order);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (order.what == NET_ECHO)
		return echo(fd, order.size);
	if (order.what == NET_RECEIVE)
		return serve_stream(fd, &order);
	error = net_receive_stream(fd, -1, &count, 0, NULL);
	return error ? error : report(fd, &count, 0);
}

/* What has nothing to do with the connection: a listener that is none any more. */
static bool is_end(int error)
{
	return error == EBADF || error == EINVAL || error == ENOTSOCK;
}

/*
 * A process for each client: one that is slow, or resets, is nobody else's trouble. Where files or
 * memory run out, the connection waits in the queue; where processes do, it is closed.
 */
static int accept_client(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid;

	if (fd < 0 && is_end(errno))
		return -errno;
	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			clock_sleep(PAUSE_MS * 1000000ULL);
		return 0;
	}
	pid = fork();
	if (pid == 0) {
		close(listener);
		_exit(serve_client(fd) ? 1 : 0);
	}
	close(fd);
	if (pid < 0)
		clock_sleep(PAUSE_MS * 1000000ULL);
	else
		clients++;
	return 0;
}

static int answer_datagram(int fd)
{
	static char data[NET_LARGEST_DATAGRAM];
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t got = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &length);

	if (got < 0)
		return is_end(errno) ? -errno : 0;
	/* A client that is gone is not waiting for it. */
	sendto(fd, data, (size_t)got, 0, (struct sockaddr *)&from, length);
	return 0;
}

int net_serve(void)
{
	struct pollfd fds[] = {
		{.fd = open_at(SOCK_STREAM | SOCK_NONBLOCK, NET_PORT), .events = POLLIN},
		{.fd = open_at(SOCK_DGRAM | SOCK_NONBLOCK, NET_PORT), .events = POLLIN},
	};
	int error = 0;

	/* A parent that ignores its children's ends leaves that to its own children. */
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 2; i++)
		if (fds[i].fd < 0)
			return fds[i].fd;
	while (!error) {
		bool full = clients >= CLIENTS;

		fds[0].events = full ? 0 : POLLIN;
		if (poll(fds, 2, full ? PAUSE_MS : -1) < 0)
			fds[0].revents = fds[1].revents = 0;
		while (clients > 0 && waitpid(-1, NULL, WNOHANG) > 0)
			clients--;
		if (fds[0].revents)
			error = accept_client(fds[0].fd);
		if (!error && fds[1].revents)
			error = answer_datagram(fds[1].fd);
	}
	return error;
}
