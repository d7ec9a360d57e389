// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a shell command on the peer, in the background: `lull boot --peer` puts this before the
 * script on QEMU, where the peer is a network namespace of this guest. On gem5 the peer is another
 * machine, which has a script of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "machine.h"

static int fail(const char *what, int error)
{
	fprintf(stderr, "lull-peer: %s: %s\n", what, strerror(error));
	return 1;
}

static int run(const char *command, int output)
{
	setsid();
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		return 127;
	execl("/bin/sh", "sh", "-c", command, NULL);
	return 127;
}

int main(int argc, char **argv)
{
	struct channel channel;
	int namespace, error;
	pid_t pid;

	if (argc != 2) {
		fputs("usage: lull-peer COMMAND\n", stderr);
		return 2;
	}
	if (machine_engine() != ENGINE_QEMU || machine_part() != PART_MACHINE) {
		fputs("lull-peer: there is no peer in this guest\n", stderr);
		return 1;
	}
	namespace = open(PEER_NAMESPACE, O_RDONLY | O_CLOEXEC);
	if (namespace < 0 || setns(namespace, CLONE_NEWNET))
		return fail(PEER_NAMESPACE, errno);
	error = channel_open(&channel, ENGINE_QEMU, CHANNEL_PEER_STDOUT);
	if (error)
		return fail(CHANNEL_PEER_STDOUT, -error);
	pid = fork();
	if (pid < 0)
		return fail("fork", errno);
	return pid ? 0 : run(argv[1], channel.fd);
}
