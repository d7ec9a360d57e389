// SPDX-License-Identifier: BSD-3-Clause
#include "cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sysfs.h"

static int parse_number(const char **text, long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	*number = strtol(*text, &end, 10);
	*text = end;
	return *number < CPULIST_MAX ? 0 : -ERANGE;
}

int cpulist_parse(struct cpulist *list, const char *text)
{
	*list = (struct cpulist){0};
	while (*text) {
		long first, last;
		int error = parse_number(&text, &first);

		last = first;
		if (!error && *text == '-') {
			text++;
			error = parse_number(&text, &last);
		}
		if (error)
			return error;
		if (last < first || (*text && *text != ','))
			return -EINVAL;
		if (*text == ',' && *++text == '\0')
			return -EINVAL;
		for (long cpu = first; cpu <= last; cpu++) {
			list->count += !list->has[cpu];
			list->has[cpu] = true;
		}
	}
	return 0;
}

int cpulist_read(struct cpulist *list, const char *which)
{
	char path[64], text[256];
	int error;

	*list = (struct cpulist){0};
	snprintf(path, sizeof(path), CPU_DIR "/%s", which);
	error = read_text(path, text, sizeof(text));
	return error ? error : cpulist_parse(list, text);
}

uint64_t cpulist_mask(const struct cpulist *list)
{
	uint64_t cpus = 0;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		cpus |= (uint64_t)list->has[cpu] << cpu;
	return cpus;
}

void cpulist_text(uint64_t cpus, char text[CPULIST_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		int last = cpu;

		if (!(cpus >> cpu & 1))
			continue;
		while (last + 1 < CPULIST_MAX && cpus >> (last + 1) & 1)
			last++;
		used += (size_t)snprintf(text + used, CPULIST_TEXT - used,
					 last > cpu ? "%s%d-%d" : "%s%d", used ? "," : "", cpu,
					 last);
		cpu = last;
	}
}
