// SPDX-License-Identifier: BSD-3-Clause
/* Targets of connections that end or begin anew, and of processes that execute a program. */
#include <errno.h>
#include <netinet/in.h>
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
#include "report.h"
#include "sysfs.h"

/* A socket that the next program finds open, and only reads. */
#define INHERITED 100

/* The window that is shut at the moment is nobody's any more when the connection is closed. */
void test_close(bool has_sent_its_last)
{
	static char data[65536];
	bool ended = true;

	for (int i = 0; i < 5 && ended; i++) {
		pid_t child;
		int fd = connection(&child), status;
		uint64_t bytes;

		must(eanem_target_socket(&eanem, cookie(fd), 200000), "set a target");
		read_for(&fd, 1, 300 * MS, &bytes);
		/* Nothing is left to read, which close() would answer by a reset. */
		while (recv(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
			;
		if (has_sent_its_last)
			shutdown(fd, SHUT_WR);
		while (has_sent_its_last && recv(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
			;
		close(fd);
		ended = false;
		for (int ms = 0; ms < 10000 && !ended; ms += 10) {
			ended = waitpid(child, &status, WNOHANG) == child;
			clock_sleep(10 * MS);
		}
		if (!ended)
			end(child);
	}
	check(ended, "who sends to a connection that is closed%s hears of that at once",
	      has_sent_its_last ? ", after half of it was," : "");
}

int next_program(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct sockaddr_in at;
	struct eanem own;
	size_t count = SOCKETS;
	char byte;

	if (eanem_open(&own))
		return 1;
	if (recv(INHERITED, &byte, 1, MSG_DONTWAIT) < 0 && errno == EBADF)
		socket_at(SOCK_STREAM, &at);
	if (eanem_sockets(&own, sockets, &count) || count != 1)
		return 2;
	return sockets[0].target ? 3 : 0;
}

/* That program may be a more privileged one. */
void test_next_program(const char *program, bool inherits)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		struct sockaddr_in at;
		struct eanem own;

		if (inherits && dup2(socket_at(SOCK_STREAM, &at), INHERITED) < 0)
			_exit(6);
		if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own) ||
		    eanem_target_process(&own, (uint32_t)getpid(), 1000))
			_exit(4);
		execl("/proc/self/exe", program, NEXT_PROGRAM, NULL);
		_exit(5);
	}
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "a process's own target ends with its program%s (%d)",
	      inherits ? ", for a socket that the next one only reads" : "", WEXITSTATUS(status));
}

/* Sends for half a second and resets the connection. The next one has data until the end. */
static void reset_the_first(int listener)
{
	static const char data[65536];
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	uint64_t end = clock_ns() + 500 * MS;
	int fd = accept(listener, NULL, NULL);

	while (clock_ns() < end && send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) || close(fd))
		_exit(1);
	fd = accept(listener, NULL, NULL);
	while (send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
	_exit(0);
}

/* A socket keeps its target when it connects anew. What the old connection had is forgotten. */
void test_reconnect(void)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	int fd = socket(AF_INET, SOCK_STREAM, 0), listener;
	char period_us[32], data[4096];
	struct sockaddr_in at;
	uint64_t part;
	pid_t child;

	must(read_text(EANEM_DIR "/period_us", period_us, sizeof(period_us)), "read a setting");
	/* Windows of 80 kB, which are more than a new connection offers. */
	put(EANEM_DIR "/period_us", "20000");
	listener = socket_at(SOCK_STREAM, &at);
	if (fd < 0 || listen(listener, 1))
		bail("cannot listen: %s", strerror(errno));
	child = fork();
	if (!child)
		reset_the_first(listener);
	close(listener);
	must(eanem_target_socket(&eanem, cookie(fd), 4000000), "set a target");
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		bail("cannot connect: %s", strerror(errno));
	while (recv(fd, data, sizeof(data), 0) > 0)
		;
	if (connect(fd, &none, sizeof(none)) || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		bail("cannot connect anew: %s", strerror(errno));
	part = part_of(fd, 4000000, 300, 400);
	check(within(part, 900, 1100), "a socket that connects anew: %llu of 1000",
	      (unsigned long long)part);
	end(child);
	close(fd);
	put(EANEM_DIR "/period_us", period_us);
}
