// SPDX-License-Identifier: BSD-3-Clause
/* CPUs that are out stay in their deepest idle state, and the table tells what woke them. */
#include <stdbool.h>
#include <stdint.h>

#include "cases.h"
#include "clock.h"
#include "cpulist.h"
#include "cpus.h"
#include "fail_each.h"
#include "idle.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "workers.h"

/* How often a CPU has entered each state, and the time in its deepest. */
static int entries(int cpu, uint64_t usage[IDLE_MAX_STATES], uint64_t *deepest_us)
{
	struct idle_states states;
	int deepest = 0;

	if (idle_read(cpu, &states) || !states.count)
		return -1;
	for (int state = 0; state < states.count; state++) {
		if (idle_number(cpu, state, "usage", &usage[state]))
			return -1;
		if (!states.disabled[state])
			deepest = state;
	}
	return idle_number(cpu, deepest, "time", deepest_us) ? -1 : deepest;
}

/* All CPUs but one are out, so that whole clusters are. */
void test_idle(void)
{
	uint64_t before[CPULIST_MAX][IDLE_MAX_STATES], after[IDLE_MAX_STATES];
	uint64_t time[CPULIST_MAX], now, lasted, begin;
	int deepest[CPULIST_MAX], light = 0;
	double least = 1;

	must(put_list(all_but(0)), "take all out but CPU 0");
	clock_sleep(500 * MS);
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu]) {
			nudge(cpu);
			deepest[cpu] = entries(cpu, before[cpu], &time[cpu]);
		}
	begin = clock_ns();
	clock_sleep(1000 * MS);
	lasted = clock_ns() - begin;
	/* A sleep is counted when it ends. */
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++) {
		if (!mains.has[cpu] || deepest[cpu] < 0)
			continue;
		nudge(cpu);
		if (entries(cpu, after, &now) != deepest[cpu])
			bail("CPU %d has other states", cpu);
		for (int state = 0; state < deepest[cpu]; state++)
			light += (int)(after[state] - before[cpu][state]);
		if ((double)(now - time[cpu]) * 1000 / (double)lasted < least)
			least = (double)(now - time[cpu]) * 1000 / (double)lasted;
	}
	check(light == 0, "a CPU that is out enters no state but the deepest: %d times", light);
	check(least > 0.95, "and is in it for more than 95 %% of the time");
	note("%.2f %% at least", least * 100);
	all_in();
}

static int begin_count(void)
{
	return write_text(WAKES, "1");
}

static void end_count(void)
{
	count_wakes("0");
}

void test_wakes(void)
{
	struct worker sleeper, others[4];
	unsigned long wakes;

	fail_check(check, fail_each(begin_count, end_count), "no memory to count wake-ups");
	must(put_list(all_but(0)), "take all out but CPU 0");
	count_wakes("1");
	start(&sleeper, set_of(there, -1), 10 * MS);
	clock_sleep(100 * MS);
	check(table("pseudo", false) > 0, "the table names a task that woke a CPU");
	count_wakes("0");
	wakes = table("pseudo", false);
	clock_sleep(100 * MS);
	check(table("pseudo", false) == wakes, "and stays as it is when nothing is counted");
	stop(&sleeper);
	for (int i = 0; i < 4; i++)
		start(&others[i], everywhere, 2 * MS);
	/* To begin to count wakes all CPUs. To go on with an empty table does not. */
	count_wakes("1");
	clock_sleep(500 * MS);
	count_wakes("1");
	check(table(NULL, false) == 0, "to count anew clears it");
	clock_sleep(2000 * MS);
	wakes = table(NULL, true);
	check(wakes <= 4 * (unsigned int)(mains.count - 1),
	      "with work elsewhere hardly anything wakes them: %lu times in 2 s", wakes);
	count_wakes("0");
	all_in();
	for (int i = 0; i < 4; i++)
		stop(&others[i]);
}
