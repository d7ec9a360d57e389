// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "clock.h"
#include "message.h"
#include "random.h"

#define OTHER_END "10.0.0.1"
/* The other end may begin later. */
#define ANSWER_MS 100
#define TRIES 100
#define PAUSE_NS 1000000
/* From the answer to the first request, which finds the other end, to the second. */
#define BEGIN_NS 2000000

static int open_socket(void)
{
	struct sockaddr_in other = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, OTHER_END, &other.sin_addr);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&other, sizeof(other)))
		return -errno;
	return fd;
}

static int answered(int fd, uint64_t number)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct message answer;

	while (poll(&wait, 1, ANSWER_MS) > 0) {
		ssize_t got = recv(fd, &answer, sizeof(answer), 0);

		if (got < 0)
			return -errno;
		if (got == sizeof(answer) && answer.number == number)
			return 0;
	}
	return -ETIMEDOUT;
}

/* How long the request took, 0 if it had to be sent again. */
static int request(int fd, struct message *message, uint64_t *took_ns)
{
	int error = 0;

	for (int tries = 0; tries < TRIES; tries++) {
		message->sent_ns = clock_ns();
		if (send(fd, message, sizeof(*message), 0) == sizeof(*message))
			error = answered(fd, message->number);
		else
			error = -errno;
		*took_ns = tries ? 0 : clock_ns() - message->sent_ns;
		if (!error)
			return 0;
		if (error != -ETIMEDOUT && error != -ECONNREFUSED)
			return error;
		clock_sleep(PAUSE_NS);
	}
	return error;
}

int ask(uint64_t requests, uint64_t gap_us, uint64_t spread_percent, uint64_t seed)
{
	const uint64_t half_ns = gap_us * 10 * spread_percent;
	struct message message = {0};
	uint64_t took_ns = 0;
	int fd = open_socket(), error = 0;

	if (fd < 0)
		return fd;
	/* The requests leave when they were announced. */
	prctl(PR_SET_TIMERSLACK, 1);
	message.next_ns = 1;
	error = request(fd, &message, &took_ns);
	message.next_ns = clock_ns() + BEGIN_NS;
	for (uint64_t number = 1; number <= requests && !error; number++) {
		uint64_t distance_ns =
			gap_us * 1000 - half_ns + next_random(&seed) % (2 * half_ns + 1);

		clock_sleep_until(message.next_ns);
		message.number = number;
		message.before_ns = number > 1 ? took_ns : 0;
		message.next_ns = number < requests ? message.next_ns + distance_ns : 0;
		error = request(fd, &message, &took_ns);
	}
	if (error)
		return error;
	/* The last one's time has to be told too. */
	message.number = requests + 1;
	message.before_ns = took_ns;
	return request(fd, &message, &took_ns);
}
