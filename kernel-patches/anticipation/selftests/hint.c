// SPDX-License-Identifier: BSD-3-Clause
/*
 * hint: a network peer says when its next message comes, and the receiver's CPU is ready then.
 *
 *   hint                               the test: peer and receiver in this machine
 *   hint receive PORT [MESSAGES]       an example of a receiver: a UDP port, messages with hints
 *   hint send ADDRESS PORT IN_US FOR_US [MESSAGES]
 *                                      an example of a peer: a hint, and IN_US later the message
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "sysfs.h"
#include "tap.h"
#include "wake_ahead_abi.h"
#include "wake_hint.h"

#define SYSTEM "/sys/kernel/lull/anticipation/"
#define US 1000ULL
#define MESSAGES 20

/* As much as this receiver believes anybody: a second ahead, and windows of 20 ms. */
static const struct wake_hint_limits limits = {1000000, 20000};

/* What a receiver has seen. */
struct seen {
	unsigned int hints, refused, messages;
	int error;
	struct wake_ahead_counts counts;
};

static int open_port(uint16_t port, uint16_t *got)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	/* The test's peer is this machine; an example's may be any. */
	address.sin_addr.s_addr = htonl(got ? INADDR_LOOPBACK : INADDR_ANY);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		return -errno;
	if (got)
		*got = ntohs(address.sin_port);
	return fd;
}

/* Until so many messages have come that are no hints. */
static int receive(int port, unsigned int messages, struct seen *seen)
{
	int ahead = open(WAKE_AHEAD_PATH, O_RDWR | O_CLOEXEC), error;
	struct wake_hint hint;
	uint8_t data[1500];

	if (ahead < 0)
		return -errno;
	while (seen->messages < messages) {
		ssize_t got = recv(port, data, sizeof(data), 0);

		if (got < 0)
			return -errno;
		error = wake_hint_read(data, (size_t)got, &limits, &hint);
		if (error == -EBADMSG) {
			/* What was hinted at. Nobody needs the CPU for it any more. */
			wake_hint_came(ahead);
			seen->messages++;
			continue;
		}
		if (!error)
			error = wake_hint_ask(ahead, &hint, clock_ns());
		seen->hints += !error;
		seen->refused += error != 0;
		seen->error = error ?: seen->error;
	}
	if (ioctl(ahead, WAKE_AHEAD_COUNTS, &seen->counts))
		return -errno;
	close(ahead);
	return 0;
}

static int send_to(int fd, const struct sockaddr_in *to, const void *data, size_t length)
{
	ssize_t sent = sendto(fd, data, length, 0, (const struct sockaddr *)to, sizeof(*to));

	return sent == (ssize_t)length ? 0 : -errno;
}

/* The message comes in the middle of what the hint says. */
static int send_hinted(int fd, const struct sockaddr_in *to, const struct wake_hint *hint)
{
	uint8_t bytes[WAKE_HINT_BYTES];
	int error;

	wake_hint_write(hint, bytes);
	error = send_to(fd, to, bytes, sizeof(bytes));
	clock_sleep((hint->in_us + hint->for_us / 2) * US);
	return error ?: send_to(fd, to, "message", 7);
}

static int say(const char *what, int error)
{
	fprintf(stderr, "hint: %s: %s\n", what, strerror(-error));
	return 1;
}

static int example_receive(int argc, char **argv)
{
	struct seen seen = {0};
	int port = open_port((uint16_t)atoi(argv[2]), NULL);
	int error =
		port < 0 ? port : receive(port, argc > 3 ? (unsigned int)atoi(argv[3]) : 1, &seen);

	if (error)
		return say("receive", error);
	printf("hints %u refused %u messages %u hits %llu early %llu misses %llu\n", seen.hints,
	       seen.refused, seen.messages, (unsigned long long)seen.counts.hits,
	       (unsigned long long)seen.counts.early, (unsigned long long)seen.counts.misses);
	return 0;
}

static int example_send(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[3]))};
	struct wake_hint hint = {(uint32_t)atoi(argv[4]), (uint32_t)atoi(argv[5])};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = fd < 0 ? -errno : 0;

	if (!error && inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		error = -EINVAL;
	for (int i = 0; !error && i < (argc > 6 ? atoi(argv[6]) : 1); i++)
		error = send_hinted(fd, &to, &hint);
	return error ? say("send", error) : 0;
}

/* A peer sends what @peer does, and then MESSAGES; what the receiver has seen of it. */
static struct seen exchange(void (*peer)(int fd, const struct sockaddr_in *to))
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct seen seen = {0};
	uint16_t number = 0;
	int port = open_port(0, &number), error;
	pid_t pid;

	if (port < 0)
		tap_bail("no port: %s", strerror(-port));
	to.sin_port = htons(number);
	pid = fork();
	if (!pid) {
		peer(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), &to);
		_exit(0);
	}
	error = receive(port, MESSAGES, &seen);
	if (error)
		tap_bail("the receiver failed: %s", strerror(-error));
	waitpid(pid, NULL, 0);
	close(port);
	tap_note("hints %u refused %u hits %llu misses %llu", seen.hints, seen.refused,
		 (unsigned long long)seen.counts.hits, (unsigned long long)seen.counts.misses);
	return seen;
}

