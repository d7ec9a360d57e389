/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_CPUS_H
#define LULL_CPUS_H

/* Every possible CPU runs, or init fails. */
void online_all_cpus(void);

/* Leaves state 0, WFI, only, and no CPU in another: a checkpoint must not hold a core that is off.
 */
void disable_deep_idle(void);

/*
 * Runs on one possible CPU after another, which wakes each, and calls visit() there; with an error
 * on a CPU that cannot be run on, such as one that is offline. Ends on the first CPU.
 */
void visit_cpus(void (*visit)(int cpu, int error));

#endif
