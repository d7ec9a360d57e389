/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manager's end of heartbeat.h: which applications there are, and how fast their hearts beat.
 * What they send is not trusted. An application is a connection: it is gone when that is closed,
 * or when the process that made it ends.
 */
#ifndef EANEM_HEARTS_H
#define EANEM_HEARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "heartbeat.h"

/* At once, of all users and of one. */
#define HEARTS_MOST 32
#define HEARTS_OF_A_USER 8
/* Intervals that a connection may stay silent before it has said hello. */
#define HEARTS_PATIENCE 10

struct heart {
	/* Distinguishes it from all others, dead or alive. */
	uint64_t id;
	pid_t pid;
	uid_t uid;
	char name[HEARTBEAT_NAME];
	/* Since the application began, and its goals in beats/s; 0 for none that make sense. */
	uint64_t beats;
	double least, most;
	/* How many threads it has. */
	unsigned int threads;

	/* hearts.c's own. */
	const struct heartbeat_page *page;
	int connection, process, tasks;
	unsigned int silent;
};

struct hearts {
	struct heart list[HEARTS_MOST];
	int count;
	int listener;
	bool takes_all;
	uint64_t next_id;
};

/*
 * takes_all: not only root's applications. 0, -EADDRINUSE if somebody listens there, -EEXIST if
 * something else than a socket is there, or -errno.
 */
int hearts_open(struct hearts *hearts, const char *path, bool takes_all);
/* Who has come and gone, and what all of them say now. True if the list is another one. */
bool hearts_look(struct hearts *hearts);
void hearts_close(struct hearts *hearts, const char *path);
/* A socket, and nothing else. 0 also if there is none; -EEXIST or -errno. */
int hearts_remove(const char *path);

#endif
