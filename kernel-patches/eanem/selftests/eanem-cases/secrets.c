// SPDX-License-Identifier: BSD-3-Clause
/* What processes of another user see and may do, which is about their own sockets. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "eanem.h"
#include "netlink.h"
#include "report.h"

/* By a process of another user, which has a socket of its own. */
static int others(uint64_t id, uint32_t pid)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct lull_eanem_cpu cpu;
	struct sockaddr_in at;
	struct eanem own;
	size_t count = SOCKETS, one = 1;
	char byte;
	int fd;

	if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own))
		return 1;
	fd = socket_at(SOCK_STREAM, &at);
	recv(fd, &byte, 1, MSG_DONTWAIT);
	if (eanem_sockets(&own, sockets, &count) || count != 1 || sockets[0].id != cookie(fd))
		return 2;
	if (eanem_cpus(&own, &cpu, &one) != -EPERM)
		return 3;
	if (eanem_target_socket(&own, id, 1000) != -ENOENT)
		return 4;
	if (eanem_target_process(&own, pid, 1000) != -EPERM)
		return 5;
	if (eanem_steer(&own, "0", 0, NULL, 0) != -EPERM)
		return 6;
	if (eanem_target_socket(&own, cookie(fd), 1000) ||
	    eanem_target_process(&own, (uint32_t)getpid(), 1000))
		return 7;
	return 0;
}

/* A dump of which another process reads the rest: the owner may be more privileged by then. */
static int others_rest(void)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct eanem own;
	size_t count = SOCKETS;
	int records, status = 0, error;
	pid_t child;

	if (setgid(NOBODY) || setuid(NOBODY) || eanem_open(&own))
		return 1;
	for (int i = 0; i < MANY; i++)
		if (socket(AF_INET, SOCK_STREAM, 0) < 0)
			return 2;
	if (eanem_sockets(&own, sockets, &count) || count != MANY)
		return 3;
	ask(&own, LULL_EANEM_COMMAND_SOCKETS, NLM_F_DUMP, NULL, 0);
	child = fork();
	if (!child) {
		error = answer(&own, &records);
		_exit(error == -EPERM && records > 0 && records < MANY ? 0 : 4);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

void test_secrets(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_STREAM, &at), status = 0;
	struct lull_eanem_socket record;
	pid_t child;

	child = fork();
	if (!child)
		_exit(others(cookie(fd), (uint32_t)getppid()));
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "another user's process sees and throttles its own sockets alone (%d)",
	      WEXITSTATUS(status));
	check(find(&eanem, cookie(fd), &record) && record.target == 0,
	      "and root sees this one, untouched");
	child = fork();
	if (!child)
		_exit(others_rest());
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "nobody else reads the rest of what it has asked for (%d)", WEXITSTATUS(status));
	close(fd);
}
