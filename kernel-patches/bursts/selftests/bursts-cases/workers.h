/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that sleep until they are asked, and say then where and when they woke. */
#ifndef BURSTS_CASES_WORKERS_H
#define BURSTS_CASES_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that answers each byte with where and when it woke. */
struct worker {
	pid_t pid;
	int to, from;
};

struct answer {
	pid_t pid;
	int cpu;
	uint64_t ns;
};

/* Asked so, a process forks, and its child answers to the heir's pipes. */
#define FORK "f"
extern struct worker heir;

/* Asked so, a process sleeps before it answers. */
#define SLEEP "s"
#define SLEEP_MS 100

/* A worker that is started now has this: SIGUSR2 keeps it in its handler as long as it is true. */
extern atomic_bool *busy;

/* A process that moves itself, so that it has begun its first sleep as a member. */
struct worker start(const char *group, int policy);
/* By a signal: to close its pipe is a wake-up that may be held. */
void stop(struct worker *worker);

/* Returns when a task sleeps or has ended, or nothing can be tested any more. A held task runs. */
void await_sleep(pid_t pid);

void ask(const struct worker *worker);
/* Returns when the worker sleeps again, so that the next question has somebody to wake. */
struct answer hear(const struct worker *worker);
/* The same, and the worker may still run: where a look at /proc would disturb what is measured. */
struct answer hear_at_once(const struct worker *worker);
bool answers_within(const struct worker *worker, int ms);
bool has_answered(const struct worker *worker);

#endif
