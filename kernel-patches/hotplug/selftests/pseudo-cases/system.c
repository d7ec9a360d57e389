// SPDX-License-Identifier: BSD-3-Clause
#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "sysfs.h"

void said(int got, int wanted, const char *text)
{
	if (!check(got == -wanted, "%s", text))
		note("wanted %s, got %s", strerror(wanted), strerror(-got));
}

void turn(const char *value)
{
	must(write_text(SYSTEM "enabled", value), "switch");
}

void count_wakes(const char *value)
{
	must(write_text(WAKES, value), "count wake-ups, or stop it");
}

unsigned long counted(int cpu, const char *word)
{
	char text[4096], start[32], *line;

	must(read_text(SYSTEM "stats", text, sizeof(text)), "read the counts");
	snprintf(start, sizeof(start), cpu < 0 ? "changes " : "cpu%d ", cpu);
	line = strstr(text, start);
	if (line && word)
		line = strstr(line, word);
	if (!line)
		bail("no count of '%s' in %s", start, text);
	return strtoul(strchr(line, ' '), NULL, 10);
}

unsigned long table(const char *word, bool print)
{
	static char text[8192];
	unsigned long sum = 0;
	char *line, *rest = text;

	if (read_text(WAKES, text, sizeof(text)))
		bail("cannot read %s", WAKES);
	/* The first line is the heading. */
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (print)
			note("%s", line);
		if (!word || strstr(line, word))
			sum += strtoul(line, NULL, 10);
	}
	return sum;
}
