/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that all tasks of the selftest share: what they are to do, and what they did when. */
#ifndef QUIESCENCE_CASES_SHARED_H
#define QUIESCENCE_CASES_SHARED_H

#include <stdint.h>

#define MS 1000000ULL
#define WAIT_MS 60
/* A wait in the midst of which something can be done on a slow machine, too. */
#define LONG_MS 400
/* From the begin of a wait until all others are held, where CPUs share one time and take turns. */
#define SLACK_MS 30
#define LOG 4096

/* What the consumer does when a key is pressed. */
enum act {
	/* Asks the network, which waits and answers. */
	CHAIN,
	/* Waits for somebody whom nobody of the path has woken. */
	STRAY,
	/* The same, by a futex. */
	STRAY_FUTEX,
	/* Writes to a file whose reader is told by a work item. */
	WORK,
	/* Wakes many. */
	MANY,
	/* A child asks the network. */
	CHILD,
	/* A child ends, and a pipe with it. */
	END,
	/* Tells a task by one of enum kind, which asks the network. */
	KIND,
};

/* How a task of the path may wake another one. */
enum kind {
	SOCKET,
	EVENTFD,
	SIGNAL,
	FUTEX,
	KINDS,
};

/* Others, which run every 2 ms or all the time, and say so. */
enum other {
	SLEEPER,
	HOG,
	FIFO,
	/* Not all the time, as it would keep a CPU from going offline. */
	DUE,
	OTHERS,
};

struct log {
	_Atomic uint32_t count;
	uint64_t ns[LOG];
	int cpu[LOG];
};

struct shared {
	_Atomic int act, word, kind, told, widen;
	_Atomic int stray;
	_Atomic uint32_t done, listening, watching;
	_Atomic uint32_t wait_ms;
	_Atomic uint32_t signals;
	_Atomic uint64_t begun, ended;
	_Atomic int busy;
	_Atomic uint64_t due, slept;
	struct log logs[OTHERS];
};

/* ../quiescence.c makes it. */
extern struct shared *shared;

#endif