static void keeps_its_word(int fd, const struct sockaddr_in *to)
{
	for (int i = 0; i < MESSAGES; i++)
		send_hinted(fd, to, &(struct wake_hint){3000, 5000});
}

static void is_late(int fd, const struct sockaddr_in *to)
{
	uint8_t bytes[WAKE_HINT_BYTES];

	for (int i = 0; i < MESSAGES; i++) {
		wake_hint_write(&(struct wake_hint){1000, 500}, bytes);
		send_to(fd, to, bytes, sizeof(bytes));
		clock_sleep(8000 * US);
		send_to(fd, to, "message", 7);
	}
}

static void floods(int fd, const struct sockaddr_in *to)
{
	uint8_t bytes[WAKE_HINT_BYTES];

	for (int i = 0; i < MESSAGES; i++) {
		for (int hint = 0; hint < 50; hint++) {
			wake_hint_write(&(struct wake_hint){2000 + hint, 10000}, bytes);
			send_to(fd, to, bytes, sizeof(bytes));
			clock_sleep(20 * US);
		}
		clock_sleep(5000 * US);
		send_to(fd, to, "message", 7);
	}
}

static void asks_too_much(int fd, const struct sockaddr_in *to)
{
	static const struct wake_hint hints[] = {
		{limits.most_in_us + 1, 1000},
		{1000, limits.most_for_us + 1},
		{UINT32_MAX, UINT32_MAX},
		{1000, 0},
	};
	uint8_t bytes[WAKE_HINT_BYTES];

	for (int i = 0; i < MESSAGES; i++) {
		wake_hint_write(&hints[i % 4], bytes);
		send_to(fd, to, bytes, sizeof(bytes));
		clock_sleep(1000 * US);
		send_to(fd, to, "message", 7);
	}
}

static void test_format(void)
{
	uint8_t bytes[WAKE_HINT_BYTES + 1] = {0};
	struct wake_hint hint = {0};
	bool refused = true;

	wake_hint_write(&(struct wake_hint){1000000, 20000}, bytes);
	tap_ok(!wake_hint_read(bytes, sizeof(bytes), &limits, &hint) && hint.in_us == 1000000 &&
		       hint.for_us == 20000,
	       "a hint is read as it was written, whatever follows it");
	tap_ok(bytes[4] == 0 && bytes[5] == 0x0f && bytes[6] == 0x42 && bytes[7] == 0x40,
	       "numbers are in network order");
	for (size_t length = 0; length < WAKE_HINT_BYTES; length++)
		refused &= wake_hint_read(bytes, length, &limits, &hint) == -EBADMSG;
	for (size_t at = 0; at < 4; at++) {
		bytes[at] ^= 1;
		refused &= wake_hint_read(bytes, WAKE_HINT_BYTES, &limits, &hint) == -EBADMSG;
		bytes[at] ^= 1;
	}
	bytes[15] = 1;
	refused &= wake_hint_read(bytes, WAKE_HINT_BYTES, &limits, &hint) == -EBADMSG;
	tap_ok(refused, "EBADMSG: what is no hint");
}

static int test(void)
{
	struct seen seen;

	if (access(SYSTEM "enabled", F_OK)) {
		puts("1..0 # SKIP this kernel has no anticipatory wakeup");
		return 0;
	}
	test_format();
	write_text(SYSTEM "enabled", "0");
	seen = exchange(keeps_its_word);
	tap_ok(!seen.hints && seen.refused == MESSAGES && seen.error == -EOPNOTSUPP,
	       "off, a hint is EOPNOTSUPP, and messages come");
	write_text(SYSTEM "enabled", "1");
	seen = exchange(keeps_its_word);
	tap_ok(seen.hints == MESSAGES && !seen.refused, "each hint becomes a window");
	tap_ok(seen.counts.hits >= MESSAGES * 3 / 4, "and each message comes in it");
	seen = exchange(is_late);
	tap_ok(seen.hints == MESSAGES && seen.counts.hits == 0 && seen.counts.misses > 0,
	       "a peer that is late misses, and the CPU sleeps again");
	seen = exchange(floods);
	/* A slow kernel may be in the first hint's window before the fiftieth is sent. */
	tap_ok(seen.hints > MESSAGES && seen.counts.hits > 0 &&
		       seen.counts.hits + seen.counts.misses < seen.hints / 10,
	       "a peer that floods has one window at a time");
	seen = exchange(asks_too_much);
	tap_ok(!seen.hints && seen.refused == MESSAGES && seen.error == -ERANGE &&
		       !seen.counts.hits && !seen.counts.misses,
	       "ERANGE: one that asks for too much, or for nothing, has none");
	write_text(SYSTEM "enabled", "0");
	return tap_finish();
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return test();
	if (argc >= 3 && !strcmp(argv[1], "receive"))
		return example_receive(argc, argv);
	if (argc >= 6 && !strcmp(argv[1], "send"))
		return example_send(argc, argv);
	fputs("usage: hint [receive PORT [MESSAGES]] [send ADDRESS PORT IN_US FOR_US [MESSAGES]]\n",
	      stderr);
	return 2;
}
