/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that another one wakes: to which CPU it comes, and whether `select` or `pack` chose it. */
#ifndef LULL_WAEAS_WAKEUPS_H
#define LULL_WAEAS_WAKEUPS_H

#include <stdbool.h>
#include <stdint.h>

enum sensitive { NOT, BY_GROUP, BY_ITSELF, AND_CLAMPED };

/* How often the last task that was woken came to each CPU. */
extern int came_to[64];
/* Whether the waker of woken() is latency-sensitive. */
extern bool waker_is_sensitive;

/*
 * A task is woken again and again by another one, which stays on @by: how often of RUNS it came to
 * @cpu, or to a little CPU if that is -1. The waker goes on working.
 */
int woken(enum sensitive sensitive, int by, int cpu);
/* Likewise one that is not sensitive, each time @at after a multiple of @every, or of a beat. */
int woken_every(uint64_t every, uint64_t at, int by, int cpu);
int woken_in_beat(uint64_t at, int by, int cpu);

/*
 * How many of RUNS wake-ups of a latency-sensitive task came to @cpu, as woken() says, where WAEAS
 * chose nine in ten of them. A machine that was over-utilised a moment ago is left to upstream for
 * a while.
 */
int selected(enum sensitive sensitive, int cpu);
bool is_selected(enum sensitive sensitive, int cpu);

/*
 * Whether so many wake-ups of RUNS are packed there. A machine that new tasks have over-utilised is
 * not packed for a while.
 */
bool is_packed(int by, int cpu, int least);
/* Likewise, where each wake-up is @at after the begin of a beat. */
bool is_packed_in_beat(uint64_t at, int by, int cpu, int least);

#endif
