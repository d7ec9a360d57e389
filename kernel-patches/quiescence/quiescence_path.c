// SPDX-License-Identifier: GPL-2.0-only
/* The path: who acts for the user, in bounded memory, and whether somebody of them can run. */
#include <linux/string.h>

#include "quiescence_path.h"

/**
 * lull_path_clear - nobody is on the path
 * @path: the path
 */
void lull_path_clear(struct lull_path *path)
{
	memset(path, 0, sizeof(*path));
}

/**
 * lull_path_find - the place of a member
 * @path: the path
 * @id: of the member, or NULL for a free place
 *
 * Return: the place, or -1.
 */
int lull_path_find(const struct lull_path *path, const void *id)
{
	unsigned int slot;

	for (slot = 0; slot < LULL_PATH_MEMBERS; slot++)
		if (path->members[slot].id == id)
			return slot;

	return -1;
}

/* Who has slept the longest, but for the first, who has read the event: what wakes it ends a wait.
 * Who runs stays: the path must not seem to wait.
 */
static int lull_path_oldest(const struct lull_path *path)
{
	const struct lull_path_member *member;
	unsigned int slot;
	int oldest = -1;

	for (slot = 1; slot < LULL_PATH_MEMBERS; slot++) {
		member = &path->members[slot];
		if (member->id && !member->active &&
		    (oldest < 0 || member->seen < path->members[oldest].seen))
			oldest = slot;
	}

	return oldest;
}

/**
 * lull_path_add - somebody joins the path
 * @path: the path
 * @id: of the new member, which is not on the path yet
 * @active: whether it runs or could run
 * @evicted: whether the member that slept the longest had to leave for it
 *
 * Return: the place, or -1 if all members run.
 */
int lull_path_add(struct lull_path *path, const void *id, bool active, bool *evicted)
{
	int slot = lull_path_find(path, NULL);

	*evicted = slot < 0;
	if (slot < 0) {
		slot = lull_path_oldest(path);
		if (slot < 0) {
			*evicted = false;
			return -1;
		}
		lull_path_remove(path, slot);
	}
	path->members[slot] = (struct lull_path_member){ .id = id, .seen = ++path->clock };
	path->count++;
	lull_path_set(path, slot, active);
	return slot;
}

/**
 * lull_path_remove - a member leaves
 * @path: the path
 * @slot: its place
 */
void lull_path_remove(struct lull_path *path, unsigned int slot)
{
	path->active -= path->members[slot].active;
	path->count--;
	path->members[slot] = (struct lull_path_member){};
}

/**
 * lull_path_set - a member wakes or goes to sleep
 * @path: the path
 * @slot: its place
 * @active: whether it runs or could run from now on
 */
void lull_path_set(struct lull_path *path, unsigned int slot, bool active)
{
	struct lull_path_member *member = &path->members[slot];

	if (member->active == active)
		return;
	member->active = active;
	member->seen = ++path->clock;
	path->active += active ? 1 : -1;
}
