// SPDX-License-Identifier: BSD-3-Clause
#include "net_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

static char buffer[NET_LARGEST_WRITE];

int net_write_all(int fd, const void *data, size_t length)
{
	const char *at = data;

	while (length > 0) {
		ssize_t done = send(fd, at, length, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		length -= (size_t)done;
	}
	return 0;
}

int net_read_all(int fd, void *data, size_t length)
{
	char *at = data;

	while (length > 0) {
		ssize_t got = recv(fd, at, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EPIPE;
		at += got;
		length -= (size_t)got;
	}
	return 0;
}

/* When a stream of this rate has sent so many bytes. */
static uint64_t due_ns(const struct net_count *count, uint64_t bit_s)
{
	return count->began_ns + (uint64_t)((double)count->bytes * 8 * 1e9 / (double)bit_s);
}

int net_send_stream(int fd, uint64_t bit_s, uint64_t duration_ns, size_t size,
		    struct net_count *count)
{
	uint64_t now = clock_ns();
	int error = 0;

	*count = (struct net_count){.began_ns = now};
	while (!error && now < count->began_ns + duration_ns) {
		error = net_write_all(fd, buffer, size);
		/* A datagram that nobody waits for any more is refused: the next one may be taken.
		 */
		if (error == -ECONNREFUSED)
			error = 0;
		if (error)
			break;
		count->bytes += size;
		count->packets++;
		if (bit_s && due_ns(count, bit_s) > now)
			clock_sleep_until(due_ns(count, bit_s));
		now = clock_ns();
	}
	count->took_ns = now - count->began_ns;
	return error;
}

/* False when what has been sent has been read. */
static bool more_to_come(int fd, int control)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = control, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents;
}

int net_receive_stream(int fd, int control, struct net_count *count, uint64_t interval_ns,
		       net_tell tell)
{
	uint64_t next = 0, now;
	ssize_t got;

	*count = (struct net_count){0};
	while (control < 0 || more_to_come(fd, control)) {
		got = recv(fd, buffer, sizeof(buffer), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno != ECONNRESET ? -errno : 0;
		now = clock_ns();
		if (!count->began_ns) {
			count->began_ns = now;
			next = now + interval_ns;
		}
		count->bytes += (uint64_t)got;
		count->packets++;
		count->took_ns = now - count->began_ns;
		for (; tell && now >= next; next += interval_ns)
			tell(count);
	}
	return 0;
}
