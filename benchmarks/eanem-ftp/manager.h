/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's two levels together: what they know, what is in force, and a step of both. */
#ifndef EANEM_MANAGER_H
#define EANEM_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "eanem.h"
#include "first.h"
#include "hearts.h"
#include "model.h"
#include "place.h"
#include "second.h"

struct manager {
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
