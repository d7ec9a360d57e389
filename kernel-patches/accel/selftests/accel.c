// SPDX-License-Identifier: BSD-3-Clause
/* accel: runs take their times, one after the other, and those with a rule are predicted. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accel_abi.h"
#include "clock.h"
#include "fail_each.h"
#include "sysfs.h"
#include "tap.h"

#define SYSTEM "/sys/kernel/lull/accel/"
#define AHEAD "/sys/kernel/lull/anticipation/enabled"
#define US 1000ULL
#define RUNS 40
#define FILES 4

enum { K_MEANS, STREAMCLUSTER, IRREGULAR, KERNELS };

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(error < 0 ? -error : error));
}

static int must_open(int flags)
{
	int fd = open(ACCEL_PATH, O_RDWR | O_CLOEXEC | flags);

	must(fd < 0 ? errno : 0, "open " ACCEL_PATH);
	return fd;
}

static int start(int fd, uint32_t kernel)
{
	return ioctl(fd, ACCEL_START, &kernel) ? -errno : 0;
}

static int end(int fd, struct accel_run *run)
{
	ssize_t got = read(fd, run, sizeof(*run));

	return got < 0 ? -errno : got == sizeof(*run) ? 0 : -EIO;
}

static void test_errors(void)
{
	struct accel_run run;
	int fd = must_open(O_NONBLOCK), status;
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	pid_t pid;

	must(write_text(SYSTEM "enabled", "0"), "turn it off");
	tap_ok(start(fd, K_MEANS) == -EOPNOTSUPP, "EOPNOTSUPP: the system is off");
	must(write_text(SYSTEM "enabled", "1"), "turn it on");
	tap_ok(start(fd, KERNELS) == -EINVAL, "EINVAL: no such kernel");
	tap_ok(ioctl(fd, ACCEL_START, NULL) && errno == EFAULT, "EFAULT: no kernel");
	tap_ok(ioctl(fd, _IO('L', 0x7f)) && errno == ENOTTY, "ENOTTY: another call");
	tap_ok(end(fd, &run) == -ENODATA, "ENODATA: nothing runs");
	tap_ok(read(fd, &run, sizeof(run) - 1) < 0 && errno == EINVAL, "EINVAL: no room for a run");
	tap_ok(start(fd, K_MEANS) == 0 && start(fd, K_MEANS) == -EBUSY, "EBUSY: a second run");
	tap_ok(end(fd, &run) == -EAGAIN, "EAGAIN: it has not ended");
	tap_ok(poll(&ready, 1, 1000) == 1 && ready.revents == POLLIN && end(fd, &run) == 0,
	       "poll() tells when it has");
	tap_ok(write_text(SYSTEM "predict", "2x") == -EINVAL, "EINVAL: predict takes 0 and 1");
	tap_ok(write_text(SYSTEM "poll", "2x") == -EINVAL, "EINVAL: poll takes 0 and 1");
	close(fd);

	pid = fork();
	if (!pid) {
		char text[16];

		if (setuid(1000))
			_exit(2);
		_exit(open(ACCEL_PATH, O_RDWR) >= 0 || errno != EACCES ||
		      write_text(SYSTEM "predict", "0") != -EACCES ||
		      write_text(SYSTEM "poll", "1") != -EACCES ||
		      read_text(SYSTEM "stats", text, sizeof(text)) != -EACCES);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES: not root");
}

static void test_memory(void)
{
	fail_check(tap_ok, fail_each_open(ACCEL_PATH), "no memory for a file");
}

/* All ask at once, and one goes away: the others run one after the other. */
static void test_order(void)
{
	struct accel_run runs[FILES];
	int fds[FILES];
	bool right = true;

	for (int i = 0; i < FILES; i++) {
		fds[i] = must_open(0);
		must(start(fds[i], K_MEANS), "start a run");
	}
	close(fds[0]);
	close(fds[2]);
	for (int i = 1; i < FILES; i += 2)
		must(end(fds[i], &runs[i]), "wait for a run");
	/* The first ran on, alone; then came those that are left. */
	right &= runs[1].ended_ns - runs[1].began_ns >= 1000 * US;
	right &= runs[3].ended_ns - runs[1].ended_ns >= 500 * US;
	tap_ok(right, "runs come one after the other, also after files that were closed");
	close(fds[1]);
	close(fds[3]);
}

