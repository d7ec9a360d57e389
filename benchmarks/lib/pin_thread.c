// SPDX-License-Identifier: BSD-3-Clause
/* Beside pin.c, for programs without threads: the thread library makes one larger. */
#include <sched.h>

#include "pin.h"

int start_on_cpu(pthread_t *thread, int cpu, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int error;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	error = pthread_create(thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	return -error;
}
