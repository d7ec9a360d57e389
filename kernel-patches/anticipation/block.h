/* SPDX-License-Identifier: GPL-2.0-only */
/* What the block layer tells of requests. */
#ifndef _LULL_AHEAD_BLOCK_H
#define _LULL_AHEAD_BLOCK_H

#include "anticipation.h"

struct request;
struct attribute;

#ifdef CONFIG_LULL_ANTICIPATION

extern const struct attribute *const lull_block_attrs[];

void __lull_block_start(struct request *request, int cpu);
void __lull_block_done(struct request *request);
void lull_block_stop(void);

/* A driver gives a request to its device; the request was submitted on this CPU. */
static inline void lull_block_start(struct request *request, int cpu)
{
	if (static_branch_unlikely(&lull_ahead_on))
		__lull_block_start(request, cpu);
}

/* The device's interrupt says that the request is done. */
static inline void lull_block_done(struct request *request)
{
	if (static_branch_unlikely(&lull_ahead_on))
		__lull_block_done(request);
}

#else

static inline void lull_block_start(struct request *request, int cpu)
{
}

static inline void lull_block_done(struct request *request)
{
}

#endif

#endif /* _LULL_AHEAD_BLOCK_H */
