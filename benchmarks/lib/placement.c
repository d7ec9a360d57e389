// SPDX-License-Identifier: BSD-3-Clause
#include "placement.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clamp.h"
#include "sysfs.h"

#define WAEAS SYS_DIR "/kernel/lull/waeas/"
#define AWARE "/proc/sys/kernel/sched_energy_aware"
#define WITHOUT "without_"
/* Of 1024, the fastest CPU at its fastest. */
#define CAP 205

static const char *const parts[] = {"select", "pack", "associate", "balance"};

static const struct way {
	const char *name;
	const char *tracking;
	bool is_upstream;
} ways[] = {
	{"smp", "pelt", true},
	{"eas", "pelt", true},
	{"walt", "walt", false},
	{"bes", "bes", false},
	{"placement_only", "bes", false},
	{"frequency_only", "bes", false},
	{"select", "pelt", false},
	{"pack", "pelt", false},
	{"associate", "pelt", false},
	{"balance", "pelt", false},
	{"waeas", "bes", false},
	{"inherit", "bes", false},
	{"apart", "bes", false},
	{"one", "pelt", true},
	{"two", "pelt", true},
	{"capped", "pelt", true},
	{"without_bes", "pelt", false},
	{"without_select", "bes", false},
	{"without_pack", "bes", false},
	{"without_associate", "bes", false},
	{"without_balance", "bes", false},
};

static bool has(const struct way *way, const char *part)
{
	if (!strncmp(way->name, WITHOUT, strlen(WITHOUT)))
		return strcmp(way->name + strlen(WITHOUT), part);
	return !strcmp(way->name, "waeas") || !strcmp(way->name, "inherit") ||
	       !strcmp(way->name, "apart") || !strcmp(way->name, part);
}

static unsigned long capacity_of(int cpu)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpu_capacity", cpu);
	return read_text(path, text, sizeof(text)) ? 1024 : strtoul(text, NULL, 10);
}

/* The first of the CPUs of the least capacity, so many of them. */
static int keep_to_little(int count)
{
	unsigned long least = ULONG_MAX;
	cpu_set_t all, few;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && capacity_of(cpu) < least)
			least = capacity_of(cpu);
	CPU_ZERO(&few);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&few) < count; cpu++)
		if (CPU_ISSET(cpu, &all) && capacity_of(cpu) == least)
			CPU_SET(cpu, &few);
	return sched_setaffinity(0, sizeof(few), &few) ? -errno : 0;
}

static int set(const char *file, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), WAEAS "%s", file);
	return write_text(path, value);
}

int placement_set(const char *name)
{
	const struct way *way = NULL;
	int error;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, name))
			way = &ways[i];
	if (!way)
		return -EINVAL;

	error = write_text(AWARE, strcmp(name, "smp") ? "1" : "0");
	if (!error)
		error = set("tracking", way->tracking);
	for (size_t i = 0; !error && i < sizeof(parts) / sizeof(*parts); i++)
		error = set(parts[i], has(way, parts[i]) ? "1" : "0");
	if (!error)
		error = set("inherit", strcmp(name, "inherit") ? "0" : "1");
	if (!error)
		error = set("pack_apart", strcmp(name, "apart") ? "0" : "1");
	if (!error && !strcmp(name, "placement_only"))
		error = set("frequency", "0");
	if (!error && !strcmp(name, "frequency_only"))
		error = set("placement", "0");
	if (!error && !strcmp(name, "capped"))
		error = clamp_most(CAP);
	if (!error && (!strcmp(name, "one") || !strcmp(name, "two")))
		error = keep_to_little(strcmp(name, "one") ? 2 : 1);
	return error ? error : set("enabled", way->is_upstream ? "0" : "1");
}

int placement_sensitive(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "+%d", (int)pid);
	return set("latency_sensitive", text);
}
