// SPDX-License-Identifier: BSD-3-Clause
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cpulist.h"
#include "end.h"
#include "idle.h"
#include "pin.h"
#include "sysfs.h"

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

void visit_cpus(void (*visit)(int cpu, int error))
{
	struct cpulist possible = read_list("possible");
	cpu_set_t before;

	if (sched_getaffinity(0, sizeof(before), &before))
		fail("cannot ask on which CPUs to run: %s", strerror(errno));
	for (int cpu = CPULIST_MAX - 1; cpu >= 0; cpu--)
		if (possible.has[cpu])
			visit(cpu, pin_to_cpu(cpu));
	if (sched_setaffinity(0, sizeof(before), &before))
		fail("cannot run where it ran before: %s", strerror(errno));
}

/* A CPU that sleeps stays in the state that it chose, whatever was disabled meanwhile. */
static void was_awake(int cpu, int error)
{
	if (error)
		fail("cannot run on CPU %d: %s", cpu, strerror(-error));
}

void disable_deep_idle(void)
{
	struct cpulist possible = read_list("possible");

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		struct idle_states before, after;
		int error;

		if (!possible.has[cpu])
			continue;
		error = idle_read(cpu, &before);
		if (!error && before.count) {
			after = idle_just(&before, 0);
			error = idle_change(cpu, &before, &after);
		}
		if (error)
			fail("cannot disable the idle states of CPU %d: %s", cpu, strerror(-error));
	}
	visit_cpus(was_awake);
}
