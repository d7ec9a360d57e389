/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libheartbeat: an application says how fast it is, and how fast it has to be. A beat is an
 * addition in memory that a manager reads, and no system call.
 *
 *   struct heartbeat heart;
 *
 *   heartbeat_open(&heart, "encoder", 24000, 30000);    24 to 30 beats a second
 *   heartbeat_join(&heart, HEARTBEAT_SOCKET);           from now on a manager listens
 *   for each frame: … heartbeat_beat(&heart);
 *   heartbeat_close(&heart);
 *
 * Beats count with and without a manager. Nobody but the application and root's manager has the
 * memory: it has no name, and goes to the manager over a socket. The manager forgets an application
 * whose process ends, or that closes.
 */
#ifndef LULL_HEARTBEAT_H
#define LULL_HEARTBEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HEARTBEAT_SOCKET "/run/eanemd.sock"
#define HEARTBEAT_VERSION 1
#define HEARTBEAT_NAME 16
/* The highest goal: a beat each nanosecond. */
#define HEARTBEAT_GOAL_MOST 1000000000000ULL

/* The memory that both have. Goals are in thousandths of a beat a second. */
struct heartbeat_page {
	_Atomic uint64_t beats;
	_Atomic uint64_t least, most;
};

/* What an application says once, with the memory's descriptor: a memfd that is sealed to shrink. */
struct heartbeat_hello {
	uint32_t version;
	char name[HEARTBEAT_NAME];
};

struct heartbeat {
	struct heartbeat_page *page;
	struct heartbeat_hello hello;
	int memory, manager;
};

/* 0; -EINVAL for a goal or a name that is none (heartbeat_goal()); or another -errno. */
int heartbeat_open(struct heartbeat *heart, const char *name, uint64_t least, uint64_t most);
/*
 * Asks the manager at this socket to listen. 0; -ENOENT or -ECONNREFUSED if there is none;
 * -EALREADY if one listens; or another -errno. The manager may still refuse:
 * heartbeat_is_managed().
 */
int heartbeat_join(struct heartbeat *heart, const char *path);
/* Whether a manager has been asked and has not refused, nor ended. It is a system call. */
bool heartbeat_is_managed(const struct heartbeat *heart);
/*
 * Beats a second to go for, in thousandths: at least and at most. 0, or -EINVAL if there are none
 * between, or more than HEARTBEAT_GOAL_MOST. Takes effect in the manager's next interval.
 */
int heartbeat_goal(struct heartbeat *heart, uint64_t least, uint64_t most);
void heartbeat_close(struct heartbeat *heart);

/* Any thread may beat. */
static inline void heartbeat_beat(struct heartbeat *heart)
{
	atomic_fetch_add_explicit(&heart->page->beats, 1, memory_order_relaxed);
}

#endif
