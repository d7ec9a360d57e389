/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done about tasks that the user does not wait for. */
#ifndef LULL_WAYS_H
#define LULL_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#define WAYS "none|big|all|big_ahead|all_ahead|capped|idle|max|slack"

/* Control groups: what the user waits for, what helps it, and what nobody waits for. */
#define BROWSER "browser"
#define HELPERS "helpers"
#define BACKGROUND "background"

struct ways {
	const char *way;
	/* Of big and all, also with ahead. */
	uint64_t bound_ms, least_us;
	/* The browser's least speed; and of the others in capped, max and slack. */
	uint64_t boost, cap, quota, slack_us;
};

bool ways_known(const char *way);
/* Makes the groups. 0 or -errno. */
int ways_make(const struct ways *ways);
/* The caller joins a group. Its timers may be late, if the way says so. 0 or -errno. */
int ways_join(const struct ways *ways, const char *group);
/* After all have started. 0 or -errno. */
int ways_begin(const struct ways *ways);
/* What the kernel has counted, into an open JSON line; nothing where nothing counts. 0 or -errno.
 */
struct jsonl;
int ways_counts(const struct ways *ways, struct jsonl *line);
/* Turns off what begin() turned on. 0 or -errno. */
int ways_end(const struct ways *ways);

#endif
