// SPDX-License-Identifier: BSD-3-Clause
/* Connections and datagrams in several processes, while all that can change does. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "measure.h"
#include "pin.h"
#include "random.h"
#include "report.h"

/* At once, and what each of their connections sends. */
#define WORKERS 4
#define STREAM 65536

static uint64_t random_below(uint64_t *state, uint64_t most)
{
	return next_random(state) % most;
}

/* The byte at a place of a stream: one that lacks, or comes twice, is seen. */
static char byte_at(size_t place)
{
	return (char)(place * 7 + place / 251);
}

/* A child that connects and sends a stream of STREAM bytes; it is well if all were taken. */
static pid_t stream_to(const struct sockaddr_in *at, int listener)
{
	static char data[STREAM];
	pid_t child = fork();
	size_t sent = 0;
	int fd;

	if (child)
		return child;
	close(listener);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		_exit(1);
	for (size_t i = 0; i < STREAM; i++)
		data[i] = byte_at(i);
	while (sent < STREAM) {
		ssize_t done = send(fd, data + sent, STREAM - sent, MSG_NOSIGNAL);

		if (done <= 0)
			_exit(2);
		sent += (size_t)done;
	}
	_exit(0);
}

/* Up to `most` bytes of a stream, which have to be the next ones. Bytes, or -1. */
static ssize_t take_stream(int fd, size_t from, size_t most)
{
	static char data[STREAM];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t got = poll(&ready, 1, PATIENCE_MS) == 1 ? recv(fd, data, most, 0) : -1;

	for (ssize_t i = 0; i < got; i++)
		if (data[i] != byte_at(from + (size_t)i))
			return -1;
	return got;
}

/* Bytes that the monitor has counted of a socket; 0 if the system is off just now. */
static uint64_t counted(struct eanem *by, uint64_t id)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	if (eanem_sockets(by, sockets, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (sockets[i].id == id)
			return sockets[i].bytes;
	return 0;
}

/* A connection with random targets, which is read to its end, or reset. 0, or what was wrong. */
static int one_stream(struct eanem *by, uint64_t *state, bool resets)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	struct sockaddr_in at;
	int listener = socket_at(SOCK_STREAM, &at), fd, status = 0;
	ssize_t got = 1;
	size_t sum = 0;
	uint64_t known;
	pid_t child;

	if (listen(listener, 1))
		return 1;
	child = stream_to(&at, listener);
	fd = accept(listener, NULL, NULL);
	close(listener);
	if (fd < 0)
		return 2;
	for (int i = 0; i < 4 && got > 0; i++) {
		eanem_target_socket(by, cookie(fd), 200000 + random_below(state, 4000000));
		eanem_target_process(by, (uint32_t)getpid(), random_below(state, 2) * 1000000);
		got = take_stream(fd, sum, 1 + random_below(state, STREAM / 8));
		sum += got > 0 ? (size_t)got : 0;
	}
	if (resets)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	eanem_target_socket(by, cookie(fd), 0);
	eanem_target_process(by, (uint32_t)getpid(), 0);
	while (!resets && (got = take_stream(fd, sum, STREAM)) > 0)
		sum += (size_t)got;
	known = counted(by, cookie(fd));
	close(fd);
	if (resets)
		end(child);
	else
		waitpid(child, &status, 0);
	if (got < 0)
		return 3;
	if (known > STREAM)
		return 4;
	return resets || (sum == STREAM && WIFEXITED(status) && !WEXITSTATUS(status)) ? 0 : 5;
}

static int some_datagrams(uint64_t *state)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused), wrong = 0;
	char data[1000], got[sizeof(data) + 1];

	for (int i = 0; i < 20 && !wrong; i++) {
		size_t size = random_below(state, sizeof(data) + 1);
		struct pollfd ready = {.fd = to, .events = POLLIN};

		memset(data, i, size);
		wrong = sendto(from, data, size, 0, (struct sockaddr *)&at, sizeof(at)) < 0 ||
			poll(&ready, 1, PATIENCE_MS) != 1 ||
			recv(to, got, sizeof(got), 0) != (ssize_t)size || memcmp(data, got, size);
	}
	close(to);
	close(from);
	return wrong ? 6 : 0;
}

static pid_t worker(int number, int rounds)
{
	uint64_t state = (uint64_t)number + 1;
	struct eanem own;
	pid_t child = fork();
	int wrong = 0;

	if (child)
		return child;
	if (eanem_open(&own))
		_exit(7);
	for (int i = 0; i < rounds && !wrong; i++)
		wrong = (i + number) % 3 == 2 ? some_datagrams(&state)
					      : one_stream(&own, &state, (i + number) % 3);
	_exit(wrong);
}

/* On another CPU: steers, lists everything, and flips the switch. Each may fail in between. */
static pid_t disturber(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct lull_eanem_cpu cpus[64];
	struct eanem own;
	pid_t child = fork();
	size_t count;

	if (child)
		return child;
	if (eanem_open(&own))
		_exit(1);
	must(pin_to_cpu(1), "go to a CPU");
	for (unsigned int i = 0;; i++) {
		eanem_steer(&own, i % 3 ? "0-1" : i % 2 ? "0" : "", 0, NULL, 0);
		count = SOCKETS;
		eanem_sockets(&own, sockets, &count);
		count = 64;
		eanem_cpus(&own, cpus, &count);
		if (i % 8 == 7) {
			turn("0");
			turn("1");
		}
		clock_sleep(2 * MS);
	}
}

static size_t watched(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	must(eanem_sockets(&eanem, sockets, &count), "list sockets");
	return count;
}

/*
 * Several connections at once, and datagrams: they come, go, reset and change their targets, while
 * the system is steered, read, and turned off and on from another CPU.
 */
void test_storm(int rounds)
{
	size_t before = watched();
	pid_t workers[WORKERS], storm;
	int wrong = 0, status, steered = -EBUSY;

	storm = disturber();
	for (int i = 0; i < WORKERS; i++)
		workers[i] = worker(i, rounds);
	for (int i = 0; i < WORKERS; i++) {
		waitpid(workers[i], &status, 0);
		if (!wrong)
			wrong = WIFEXITED(status) ? WEXITSTATUS(status) : 8;
	}
	check(!waitpid(storm, &status, WNOHANG), "the system is steered, read and flipped");
	end(storm);
	turn("1");
	check(!wrong, "all bytes come on %d connections and by datagrams (%d)", WORKERS * rounds,
	      wrong);
	for (int i = 0; i < PATIENCE_MS && (steered || watched() > before); i++) {
		steered = eanem_steer(&eanem, "0", 0, NULL, 0);
		clock_sleep(MS);
	}
	check(watched() <= before, "no socket is left beside %zu: %zu", before, watched());
	check(!steered && !eanem_steer(&eanem, "", 0, NULL, 0), "and nobody steers any more");
	test_bytes();
}
