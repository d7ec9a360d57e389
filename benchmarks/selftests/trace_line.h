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

#endif
