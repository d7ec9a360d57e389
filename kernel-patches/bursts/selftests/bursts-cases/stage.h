/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups whose wake-ups are held: their rules and counts, and the deadlines of who wakes them. */
#ifndef BURSTS_CASES_STAGE_H
#define BURSTS_CASES_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#define SYSTEM "/sys/kernel/lull/bursts/"
#define ROOT "/sys/fs/cgroup"
/* ../bursts.c makes it. */
#define GROUP ROOT "/lull-bursts"
#define MS 1000000ULL
#define PERIOD_MS 40
/* So long that nothing is released meanwhile. */
#define FOREVER_US 10000000

/* How late a burst may be. */
extern uint64_t late_ns;

/* Whether something came when it was due, and no later than a burst may be late. */
bool in_time(uint64_t ns, uint64_t due_ns);

void put_number(const char *file, unsigned long number);

void rules(const char *group, unsigned long period_us, unsigned long bound_us,
	   unsigned long parallel);
unsigned long stat_of(const char *group, const char *word);
/* Until the wake-ups of so many tasks are held. */
void wait_for_held(const char *group, unsigned long tasks);

/* 0 or -errno */
int set_deadline(unsigned long us);
/* Whom this program wakes from now on has a deadline, or none. */
void deadline(unsigned long us);

#endif
