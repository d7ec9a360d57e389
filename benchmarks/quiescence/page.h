/* SPDX-License-Identifier: BSD-3-Clause */
/* The load of a page as a trace file has it: one stage after the other, each in some process. */
#ifndef LULL_PAGE_H
#define LULL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_STAGES 64

/* The processes of a browser that a stage may be in. */
enum role { UI, NETWORK, PARSER, SCRIPT, RASTER, ROLES };

extern const char *const role_names[ROLES];

struct stage {
	enum role role;
	uint64_t steps;
	/* Then the network has to answer. */
	bool waits;
};

struct page {
	unsigned int count, waits;
	struct stage stages[PAGE_STAGES];
};

/* 0 or -errno; -EINVAL names the line on stderr. */
int page_read(struct page *page, const char *path);

#endif
