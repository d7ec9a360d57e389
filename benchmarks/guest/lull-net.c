// SPDX-License-Identifier: BSD-3-Clause
/*
 * Traffic between the machine and its peer: one end serves, the other streams or plays ping-pong,
 * and writes JSON lines.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "jsonl.h"
#include "net_order.h"
#include "net_server.h"
#include "net_stream.h"
#include "options.h"
#include "pin.h"

/* For how long a server may be late, and how long an answer may take. */
#define CONNECT_TRIES 1000
#define CONNECT_PAUSE_NS 10000000
#define ANSWER_MS 20
#define ANSWER_TRIES 500
/* Connections of a flood: a process may have 1024 files. */
#define FLOOD_MOST 1000
#define FLOOD_WRITES 64

static const char usage[] =
	"usage: lull-net serve [--cpu N]\n"
	"       lull-net receive|send [--with ADDRESS] [--proto tcp|udp] [--kbit-s N] [--ms N]\n"
	"                             [--interval-ms N] [--size BYTES] [--cpu N]\n"
	"       lull-net ping [--with ADDRESS] [--proto tcp|udp] [--count N] [--gap-us N] "
	"[--size BYTES] [--cpu N]\n"
	"       lull-net flood [--with ADDRESS] [--count N] [--ms N]\n"
	"  --kbit-s: 0 is as fast as it goes\n";

static const char *with = NET_PEER, *proto = "tcp";
static uint64_t kbit_s, ms = 1000, interval_ms = 100, size, count = 100, gap_us = 1000,
			cpu = UINT64_MAX;

static const struct option_to options[] = {
	{.name = "with", .text = &with},
	{.name = "proto", .text = &proto},
	{.name = "kbit-s", .number = &kbit_s, .most = 10000000},
	{.name = "ms", .number = &ms, .least = 1, .most = 10000000},
	{.name = "interval-ms", .number = &interval_ms, .least = 1, .most = 10000000},
	{.name = "size", .number = &size, .least = 1, .most = NET_LARGEST_WRITE},
	{.name = "count", .number = &count, .least = 1, .most = 1000000},
	{.name = "gap-us", .number = &gap_us, .most = 10000000},
	{.name = "cpu", .number = &cpu, .most = 63},
	{0},
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "lull-net: %s: %s\n", what, strerror(-error));
	return 1;
}

static bool is_udp(void)
{
	return !strcmp(proto, "udp");
}

static struct sockaddr_in server_at(uint16_t port)
{
	struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, with, &server.sin_addr);
	return server;
}

/* The server may not have begun yet. */
static int connect_to_server(void)
{
	const struct sockaddr_in server = server_at(NET_PORT);
	int fd, yes = 1, error = 0;

	for (int i = 0; i < CONNECT_TRIES; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		if (!connect(fd, (const struct sockaddr *)&server, sizeof(server)))
			return fd;
		error = -errno;
		close(fd);
		if (error != -ECONNREFUSED)
			break;
		clock_sleep(CONNECT_PAUSE_NS);
	}
	return error;
}

static int connect_datagrams(int fd, uint32_t port)
{
	const struct sockaddr_in server = server_at((uint16_t)port);

	return connect(fd, (const struct sockaddr *)&server, sizeof(server)) ? -errno : 0;
}

static int open_datagrams(uint32_t *port)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	socklen_t length = sizeof(any);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, length) ||
	    getsockname(fd, (struct sockaddr *)&any, &length))
		return -errno;
	*port = ntohs(any.sin_port);
	return fd;
}

static int order(int fd, uint32_t what, uint32_t port)
{
	const struct net_order asked = {.magic = NET_MAGIC,
					.what = what,
					.proto = is_udp() ? NET_UDP : NET_TCP,
					.bit_s = kbit_s * 1000,
					.duration_ns = ms * 1000000,
					.size = (uint32_t)size,
					.port = port};

	return net_write_all(fd, &asked, sizeof(asked));
}

static int read_report(int fd, struct net_report *said)
{
	int error = net_read_all(fd, said, sizeof(*said));

	return !error && said->magic != NET_MAGIC ? -EPROTO : error;
}

static void tell(const char *what, const struct net_count *so_far)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_string(&line, "what", what);
	jsonl_int(&line, "took_ns", (int64_t)so_far->took_ns);
	jsonl_int(&line, "bytes", (int64_t)so_far->bytes);
	jsonl_int(&line, "packets", (int64_t)so_far->packets);
	jsonl_end(&line);
}

static void tell_interval(const struct net_count *so_far)
{
	tell("so far", so_far);
}

/* `own` and `theirs`: this end's count and the other end's. */
static void tell_both(const struct net_count *own, const struct net_report *theirs)
{
	const struct net_count other = {
		.bytes = theirs->bytes, .packets = theirs->packets, .took_ns = theirs->took_ns};

	tell("here", own);
	if (theirs->magic)
		tell("there", &other);
}

static int stream_datagrams(int control, uint32_t what)
{
	struct net_report said = {0};
	struct net_count own;
	uint32_t port;
	int fd = open_datagrams(&port);
	int error = fd < 0 ? fd : order(control, what, port);

	if (!error)
		error = read_report(control, &said);
	if (!error)
		error = connect_datagrams(fd, said.port);
	if (error)
		return error;
	if (what == NET_RECEIVE) {
		error = net_receive_stream(fd, control, &own, interval_ms * 1000000, tell_interval);
	} else {
		error = net_send_stream(fd, kbit_s * 1000, ms * 1000000, size, &own);
		shutdown(control, SHUT_WR);
	}
	if (!error)
		error = read_report(control, &said);
	if (!error)
		tell_both(&own, &said);
	return error;
}

