// SPDX-License-Identifier: BSD-3-Clause
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const role_names[ROLES] = {"ui", "network", "parser", "script", "raster"};

static bool parse(struct stage *stage, const char *line)
{
	char role[16], then[16];

	if (sscanf(line, "%15s %" SCNu64 " %15s", role, &stage->steps, then) != 3)
		return false;
	stage->waits = !strcmp(then, "wait");
	if (!stage->waits && strcmp(then, "-") != 0)
		return false;
	for (int i = 0; i < ROLES; i++)
		if (!strcmp(role, role_names[i])) {
			stage->role = (enum role)i;
			return true;
		}
	return false;
}

int page_read(struct page *page, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];
	int error = 0;

	if (!file)
		return -errno;
	*page = (struct page){0};
	for (int number = 1; !error && fgets(line, sizeof(line), file); number++) {
		if (*line == '#' || *line == '\n')
			continue;
		if (page->count == PAGE_STAGES || !parse(&page->stages[page->count], line)) {
			fprintf(stderr, "%s: line %d is no stage: write ROLE STEPS wait or -\n",
				path, number);
			error = -EINVAL;
		} else {
			page->waits += page->stages[page->count++].waits;
		}
	}
	fclose(file);
	/* The key press is the user interface's, and so is what the user sees. */
	if (!error && (!page->count || page->stages[0].role != UI ||
		       page->stages[page->count - 1].role != UI)) {
		fprintf(stderr, "%s: the first and the last stage have to be the ui's\n", path);
		error = -EINVAL;
	}
	return error;
}
