// SPDX-License-Identifier: BSD-3-Clause
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cpulist.h"
#include "end.h"
#include "machine.h"

#define CPU_DIR "/sys/devices/system/cpu"

static struct cpulist read_list(const char *which)
{
	struct cpulist list;
	int error = cpulist_read(&list, which);

	if (error)
		fail("cannot read " CPU_DIR "/%s: %s", which, strerror(-error));
	return list;
}

void online_all_cpus(void)
{
	struct cpulist possible = read_list("possible");
	struct cpulist online = read_list("online");
	char path[64];

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		int error;

		if (!possible.has[cpu] || online.has[cpu])
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
		error = write_text(path, "1");
		if (error)
			fail("CPU %d of %d does not come online: %s", cpu, possible.count,
			     strerror(-error));
	}
	online = read_list("online");
	if (online.count != possible.count)
		fail("%d CPUs are online instead of %d", online.count, possible.count);
}

/* A CPU that sleeps stays in the state that it chose, whatever was disabled meanwhile: run on each
 * once. */
static void wake_cpus(const struct cpulist *possible)
{
	cpu_set_t before, one;

	/* Not all CPUs where one is isolated: what init starts inherits this. */
	if (sched_getaffinity(0, sizeof(before), &before))
		fail("cannot ask on which CPUs to run: %s", strerror(errno));
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!possible->has[cpu])
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			fail("cannot run on CPU %d: %s", cpu, strerror(errno));
	}
	if (sched_setaffinity(0, sizeof(before), &before))
		fail("cannot run where it ran before: %s", strerror(errno));
}

void disable_deep_idle(void)
{
	struct cpulist possible = read_list("possible");
	char path[96];

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!possible.has[cpu])
			continue;
		for (int state = 1;; state++) {
			int error;

			snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle/state%d/disable", cpu,
				 state);
			error = write_text(path, "1");
			if (error == -ENOENT)
				break;
			if (error)
				fail("cannot write %s: %s", path, strerror(-error));
		}
	}
	wake_cpus(&possible);
}
