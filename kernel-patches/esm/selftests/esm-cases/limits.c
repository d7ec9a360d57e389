// SPDX-License-Identifier: BSD-3-Clause
/* What a user without rights can make the kernel hold, and what a device's name can pretend. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"

#define HANDLER 0xd0
#define USER 1000

/* Registrations that are refused. A thread for each would be seen among what else is forked. */
#define REFUSED 200

static struct device device;

static void become_user(void)
{
	if (setgid(USER) || setuid(USER))
		give_up("cannot become user %d: %s", USER, strerror(errno));
}

static bool by_thread(void)
{
	char mode[32] = "";

	system_read("dispatch", mode, sizeof(mode));
	return strcmp(mode, "thread") == 0;
}

/* Processes and threads since boot, the kernel's too. */
static unsigned long long forks(void)
{
	FILE *file = fopen("/proc/stat", "re");
	unsigned long long count = 0;
	char line[4096];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "processes %llu", &count) == 1;
	if (file)
		fclose(file);
	if (!found)
		give_up("/proc/stat does not count processes");
	return count;
}

/* In a process of its own, whose success is the check's. */
static bool succeeds_for_user(bool (*succeeds)(void))
{
	pid_t child = fork_child();
	int status;

	if (child == 0) {
		become_user();
		_exit(!succeeds());
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static bool is_refused_other_files(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int write_only = open(device.path, O_WRONLY | O_CLOEXEC);
	bool right = null >= 0 && write_only >= 0;

	for (int i = 0; right && i < REFUSED; i++)
		right = subscribe(null, EV_KEY, ESM_ANY, HANDLER) == -EINVAL &&
			subscribe(write_only, EV_KEY, ESM_ANY, HANDLER) == -EBADF;
	return right;
}

static void refused_registrations_make_nothing(void)
{
	uint64_t applications = statistic("applications");
	unsigned long long before = forks();

	check(succeeds_for_user(is_refused_other_files),
	      "a user cannot register with what is no device, nor with one he may only write");
	check(statistic("applications") == applications, "and is no application for it");
	check(forks() - before < REFUSED, "nor gets a thread");
}

static void limit_processes(rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NPROC, &limit))
		give_up("no limit of processes: %s", strerror(errno));
	limit.rlim_cur = most;
	if (setrlimit(RLIMIT_NPROC, &limit))
		give_up("cannot limit processes: %s", strerror(errno));
}

/* He has this process alone, and with it a thread if there are any. */
static bool threads_count(void)
{
	int fd = open(device.path, O_RDONLY | O_CLOEXEC);
	int alone = by_thread() ? -EAGAIN : 0;

	if (fd < 0)
		return false;
	for (int i = 0; i < 3; i++) {
		limit_processes(1);
		if (subscribe(fd, EV_KEY, ESM_ANY, HANDLER) != alone)
			return false;
		limit_processes(2);
		if (subscribe(fd, EV_KEY, ESM_ANY, HANDLER) || unsubscribe(fd, EV_KEY, ESM_ANY))
			return false;
	}
	return true;
}

void case_limits(void)
{
	device_create(&device, "lull-esm-test");
	if (chmod(device.path, 0606))
		give_up("cannot say who may read a device: %s", strerror(errno));
	refused_registrations_make_nothing();
	check(succeeds_for_user(threads_count), "%s",
	      by_thread() ? "a dispatcher thread counts as one of the user's processes"
			  : "without dispatcher threads nothing counts as a process");
	device_destroy(&device);
}

/* How often a file has a line. */
static int lines(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int count = 0;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		count += strcmp(line, wanted) == 0;
	}
	if (file)
		fclose(file);
	return count;
}

void case_names(void)
{
	char line[128];
	uint32_t number;
	int fd;

	device_create(&device, "two\n77 0 7 forged\\012");
	number = source_number("two\\01277 0 7 forged\\134012");
	check(number, "a name with a line break and a backslash is shown on one line");
	check(!lines(ESM_DIR "sources", "77 0 7 forged\\012"), "and forges no other");

	fd = device_open(&device, O_RDONLY);
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	prctl(PR_SET_NAME, "esm\n7 busy");
	snprintf(line, sizeof(line), "%d busy 0 0 foreground 1 esm\\0127 busy", getpid());
	check(lines(ESM_DEBUG_DIR "applications", line) == 1, "nor does that of an application");
	close(fd);
	device_destroy(&device);
}