static int stream_bytes(int fd, uint32_t what)
{
	struct net_report said = {0};
	struct net_count own;
	int error = order(fd, what, 0);

	if (error)
		return error;
	if (what == NET_RECEIVE) {
		error = net_receive_stream(fd, -1, &own, interval_ms * 1000000, tell_interval);
	} else {
		error = net_send_stream(fd, kbit_s * 1000, ms * 1000000, size, &own);
		shutdown(fd, SHUT_WR);
		if (!error)
			error = read_report(fd, &said);
	}
	if (!error)
		tell_both(&own, &said);
	return error;
}

static int stream(uint32_t what)
{
	int fd = connect_to_server();

	if (fd < 0)
		return fd;
	if (!size)
		size = is_udp() ? NET_LARGEST_DATAGRAM : NET_LARGEST_WRITE / 4;
	return is_udp() ? stream_datagrams(fd, what) : stream_bytes(fd, what);
}

/* A datagram is sent again where no answer comes, as before the server has begun. */
static int ask_datagram(int fd, uint64_t number, char *data, uint64_t *rtt_ns)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	for (int i = 0; i < ANSWER_TRIES; i++) {
		uint64_t began = clock_ns();

		memcpy(data, &number, sizeof(number));
		if (send(fd, data, size, 0) < 0 && errno != ECONNREFUSED)
			return -errno;
		while (poll(&wait, 1, ANSWER_MS) > 0) {
			ssize_t got = recv(fd, data, size, 0);

			if (got < 0 && errno != ECONNREFUSED)
				return -errno;
			*rtt_ns = clock_ns() - began;
			if (got == (ssize_t)size && !memcmp(data, &number, sizeof(number)))
				return 0;
			/* Nobody serves there yet. */
			if (got < 0)
				clock_sleep(CONNECT_PAUSE_NS);
			if (got < 0)
				break;
		}
	}
	return -ETIMEDOUT;
}

static int ask_bytes(int fd, char *data, uint64_t *rtt_ns)
{
	uint64_t began = clock_ns();
	int error = net_write_all(fd, data, size);

	if (!error)
		error = net_read_all(fd, data, size);
	*rtt_ns = clock_ns() - began;
	return error;
}

static int open_ping(void)
{
	uint32_t port;
	int fd = is_udp() ? open_datagrams(&port) : connect_to_server();
	int error = fd;

	if (fd >= 0)
		error = is_udp() ? connect_datagrams(fd, NET_PORT) : order(fd, NET_ECHO, 0);
	return error < 0 ? error : fd;
}

static int ping(void)
{
	static char data[NET_LARGEST_WRITE];
	struct jsonl line;
	uint64_t rtt_ns = 0;
	int error, fd;

	if (!size)
		size = 64;
	if (is_udp() && (size < sizeof(uint64_t) || size > NET_LARGEST_DATAGRAM))
		return -EMSGSIZE;
	fd = open_ping();
	if (fd < 0)
		return fd;
	for (uint64_t i = 0; i < count; i++) {
		if (gap_us)
			clock_sleep(gap_us * 1000);
		error = is_udp() ? ask_datagram(fd, i, data, &rtt_ns)
				 : ask_bytes(fd, data, &rtt_ns);
		if (error)
			return error;
		jsonl_begin(&line, stdout);
		jsonl_int(&line, "number", (int64_t)i);
		jsonl_int(&line, "rtt_ns", (int64_t)rtt_ns);
		jsonl_end(&line);
	}
	return 0;
}

/* The I-th of three kinds: it says nothing, it asks for a stream and does not read, it sends. */
static int flood_one(int i)
{
	static const char junk[1024];
	int fd = connect_to_server();

	if (fd < 0)
		return fd;
	size = NET_LARGEST_WRITE / 4;
	if (i % 3 && order(fd, i % 3 == 1 ? NET_RECEIVE : NET_SEND, 0))
		return fd;
	for (int k = 0; i % 3 == 2 && k < FLOOD_WRITES; k++)
		send(fd, junk, sizeof(junk), MSG_NOSIGNAL | MSG_DONTWAIT);
	return fd;
}

/* A client as nobody wants it: many connections at once, all of which are reset at the end. */
static int flood(void)
{
	static int fds[FLOOD_MOST];
	const struct linger reset = {.l_onoff = 1};
	uint64_t end = clock_ns() + ms * 1000000;
	int opened = 0, error = 0;

	while (!error && opened < (int)count && opened < FLOOD_MOST) {
		fds[opened] = flood_one(opened);
		error = fds[opened] < 0 ? fds[opened] : 0;
		opened += !error;
	}
	clock_sleep_until(end);
	for (int i = 0; i < opened; i++) {
		setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fds[i]);
	}
	return error;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int error;

	if (argc > 1)
		options_parse(argv + 1, options, usage);
	if (strcmp(proto, "tcp") != 0 && !is_udp())
		mode = "";
	if (is_udp() && size > NET_LARGEST_DATAGRAM)
		return fail("--size", -EMSGSIZE);
	error = cpu == UINT64_MAX ? 0 : pin_to_cpu((int)cpu);
	if (error)
		return fail("running on the CPU", error);
	if (!strcmp(mode, "serve"))
		error = net_serve();
	else if (!strcmp(mode, "receive"))
		error = stream(NET_RECEIVE);
	else if (!strcmp(mode, "send"))
		error = stream(NET_SEND);
	else if (!strcmp(mode, "ping"))
		error = ping();
	else if (!strcmp(mode, "flood"))
		error = flood();
	else
		return fputs(usage, stderr), 2;
	return error ? fail(mode, error) : 0;
}
