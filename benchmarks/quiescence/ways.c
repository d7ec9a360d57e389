// SPDX-License-Identifier: BSD-3-Clause
#include "ways.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "jsonl.h"
#include "sysfs.h"

#define CGROUPS "/sys/fs/cgroup/"
#define QUIESCENCE "/sys/kernel/lull/quiescence/"
#define HOTPLUG "/sys/kernel/lull/hotplug/enabled"
#define ANTICIPATION "/sys/kernel/lull/anticipation/enabled"
#define QUOTA_PERIOD_US 100000

bool ways_known(const char *way)
{
	char all[] = WAYS;

	for (char *name = strtok(all, "|"); name; name = strtok(NULL, "|"))
		if (!strcmp(name, way))
			return true;
	return false;
}

static bool is(const struct ways *ways, const char *name)
{
	return !strcmp(ways->way, name);
}

static bool leaves_big(const struct ways *ways)
{
	return is(ways, "big") || is(ways, "big_ahead");
}

/* The CPUs that others are held from; NULL if nobody is held. */
static const char *held_from(const struct ways *ways)
{
	if (leaves_big(ways))
		return "big";
	return is(ways, "all") || is(ways, "all_ahead") ? "all" : NULL;
}

/* Whether a CPU is awake when the path's wait is expected to end. */
static bool is_ahead(const struct ways *ways)
{
	return is(ways, "big_ahead") || is(ways, "all_ahead");
}

static int put(const char *group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "%s/%s", group, file);
	return write_text(path, text);
}

static int put_number(const char *path, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return write_text(path, text);
}

static int put_percent(const char *group, const char *file, uint64_t percent)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.00", (unsigned long long)percent);
	return put(group, file, text);
}

static int restrain(const struct ways *ways, const char *group)
{
	char text[64];
	int error;

	if (is(ways, "capped")) {
		error = put_percent(group, "cpu.uclamp.min", 0);
		return error ? error : put_percent(group, "cpu.uclamp.max", ways->cap);
	}
	if (is(ways, "idle"))
		return put(group, "cpu.idle", "1");
	if (is(ways, "max")) {
		snprintf(text, sizeof(text), "%llu %d",
			 (unsigned long long)ways->quota * QUOTA_PERIOD_US / 100, QUOTA_PERIOD_US);
		return put(group, "cpu.max", text);
	}
	return 0;
}

int ways_make(const struct ways *ways)
{
	static const char *const groups[] = {BROWSER, HELPERS, BACKGROUND};
	int error = write_text(CGROUPS "cgroup.subtree_control", "+cpu");
	char path[128];

	for (size_t i = 0; !error && i < sizeof(groups) / sizeof(*groups); i++) {
		snprintf(path, sizeof(path), CGROUPS "%s", groups[i]);
		if (mkdir(path, 0755) && errno != EEXIST)
			error = -errno;
	}
	/* As a phone does with all that belongs to the application in front. */
	if (!error)
		error = put_percent(BROWSER, "cpu.uclamp.min", ways->boost);
	if (!error)
		error = put_percent(HELPERS, "cpu.uclamp.min", ways->boost);
	return error;
}

int ways_join(const struct ways *ways, const char *group)
{
	if (is(ways, "slack") && strcmp(group, BROWSER) != 0 &&
	    prctl(PR_SET_TIMERSLACK, ways->slack_us * 1000, 0, 0, 0))
		return -errno;
	return put(group, "cgroup.procs", "0");
}

int ways_begin(const struct ways *ways)
{
	int error = restrain(ways, HELPERS);

	if (!error)
		error = restrain(ways, BACKGROUND);
	if (error || !held_from(ways))
		return error;

	if (leaves_big(ways))
		error = write_text(HOTPLUG, "1");
	if (!error && is_ahead(ways))
		error = write_text(ANTICIPATION, "1");
	if (!error)
		error = write_text(QUIESCENCE "ahead", is_ahead(ways) ? "1" : "0");
	if (!error)
		error = write_text(QUIESCENCE "hold", held_from(ways));
	if (!error)
		error = put_number(QUIESCENCE "bound_ms", ways->bound_ms);
	if (!error)
		error = put_number(QUIESCENCE "least_us", ways->least_us);
	return error ? error : write_text(QUIESCENCE "enabled", "1");
}

int ways_counts(const struct ways *ways, struct jsonl *line)
{
	char text[1024];
	int error;

	if (!held_from(ways))
		return 0;
	error = read_text(QUIESCENCE "stats", text, sizeof(text));
	if (!error)
		jsonl_counts(line, text);
	return error;
}

int ways_end(const struct ways *ways)
{
	int error = held_from(ways) ? write_text(QUIESCENCE "enabled", "0") : 0;

	if (!error && is_ahead(ways))
		error = write_text(ANTICIPATION, "0");
	return error || !leaves_big(ways) ? error : write_text(HOTPLUG, "0");
}
