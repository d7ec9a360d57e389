// SPDX-License-Identifier: BSD-3-Clause
#include "idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define STATE_FILE "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s"

int idle_number(int cpu, int state, const char *file, uint64_t *number)
{
	char path[128], text[32];
	char *end;
	int error;

	snprintf(path, sizeof(path), STATE_FILE, cpu, state, file);
	error = read_text(path, text, sizeof(text));
	if (error)
		return error;
	*number = strtoull(text, &end, 10);
	return end == text || *end ? -EINVAL : 0;
}

int idle_name(int cpu, int state, char name[IDLE_NAME_SIZE])
{
	char path[128];

	snprintf(path, sizeof(path), STATE_FILE, cpu, state, "desc");
	if (read_text(path, name, IDLE_NAME_SIZE))
		return -ENOENT;
	/* Linux has its own words for the first state. */
	if (state == 0)
		snprintf(name, IDLE_NAME_SIZE, "C1");
	return 0;
}

int idle_find(int cpu, const char *name)
{
	char found[IDLE_NAME_SIZE];

	for (int state = 0; state < IDLE_MAX_STATES && idle_name(cpu, state, found) == 0; state++)
		if (strcmp(found, name) == 0)
			return state;
	return -ENOENT;
}

static int set_disabled(int cpu, int state, bool disabled)
{
	char path[128];

	snprintf(path, sizeof(path), STATE_FILE, cpu, state, "disable");
	return write_text(path, disabled ? "1" : "0");
}

/* The wanted state first, so that there is never a moment without any. */
static int only_on(int cpu, int wanted)
{
	char name[IDLE_NAME_SIZE];
	int error = set_disabled(cpu, wanted, false);

	for (int state = 0; !error && state < IDLE_MAX_STATES; state++) {
		if (idle_name(cpu, state, name))
			break;
		if (state != wanted)
			error = set_disabled(cpu, state, true);
	}
	return error;
}

int idle_only(const char *name, struct idle_setting *before)
{
	struct cpulist online;
	int error = cpulist_read(&online, "online");

	*before = (struct idle_setting){0};
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		uint64_t disabled;
		int wanted;

		if (!online.has[cpu])
			continue;
		wanted = idle_find(cpu, name);
		if (wanted < 0)
			continue;
		for (int state = 0; state < IDLE_MAX_STATES; state++) {
			if (idle_number(cpu, state, "disable", &disabled))
				break;
			before->disabled[cpu][state] = disabled != 0;
		}
		before->cpus.has[cpu] = true;
		before->cpus.count++;
		error = only_on(cpu, wanted);
	}
	if (error)
		idle_restore(before);
	return error ? error : before->cpus.count ? 0 : -ENOENT;
}

void idle_restore(const struct idle_setting *before)
{
	char name[IDLE_NAME_SIZE];

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		for (int state = 0; before->cpus.has[cpu] && state < IDLE_MAX_STATES; state++) {
			if (idle_name(cpu, state, name))
				break;
			set_disabled(cpu, state, before->disabled[cpu][state]);
		}
}
