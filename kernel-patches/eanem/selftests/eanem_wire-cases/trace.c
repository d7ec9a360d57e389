// SPDX-License-Identifier: BSD-3-Clause
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../connections.h"
#include "report.h"

static void trace_set(const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), TRACING "%s", file);
	put(path, text);
}

void trace_enable(const char *event, bool on)
{
	char file[64];

	snprintf(file, sizeof(file), "events/lull/%s/enable", event);
	trace_set(file, on ? "1" : "0");
}

/* Opening the trace for writing empties it. */
void trace_empty(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		bail("cannot empty the trace: %s", strerror(errno));
	close(fd);
}

bool next_event(const char **at, const char *name, struct event *event)
{
	const char *found, *time, *end;
	char word[64];

	snprintf(word, sizeof(word), ": %s: ", name);
	found = strstr(*at, word);
	if (!found)
		return false;
	for (time = found; time > *at && time[-1] != ' '; time--)
		;
	event->at_ns = (uint64_t)(strtod(time, NULL) * 1e9);
	/* With the space before the first field. */
	found += strlen(word) - 1;
	end = strchrnul(found, '\n');
	snprintf(event->fields, sizeof(event->fields), "%.*s", (int)(end - found), found);
	*at = end;
	return true;
}

uint64_t field(const struct event *event, const char *name)
{
	char word[32];
	const char *found;

	snprintf(word, sizeof(word), " %s=", name);
	found = strstr(event->fields, word);
	if (!found)
		bail("an event has no %s:%s", name, event->fields);
	return strtoull(found + strlen(word), NULL, 10);
}

unsigned int events_of(const char *trace, const char *name)
{
	unsigned int count = 0;
	struct event event;

	while (next_event(&trace, name, &event))
		count++;
	return count;
}

void trace_begin(void)
{
	if (mkdir(TRACING, 0755) && errno != EEXIST)
		bail("no instance of the trace: %s", strerror(errno));
	trace_set("buffer_size_kb", "256");
	/* The clock of the wire, too. */
	trace_set("trace_clock", "mono");
	trace_set("tracing_on", "1");
}

void trace_end(void)
{
	trace_set("events/enable", "0");
	if (rmdir(TRACING))
		bail("cannot remove the instance of the trace: %s", strerror(errno));
}
