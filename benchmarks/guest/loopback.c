// SPDX-License-Identifier: BSD-3-Clause
#include "loopback.h"

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_socket(int type)
{
	int fd = socket(AF_INET, type, 0);

	if (fd < 0)
		err(1, "cannot open a socket");
	return fd;
}

/* Has an address that others can connect to. */
static int open_here(int type)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int fd = open_socket(type);

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)))
		err(1, "cannot give a socket an address");
	return fd;
}

static void connect_to(int fd, int other)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	if (getsockname(other, (struct sockaddr *)&address, &size) ||
	    connect(fd, (const struct sockaddr *)&address, size))
		err(1, "cannot connect");
}

static int accept_from(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		err(1, "cannot accept a connection");
	return fd;
}

int loopback_listen(void)
{
	int fd = open_here(SOCK_STREAM);

	if (listen(fd, 1))
		err(1, "cannot listen");
	return fd;
}

void loopback_pair(int type, int ends[2])
{
	int listener;

	if (type == SOCK_DGRAM) {
		ends[0] = open_here(type);
		ends[1] = open_here(type);
		connect_to(ends[0], ends[1]);
		connect_to(ends[1], ends[0]);
		return;
	}
	listener = loopback_listen();
	ends[0] = open_socket(type);
	connect_to(ends[0], listener);
	ends[1] = accept_from(listener);
	close(listener);
}

/* Ends by a reset: otherwise the kernel would remember each connection for a minute. */
void loopback_connect(int listener)
{
	const struct linger at_once = {.l_onoff = 1};
	int fd = open_socket(SOCK_STREAM);

	connect_to(fd, listener);
	close(accept_from(listener));
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) || close(fd))
		err(1, "cannot end a connection");
}
