/* SPDX-License-Identifier: GPL-2.0-only */
/* The path: who acts for the user, in bounded memory, and whether somebody of them can run. */
#ifndef _LULL_QUIESCENCE_PATH_H
#define _LULL_QUIESCENCE_PATH_H

#include <linux/types.h>

#define LULL_PATH_MEMBERS	32

/**
 * struct lull_path_member - a task or a work item
 * @id: its address, which is compared and never followed; NULL if the place is free
 * @seen: when it joined or last changed, by the path's clock
 * @active: it runs or could run
 */
struct lull_path_member {
	const void *id;
	u64 seen;
	bool active;
};

/**
 * struct lull_path - the tasks that act on a key press
 * @members: in no order
 * @count: of them
 * @active: how many of them run or could run
 * @clock: counts changes
 */
struct lull_path {
	struct lull_path_member members[LULL_PATH_MEMBERS];
	unsigned int count;
	unsigned int active;
	u64 clock;
};

void lull_path_clear(struct lull_path *path);
int lull_path_find(const struct lull_path *path, const void *id);
int lull_path_add(struct lull_path *path, const void *id, bool active, bool *evicted);
void lull_path_remove(struct lull_path *path, unsigned int slot);
void lull_path_set(struct lull_path *path, unsigned int slot, bool active);

/* Whether the user waits for something that no task does. */
static inline bool lull_path_waits(const struct lull_path *path)
{
	return path->count && !path->active;
}

#endif /* _LULL_QUIESCENCE_PATH_H */