/* A number of the kernel's statistics, such as how many of its runs were predicted so far. */
static uint64_t counted(const char *kernel, const char *what)
{
	char text[1024], *line, *found;

	must(read_text(SYSTEM "stats", text, sizeof(text)), "read the statistics");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, kernel, strlen(kernel)) && (found = strstr(line, what)))
			return strtoull(found + strlen(what), NULL, 10);
	tap_bail("no %sof a kernel %s", what, kernel);
}

static void test_kernel(uint32_t kernel, const char *name, uint64_t least_us)
{
	uint64_t before = counted(name, "predicted "), count, least = UINT64_MAX;
	struct accel_run run;
	int fd = must_open(0);

	for (int i = 0; i < RUNS; i++) {
		must(start(fd, kernel), "start a run");
		must(end(fd, &run), "wait for a run");
		if (run.ended_ns - run.began_ns < least)
			least = run.ended_ns - run.began_ns;
	}
	close(fd);
	count = counted(name, "predicted ") - before;
	if (!tap_ok(least >= least_us * US, "%s: a run takes its time", name))
		tap_note("one took %llu ns", (unsigned long long)least);
	if (!tap_ok(kernel == IRREGULAR ? count < RUNS / 2 : count >= RUNS * 3 / 4, "%s: %s", name,
		    kernel == IRREGULAR ? "is not predicted" : "is predicted"))
		tap_note("%llu of %d were", (unsigned long long)count, RUNS);
}

static void ignore(int number)
{
	(void)number;
}

/* A signal that comes while the caller waits. How soon it waits differs from kernel to kernel. */
static bool ends_by_signal(int fd)
{
	const struct sigaction action = {.sa_handler = ignore};
	struct accel_run run;
	bool ended = false;
	int error;

	sigaction(SIGALRM, &action, NULL);
	for (int us = 20; us <= 1000 && !ended; us += 20) {
		const struct itimerval soon = {.it_value = {.tv_usec = us}}, never = {0};

		setitimer(ITIMER_REAL, &soon, NULL);
		must(start(fd, K_MEANS), "start a run");
		error = end(fd, &run);
		setitimer(ITIMER_REAL, &never, NULL);
		ended = error == -EINTR;
		if (ended)
			error = end(fd, &run);
		must(error, "wait for a run");
	}
	return ended;
}

/* The reader looks for the end of predicted runs, and of no others. */
static void test_poll(void)
{
	uint64_t before, count;
	struct accel_run run;
	int fd = must_open(0);

	must(write_text(SYSTEM "poll", "1"), "look for the end of runs");
	before = counted("kmeans", "polled ");
	for (int i = 0; i < RUNS; i++) {
		must(start(fd, K_MEANS), "start a run");
		must(end(fd, &run), "wait for a run");
	}
	count = counted("kmeans", "polled ") - before;
	/* A slow kernel misses some, and the first three are not predicted. */
	if (!tap_ok(count >= 5 && count <= RUNS - 3, "the ends of predicted runs are seen"))
		tap_note("%llu of %d were", (unsigned long long)count, RUNS);

	tap_ok(ends_by_signal(fd), "EINTR: a signal ends a wait that would look");
	must(write_text(SYSTEM "poll", "0"), "wait for the interrupt again");
	tap_ok(ends_by_signal(fd), "EINTR: a signal ends a wait for the interrupt");
	before = counted("kmeans", "polled ");
	for (int i = 0; i < RUNS; i++) {
		must(start(fd, K_MEANS), "start a run");
		must(end(fd, &run), "wait for a run");
	}
	tap_ok(counted("kmeans", "polled ") == before, "nobody looks while poll is 0");
	close(fd);
}

int main(void)
{
	char enabled[4], ahead[4];

	if (access(SYSTEM "enabled", F_OK)) {
		printf("1..0 # SKIP this platform has no accelerator\n");
		return 0;
	}
	must(read_text(SYSTEM "enabled", enabled, sizeof(enabled)), "read the switch");
	must(read_text(AHEAD, ahead, sizeof(ahead)), "read the switch of anticipatory wakeup");

	test_errors();
	test_memory();
	test_order();
	must(write_text(AHEAD, "1"), "turn anticipatory wakeup on");
	test_kernel(K_MEANS, "kmeans", 450);
	test_kernel(STREAMCLUSTER, "streamcluster", 330);
	test_kernel(IRREGULAR, "irregular", 149);
	test_poll();

	must(write_text(AHEAD, ahead), "restore anticipatory wakeup");
	must(write_text(SYSTEM "enabled", enabled), "restore the switch");
	return tap_finish();
}
