// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include "../connections.h"

uint64_t part_of(int fd, uint64_t target, uint64_t settle_ms, uint64_t ms)
{
	uint64_t bytes, ns;

	read_for(&fd, 1, settle_ms * MS, &bytes);
	ns = read_for(&fd, 1, ms * MS, &bytes);
	return (uint64_t)((double)bytes * 1e12 / (double)ns / (double)target);
}

void allowed(cpu_set_t *cpus)
{
	sched_getaffinity(0, sizeof(*cpus), cpus);
}
