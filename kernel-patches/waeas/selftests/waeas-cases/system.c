// SPDX-License-Identifier: BSD-3-Clause
#include "system.h"

#include <stdio.h>
#include <string.h>

#include "report.h"
#include "sysfs.h"

const char *const parts[] = {"frequency", "select", "pack", "associate", "balance"};
const char *const trackings[] = {"pelt", "walt", "bes"};

void set(const char *part, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), SYSTEM "%s", part);
	put(path, value);
}

void only(const char *part)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		set(parts[i], part && !strcmp(parts[i], part) ? "1" : "0");
	set("placement", "1");
}

unsigned long stat_of(const char *word)
{
	uint64_t number = 0;

	must(read_count(SYSTEM "stats", word, &number), word);
	return number;
}

int own_file(pid_t pid, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", pid);
	return write_text(path, value);
}
