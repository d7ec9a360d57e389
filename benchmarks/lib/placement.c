// SPDX-License-Identifier: BSD-3-Clause
#include "placement.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sysfs.h"

#define WAEAS SYS_DIR "/kernel/lull/waeas/"
#define AWARE "/proc/sys/kernel/sched_energy_aware"

static const char *const parts[] = {"select", "pack", "associate", "balance"};

static const struct way {
	const char *name;
	const char *tracking;
	bool is_upstream;
} ways[] = {
	{"smp", "pelt", true},	      {"eas", "pelt", true},	  {"walt", "walt", false},
	{"bes", "bes", false},	      {"select", "pelt", false},  {"pack", "pelt", false},
	{"associate", "pelt", false}, {"balance", "pelt", false}, {"waeas", "bes", false},
};

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
		error = set(parts[i],
			    !strcmp(name, "waeas") || !strcmp(name, parts[i]) ? "1" : "0");
	return error ? error : set("enabled", way->is_upstream ? "0" : "1");
}

int placement_sensitive(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "+%d", (int)pid);
	return set("latency_sensitive", text);
}
