/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_TRACE_LINE_H
#define LULL_TRACE_LINE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The first line of a tracefs file `trace` that has both @event and @detail. If there is none,
 * @line is empty. Whether there is one.
 */
__attribute__((unused)) static bool trace_line(const char *file, const char *event,
					       const char *detail, char *line, int size)
{
	FILE *trace = fopen(file, "re");
	bool found = false;

	while (trace && !found && fgets(line, size, trace))
		found = strstr(line, event) && strstr(line, detail);
	if (trace)
		fclose(trace);
	if (!found)
		*line = '\0';
	return found;
}

/* The number after @key in the first line that has both @event and @detail; -2 if none. */
__attribute__((unused)) static long long trace_number(const char *file, const char *event,
						      const char *detail, const char *key)
{
	long long number = -2;
	char line[512], *at;

	if (!trace_line(file, event, detail, line, sizeof(line)))
		return number;
	at = strstr(strstr(line, event), key);
	if (at)
		sscanf(at + strlen(key), "%lld", &number);
	return number;
}

#endif
