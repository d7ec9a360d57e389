// SPDX-License-Identifier: BSD-3-Clause
#include "pin.h"

#include <errno.h>
#include <sched.h>

int pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}
