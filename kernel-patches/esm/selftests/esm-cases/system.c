// SPDX-License-Identifier: BSD-3-Clause
#include "system.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "report.h"
#include "sysfs.h"
#include "task_state.h"

/* What has not happened by then does not happen. */
#define PATIENCE_NS 20000000000ULL
#define LOOK_NS 200000

int system_read(const char *file, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), ESM_DIR "%s", file);
	return read_text(path, text, size);
}

int system_write(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), ESM_DIR "%s", file);
	return write_text(path, text);
}

pid_t fork_child(void)
{
	pid_t child = fork();

	if (child < 0)
		give_up("cannot fork: %s", strerror(errno));
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

void kill_and_reap(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

void check_in_namespace(int kind, const char *name, bool (*right)(void), const char *text)
{
	enum { RIGHT, WRONG, NO_NAMESPACES };
	pid_t child = fork_child();
	int status;

	if (child == 0) {
		if (unshare(kind))
			_exit(NO_NAMESPACES);
		_exit(right() ? RIGHT : WRONG);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACES)
		note("this kernel has no %s namespaces", name);
	else
		check(status == 0, "%s", text);
}

void system_set(const char *file, const char *text)
{
	int error = system_write(file, text);

	if (error)
		give_up("cannot write '%s' to %s: %s", text, file, strerror(-error));
}

int foreground_write(const pid_t *pids, size_t count)
{
	char text[1024];
	int used = 0;

	for (size_t i = 0; i < count; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%d ", pids[i]);
	snprintf(text + used, sizeof(text) - (size_t)used, "\n");
	return system_write("foreground", text);
}

void foreground_set(const pid_t *pids, size_t count)
{
	int error = foreground_write(pids, count);

	if (error)
		give_up("cannot set the foreground: %s", strerror(-error));
}

void foreground_nobody(void)
{
	foreground_set(NULL, 0);
}

/* The line of a file that begins with a word; its rest. False without such a line. */
static bool find_line(const char *path, const char *word, char *rest, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(word);
	bool found = false;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, word, length) == 0 && strchr(" \t:", line[length]);
		if (found)
			snprintf(rest, size, "%.*s", (int)strcspn(line + length, "\n"),
				 line + length);
	}
	if (file)
		fclose(file);
	return found;
}

uint64_t statistic(const char *name)
{
	char rest[64];

	if (!find_line(ESM_DEBUG_DIR "stats", name, rest, sizeof(rest)))
		give_up(ESM_DEBUG_DIR "stats has no %s", name);
	return strtoull(rest + strspn(rest, ": \t"), NULL, 10);
}

bool is_application(pid_t task)
{
	char word[16], rest[512];

	snprintf(word, sizeof(word), "%d", task);
	return find_line(ESM_DEBUG_DIR "applications", word, rest, sizeof(rest));
}

/* A line of the sources: number, interrupt, packets, name. */
static bool find_source(const char *name, unsigned int *number, unsigned long long *packets)
{
	FILE *file = fopen(ESM_DIR "sources", "re");
	bool found = false;
	char line[256];
	int at;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = sscanf(line, "%u %*u %llu %n", number, packets, &at) == 2 &&
			strcmp(line + at, name) == 0;
	}
	if (file)
		fclose(file);
	return found;
}

uint32_t source_number(const char *name)
{
	unsigned long long packets;
	unsigned int number;

	return find_source(name, &number, &packets) ? number : 0;
}

uint64_t source_packets(const char *name)
{
	unsigned long long packets;
	unsigned int number;

	if (!find_source(name, &number, &packets))
		give_up("there is no source %s", name);
	return packets;
}

bool await_state(pid_t task, char state)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	uint64_t end = clock_ns() + PATIENCE_NS;
	char now = task_state(task);

	for (; now != state && clock_ns() < end; now = task_state(task))
		nanosleep(&pause, NULL);
	if (now != state)
		note("task %d is in state '%c', not '%c'", task, now ? now : '-', state);
	return now == state;
}

void task_status(pid_t task, const char *key, char *value, size_t size)
{
	char path[64], rest[512];

	snprintf(path, sizeof(path), "/proc/%d/status", task);
	if (!find_line(path, key, rest, sizeof(rest)))
		give_up("%s has no %s", path, key);
	snprintf(value, size, "%s", rest + strspn(rest, ": \t"));
}

uint64_t task_waits(pid_t task)
{
	char value[64];

	task_status(task, "voluntary_ctxt_switches", value, sizeof(value));
	return strtoull(value, NULL, 10);
}

uint64_t asleep(pid_t task)
{
	uint64_t waits = 0;

	/* It is counted a little after the state is set. */
	for (int same = 0; same < 3; same++) {
		uint64_t now = task_waits(task);

		if (now != waits)
			same = 0;
		waits = now;
		usleep(1000);
	}
	return waits;
}

bool slept_on(pid_t task, uint64_t waits)
{
	return task_state(task) == EV_WAIT && asleep(task) == waits;
}
