// SPDX-License-Identifier: BSD-3-Clause
/* Each task of a burst goes to an idle CPU of its own. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "stage.h"
#include "workers.h"

/* Tasks that are spread over CPUs, at most; and for fewer than so many CPUs there is no choice. */
#define MOST_SPREAD 64
#define LEAST_CPUS 6
/* Bursts, one of which has to find each CPU idle. */
#define SPREAD_ROUNDS 20

/* All have last run on @first, and leave in one burst. Returns the CPUs on which they woke. */
static cpu_set_t woken_on(struct worker *workers, int count, int first, const cpu_set_t *usable)
{
	cpu_set_t one = only(first), found;

	rules(GROUP, 0, 0, 1);
	for (int i = 0; i < count; i++) {
		bind_to(workers[i].pid, &one);
		ask(&workers[i]);
		hear(&workers[i]);
		bind_to(workers[i].pid, usable);
	}
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, (unsigned long)count);
	for (int i = 0; i < count; i++)
		ask(&workers[i]);
	CPU_ZERO(&found);
	for (int i = 0; i < count; i++)
		CPU_SET((size_t)hear(&workers[i]).cpu, &found);
	return found;
}

/* As many tasks as CPUs but one, where this program may still run when the burst begins. */
void test_spread(void)
{
	struct worker workers[MOST_SPREAD];
	cpu_set_t usable, found, one;
	int first = -1, count;
	bool alike = true, inside = true, apart = false;

	/* Isolated CPUs are none of them. */
	if (sched_getaffinity(0, sizeof(usable), &usable))
		bail("cannot get the CPUs: %s", strerror(errno));
	count = CPU_COUNT(&usable) - 1;
	if (count < LEAST_CPUS - 1 || count > MOST_SPREAD) {
		check(true, "spread # SKIP fewer than %d CPUs, or more than %d", LEAST_CPUS,
		      MOST_SPREAD);
		return;
	}
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET((size_t)cpu, &usable))
			first = cpu;
	one = only(first);
	bind_to(0, &one);
	for (int i = 0; i < count; i++)
		workers[i] = start(GROUP, SCHED_OTHER);

	/* A CPU that does other work when the burst begins takes none of the tasks. */
	for (int round = 0; round < SPREAD_ROUNDS; round++) {
		found = woken_on(workers, count, first, &usable);
		if (CPU_COUNT(&found) == count)
			break;
	}
	check(CPU_COUNT(&found) == count, "spread: %d tasks of one CPU wake on %d CPUs", count,
	      CPU_COUNT(&found));

	put(SYSTEM "spread", "0");
	found = woken_on(workers, count, first, &usable);
	put(SYSTEM "spread", "1");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		bool near;

		if (!CPU_ISSET((size_t)cpu, &usable))
			continue;
		near = of_cpu(cpu, "topology/physical_package_id") ==
		       of_cpu(first, "topology/physical_package_id");
		alike &= of_cpu(cpu, "cpu_capacity") == of_cpu(first, "cpu_capacity");
		apart |= !near;
		inside &= near || !CPU_ISSET((size_t)cpu, &found);
	}
	/* Where CPUs differ or share one cache, the scheduler may choose any. */
	if (!alike || !apart)
		check(true, "no spread # SKIP no two sockets of equal CPUs");
	else
		check(inside, "no spread: the scheduler wakes each near the CPU where it has run");
	for (int i = 0; i < count; i++)
		stop(&workers[i]);
	rules(GROUP, 0, 0, 1);
	bind_to(0, &usable);
}
