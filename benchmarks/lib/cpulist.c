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
