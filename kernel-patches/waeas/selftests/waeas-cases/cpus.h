/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUs: which are little, who may run on which, how fast they run, and how lightly they sleep. */
#ifndef LULL_WAEAS_CPUS_H
#define LULL_WAEAS_CPUS_H

#include <stdbool.h>

/* CPUs that tasks are placed on; the little ones are those of the least capacity. */
extern int mains, littles, first_little, last_little;
extern bool is_little[64];

/* Fills in the above. */
void find_cpus(void);

/* The caller may run on these CPUs only. */
void pin_to(int first, int last);
void pin(int cpu);
void anywhere(void);

/* CPUs run at their highest frequency, or at what schedutil chooses. */
void at_highest(bool always);

bool is_last(int cpu);
bool is_last_little(int cpu);
bool is_big(int cpu);
/* CPUs sleep in their second state, but for those that are to sleep lightly, in their first. */
void sleep_lightly(bool (*is_light)(int cpu));
void sleep_as_before(void);

#endif
