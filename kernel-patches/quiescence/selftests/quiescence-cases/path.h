/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of the path: the consumer of keys, the network that it asks, and whom else it wakes. */
#ifndef QUIESCENCE_CASES_PATH_H
#define QUIESCENCE_CASES_PATH_H

#include <stdbool.h>
#include <sys/types.h>

/* More than the path has room for. */
#define CROWD 40

/* The consumer, the network, and who is told by the consumer in the way that is tested. */
extern pid_t ui, net, asker;
/* Pipes to the network, back to the consumer, to each of the many, and the one that ends. */
extern int to_net[2], to_ui[2], crowd[CROWD][2], last[2];
/* By which the consumer tells the asker. */
extern int pair[2], counter;

/* A byte to a pipe or a socket, and from one. */
void tell(int to);
void hear(int from);
/* Wakes who waits for a word of memory. */
void tell_word(_Atomic int *word);
void allow_all(pid_t pid);

/* What a task of the path does, for start(). */
void wait_for_network(void);
/* Who is told by the consumer, in the way that is tested, and asks the network. */
void ask_when_told(void);
/* Is told by a work item when CPUs leave. */
void watch(void);
/* Reads from a pipe that ends. */
void await_end(void);

/* Whether the network waits now. */
bool network_waits(void);

pid_t start(void (*run)(void));
/* The consumer. Returns when it listens: a key that is pressed before is nobody's. */
void start_ui(void);
void stop(pid_t pid);

#endif
