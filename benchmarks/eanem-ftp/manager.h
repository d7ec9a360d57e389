/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's two levels together: what they know, what is in force, and a step of both. */
#ifndef EANEM_MANAGER_H
#define EANEM_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "eanem.h"
#include "hearts.h"
#include "mapping.h"
#include "model.h"
#include "place.h"
#include "second.h"
#include "traffic.h"

struct manager_options {
	/* Parts of the cores' time and of the power, and intervals in a row: mapping.h. */
	double room, saves;
	uint64_t patience;
};

/* The first level: where packets would be without the second. */
struct first {
	struct mapping mapping;
	struct traffic traffic;
	bool steers;
	unsigned int better;
};

struct manager {
	struct manager_options options;
	struct model model;
	struct eanem eanem;
	struct hearts hearts;
	struct place *place;
	struct first first;
	struct second second;
	/* What the kernel was told; false if it has to be told again. */
	bool is_told;
};

/* Once in an interval. 0 or -errno. */
int manager_step(struct manager *manager);

#endif
