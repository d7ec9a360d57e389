// SPDX-License-Identifier: BSD-3-Clause
#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

unsigned long stat_of(const char *word)
{
	uint64_t number = 0;

	must(read_count(SYSTEM "stats", word, &number), word);
	return number;
}

void restart(const char *hold, const char *bound_ms, const char *least_us)
{
	put(SYSTEM "enabled", "0");
	put(SYSTEM "hold", hold);
	put(SYSTEM "bound_ms", bound_ms);
	put(SYSTEM "least_us", least_us);
	put(SYSTEM "enabled", "1");
}

bool on_path(pid_t pid)
{
	char text[4096] = "\n", member[32];

	must(read_text(PATH, text + 1, sizeof(text) - 1), PATH);
	snprintf(member, sizeof(member), "\nmember %d ", pid);
	return strstr(text, member);
}

uint64_t plans_count(const char *word, int cpu)
{
	char text[4096], pattern[32], *line, *found;
	uint64_t sum = 0;

	must(read_text(PLANS "stats", text, sizeof(text)), PLANS "stats");
	snprintf(pattern, sizeof(pattern), " %s ", word);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		found = strstr(line, pattern);
		if (found && (cpu == ALL_CPUS || cpu == atoi(line)))
			sum += strtoull(found + strlen(pattern), NULL, 10);
	}
	return sum;
}
