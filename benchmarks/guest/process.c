// SPDX-License-Identifier: BSD-3-Clause
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "end.h"

#define CONSOLE "/dev/console"

/* A killed process may sit in the kernel this long before we go on without it. */
#define REAP_SECONDS 10

struct child {
	pid_t pid;
	bool ended;
	int status;
};

enum { OUTPUT, CHILDREN, LIMIT, FDS };

static _Noreturn void exec_with(int input, int output, const char *path, char *const argv[])
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0)
		execv(path, argv);
	note("cannot execute %s: %s", path, strerror(errno));
	_exit(STATUS_INIT_FAILED);
}

static void reap(struct child *child)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != child->pid)
			continue;
		child->ended = true;
		child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

static int open_child_signal(void)
{
	sigset_t child;
	int fd;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		fail("cannot open a signalfd: %s", strerror(errno));
	return fd;
}

static int open_limit(double limit_s)
{
	struct itimerspec when = {0};
	int fd;

	if (limit_s <= 0)
		return -1;
	when.it_value.tv_sec = (time_t)limit_s;
	when.it_value.tv_nsec = (long)((limit_s - (double)when.it_value.tv_sec) * 1e9);
	/* All zeros would mean no limit. */
	if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0)
		when.it_value.tv_nsec = 1;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (fd < 0 || timerfd_settime(fd, 0, &when, NULL))
		fail("cannot set a timer: %s", strerror(errno));
	return fd;
}

/*
 * Sends one buffer, so that a script that never stops writing cannot keep us from its limit.
 * False when the pipe is empty or at its end; errno tells which, 0 being the end.
 */
static bool pump(int pipe)
{
	static char buffer[1 << 16];
	ssize_t got = read(pipe, buffer, sizeof(buffer));

	if (got < 0 && errno != EAGAIN && errno != EINTR)
		fail("cannot read the script's output: %s", strerror(errno));
	if (got > 0)
		send_stdout(buffer, (size_t)got);
	else if (got == 0)
		errno = 0;
	return got > 0;
}

static void drop_signals(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) > 0)
		;
}

/* Kernel threads are not ours to reap: no child is left when everyone we can kill is gone. */
static void kill_rest(void)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	for (int waited = 0; waited < REAP_SECONDS * 1000; waited++) {
		pid_t pid;

		/* Again each time: one that was forking may have been missed. */
		kill(-1, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		nanosleep(&millisecond, NULL);
	}
	note("a process did not die in %d s", REAP_SECONDS);
}

struct piped start_piped(const char *path, char *const argv[])
{
	struct piped piped = {.children = open_child_signal()};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int ends[2];

	if (null < 0 || pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		fail("cannot set up the script's output: %s", strerror(errno));
	piped.pid = fork();
	if (piped.pid < 0)
		fail("cannot fork: %s", strerror(errno));
	if (piped.pid == 0) {
		setsid();
		exec_with(null, ends[1], path, argv);
	}
	close(ends[1]);
	close(null);
	piped.output = ends[0];
	return piped;
}

int finish_piped(const struct piped *piped, double limit_s)
{
	struct pollfd fds[FDS] = {
		[OUTPUT] = {.fd = piped->output, .events = POLLIN},
		[CHILDREN] = {.fd = piped->children, .events = POLLIN},
		[LIMIT] = {.fd = open_limit(limit_s), .events = POLLIN},
	};
	struct child child = {.pid = piped->pid};
	bool stopped = false;

	while (!child.ended && !stopped) {
		if (poll(fds, FDS, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the script: %s", strerror(errno));
		}
		/* A script that closes its output still runs: stop looking at the pipe. */
		if (fds[OUTPUT].revents && !pump(piped->output) && errno == 0)
			fds[OUTPUT].fd = -1;
		if (fds[CHILDREN].revents) {
			drop_signals(piped->children);
			reap(&child);
		}
		stopped = fds[LIMIT].revents && !child.ended;
	}
	kill_rest();
	while (pump(piped->output))
		;
	close(piped->output);
	close(piped->children);
	if (fds[LIMIT].fd >= 0)
		close(fds[LIMIT].fd);
	if (!stopped)
		return child.status;
	say("the script was stopped at its limit of %g simulated seconds", limit_s);
	return STATUS_LIMIT;
}

static _Noreturn void exec_on_console(const char *path, char *const argv[])
{
	int fd;

	setsid();
	fd = open(CONSOLE, O_RDWR);
	if (fd >= 0) {
		/* Job control is a convenience: a console that is no terminal does without. */
		ioctl(fd, TIOCSCTTY, 1);
		exec_with(fd, fd, path, argv);
	}
	note("cannot open " CONSOLE ": %s", strerror(errno));
	_exit(STATUS_INIT_FAILED);
}

int run_on_console(const char *path, char *const argv[])
{
	struct child child = {.pid = fork()};

	if (child.pid < 0)
		fail("cannot fork: %s", strerror(errno));
	if (child.pid == 0)
		exec_on_console(path, argv);
	while (!child.ended) {
		siginfo_t info;

		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
		reap(&child);
	}
	kill_rest();
	return child.status;
}
