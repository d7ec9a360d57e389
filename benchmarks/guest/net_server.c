// SPDX-License-Identifier: BSD-3-Clause
#include "net_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_order.h"
#include "net_stream.h"

static int open_at(int type, uint16_t port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    (type == SOCK_STREAM && listen(fd, SOMAXCONN)))
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
	struct net_count count;
	struct net_order order;
	int error = net_read_all(fd, &order, sizeof(order)), yes = 1;

	if (error)
		return error;
	if (order.magic != NET_MAGIC || !order.size || order.size > NET_LARGEST_WRITE)
		return -EPROTO;
	if (order.proto == NET_UDP)
		return serve_datagrams(fd, &order);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (order.what == NET_ECHO)
		return echo(fd, order.size);
	if (order.what == NET_RECEIVE)
		return net_send_stream(fd, order.bit_s, order.duration_ns, order.size, &count);
	error = net_receive_stream(fd, -1, &count, 0, NULL);
	return error ? error : report(fd, &count, 0);
}

/* A process for each client: one that is slow, or resets, is nobody else's trouble. */
static int accept_client(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid;

	if (fd < 0)
		return errno == ECONNABORTED || errno == EINTR ? 0 : -errno;
	pid = fork();
	if (pid == 0) {
		close(listener);
		_exit(serve_client(fd) ? 1 : 0);
	}
	close(fd);
	return pid < 0 ? -errno : 0;
}

static int answer_datagram(int fd)
{
	static char data[NET_LARGEST_DATAGRAM];
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t got = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &length);

	if (got < 0)
		return errno == EINTR || errno == ECONNREFUSED ? 0 : -errno;
	/* A client that is gone is not waiting for it. */
	sendto(fd, data, (size_t)got, 0, (struct sockaddr *)&from, length);
	return 0;
}

int net_serve(void)
{
	struct pollfd fds[] = {
		{.fd = open_at(SOCK_STREAM, NET_PORT), .events = POLLIN},
		{.fd = open_at(SOCK_DGRAM, NET_PORT), .events = POLLIN},
	};
	int error = 0;

	/* Nobody waits for the children. */
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 2; i++)
		if (fds[i].fd < 0)
			return fds[i].fd;
	while (!error) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			error = accept_client(fds[0].fd);
		if (!error && fds[1].revents)
			error = answer_datagram(fds[1].fd);
	}
	return error;
}
