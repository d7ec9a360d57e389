// SPDX-License-Identifier: BSD-3-Clause
#include "idle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

/* Most of the work of opening is the way there, so the folder of a CPU stays open for the next. */
static int open_file(int cpu, int state, const char *file, int flags)
{
	static int folder = -1, folder_cpu = -1;
	char path[96];
	int fd;

	if (cpu != folder_cpu) {
		if (folder >= 0)
			close(folder);
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle", cpu);
		folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		folder_cpu = folder < 0 ? -1 : cpu;
		if (folder < 0)
			return -errno;
	}
	snprintf(path, sizeof(path), "state%d/%s", state, file);
	fd = openat(folder, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int idle_open(int cpu, int state, const char *file)
{
	return open_file(cpu, state, file, O_RDONLY);
}

int idle_number(int cpu, int state, const char *file, uint64_t *number)
{
	int fd = idle_open(cpu, state, file);
	int error;

	if (fd < 0)
		return fd;
	error = read_number_of(fd, number);
	close(fd);
	return error;
}

int idle_name(int cpu, int state, char name[IDLE_NAME_SIZE])
{
	int fd = idle_open(cpu, state, "desc");
	int error;

	if (fd < 0)
		return fd;
	error = read_text_of(fd, name, IDLE_NAME_SIZE);
	close(fd);
	/* Linux has its own words for the first state. */
	if (!error && state == 0)
		strcpy(name, "C1");
	return error;
}

int idle_depth(int cpu, int state)
{
	char name[IDLE_NAME_SIZE];
	int error = idle_name(cpu, state, name);

	return error ? error : atoi(name + 1);
}

int idle_find(int cpu, const char *name)
{
	char found[IDLE_NAME_SIZE];
	int error, state = 0;

	while (!(error = idle_name(cpu, state, found)) && strcmp(found, name) != 0)
		state++;
	return error ? error : state;
}

int idle_read(int cpu, struct idle_states *states)
{
	uint64_t disabled;
	int error = 0;

	*states = (struct idle_states){0};
	while (states->count < IDLE_MAX_STATES &&
	       !(error = idle_number(cpu, states->count, "disable", &disabled)))
		states->disabled[states->count++] = disabled != 0;
	return error == -ENOENT ? 0 : error;
}

static int disable(int cpu, int state, bool disabled)
{
	const char *wanted = disabled ? "1" : "0";
	int fd = open_file(cpu, state, "disable", O_RDWR | O_TRUNC);
	char now[8];
	int error;

	if (fd < 0)
		return fd;
	error = exchange_text_of(fd, wanted, now, sizeof(now));
	close(fd);
	return error ? error : strcmp(now, wanted) == 0 ? 0 : -EIO;
}

int idle_change(int cpu, const struct idle_states *from, const struct idle_states *to)
{
	int error = 0;

	/* What is allowed first, so that there is never a moment without any. */
	for (int disabled = 0; disabled <= 1; disabled++)
		for (int state = 0; !error && state < to->count; state++)
			if (to->disabled[state] == disabled && from->disabled[state] != disabled)
				error = disable(cpu, state, disabled);
	return error;
}

struct idle_states idle_just(const struct idle_states *states, int state)
{
	struct idle_states just = {.count = states->count};

	for (int other = 0; other < just.count; other++)
		just.disabled[other] = other != state;
	return just;
}

int idle_only(const char *name, struct idle_setting *setting)
{
	struct cpulist online;
	int error = cpulist_read(&online, "online");

	*setting = (struct idle_setting){0};
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		int state;

		if (!online.has[cpu])
			continue;
		state = idle_find(cpu, name);
		if (state < 0)
			continue;
		error = idle_read(cpu, &setting->before[cpu]);
		if (error)
			break;
		setting->cpus.has[cpu] = true;
		setting->cpus.count++;
		setting->now[cpu] = idle_just(&setting->before[cpu], state);
		error = idle_change(cpu, &setting->before[cpu], &setting->now[cpu]);
	}
	if (error)
		idle_restore(setting);
	return error ? error : setting->cpus.count ? 0 : -ENOENT;
}

void idle_restore(const struct idle_setting *setting)
{
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (setting->cpus.has[cpu])
			idle_change(cpu, &setting->now[cpu], &setting->before[cpu]);
}
