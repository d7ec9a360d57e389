// SPDX-License-Identifier: BSD-3-Clause
/* cpulist-print LIST: its CPUs, one per line; exit status 1 when it is none. */
#include <stdio.h>

#include "cpulist.h"

int main(int argc, char *argv[])
{
	struct cpulist list;

	if (argc != 2)
		return 2;
	if (cpulist_parse(&list, argv[1]))
		return 1;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (list.has[cpu])
			printf("%d\n", cpu);
	return 0;
}
