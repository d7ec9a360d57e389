/* SPDX-License-Identifier: BSD-3-Clause */
/* What several cases measure, and how long they wait at most. */
#ifndef EANEM_CASES_MEASURE_H
#define EANEM_CASES_MEASURE_H

#include <sched.h>
#include <stdint.h>

/* Until what has gone is forgotten, or something comes. */
#define PATIENCE_MS 20000

/* What a connection gets, in thousandths of its target, after some time to settle. */
uint64_t part_of(int fd, uint64_t target, uint64_t settle_ms, uint64_t ms);
/* The CPUs that this program may use. */
void allowed(cpu_set_t *cpus);

#endif
