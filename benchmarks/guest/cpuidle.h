/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_CPUIDLE_H
#define LULL_CPUIDLE_H

#include "machine.h"

/* Notes what the CPUs' idle states have counted so far. On gem5 the checkpoint keeps it. */
void cpuidle_begin(void);

/* Sends the host what they have counted since: a JSON line for each CPU and state. */
void cpuidle_report(enum engine engine);

#endif
