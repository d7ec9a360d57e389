// SPDX-License-Identifier: BSD-3-Clause
#include "cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "stage.h"
#include "sysfs.h"

void bind_to(pid_t pid, const cpu_set_t *cpus)
{
	if (sched_setaffinity(pid, sizeof(*cpus), cpus))
		bail("cannot bind a task to CPUs: %s", strerror(errno));
}

cpu_set_t only(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return one;
}

unsigned long of_cpu(int cpu, const char *file)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	must(read_text(path, text, sizeof(text)), path);
	return strtoul(text, NULL, 10);
}
