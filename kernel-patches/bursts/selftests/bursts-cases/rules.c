// SPDX-License-Identifier: BSD-3-Clause
/* When a burst begins, by the period, the bound and the number of tasks. */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "workers.h"

#define WORKERS 3
/* More than are released at a time. */
#define CROWD 40
/* Until the others are. */
#define GAP_NS 50000

void test_off(void)
{
	struct worker worker = start(GROUP, SCHED_OTHER);

	rules(GROUP, FOREVER_US, 0, 1);
	ask(&worker);
	hear(&worker);
	check(!stat_of(GROUP, "wakes"), "off: a stage holds nothing");
	stop(&worker);
	rules(GROUP, 0, 0, 1);
}

void test_period(void)
{
	struct worker worker = start(GROUP, SCHED_OTHER);
	bool right = true;

	rules(GROUP, PERIOD_MS * 1000, 0, 1);
	for (int i = 0; i < 5; i++) {
		uint64_t asked, period = PERIOD_MS * MS;
		struct answer answer;

		clock_sleep(7 * MS);
		asked = clock_ns();
		ask(&worker);
		answer = hear(&worker);
		right &= in_time(answer.ns, (asked / period + 1) * period);
	}
	check(right, "a wake-up from outside waits for the next multiple of the period, no longer");
	check(stat_of(GROUP, "wakes") == 5 && stat_of(GROUP, "bursts") == 5 &&
		      stat_of(GROUP, "held_most_us") * 1000 <= PERIOD_MS * MS + late_ns,
	      "and is counted");

	/* Far from the next burst of the longer period, which begins at its multiples. */
	while (clock_ns() / 1000 % FOREVER_US > FOREVER_US - 40 * PERIOD_MS * 1000)
		clock_sleep(PERIOD_MS * MS);
	rules(GROUP, 8 * PERIOD_MS * 1000, 0, 1);
	ask(&worker);
	rules(GROUP, FOREVER_US, 0, 1);
	hear(&worker);
	ask(&worker);
	check(!answers_within(&worker, 10 * PERIOD_MS),
	      "a longer period holds from when it is written");
	rules(GROUP, 0, 0, 1);
	hear(&worker);
	stop(&worker);
}

void test_bound_and_parallel(void)
{
	struct worker workers[WORKERS];
	struct answer answer;
	unsigned long bursts, early;
	uint64_t asked;
	bool alone = true;
	int cpus[WORKERS];
	cpu_set_t usable;

	for (int i = 0; i < WORKERS; i++)
		workers[i] = start(GROUP, SCHED_OTHER);
	rules(GROUP, PERIOD_MS * 1000, 5 * PERIOD_MS * 1000, WORKERS);

	early = stat_of(GROUP, "early");
	asked = clock_ns();
	ask(&workers[0]);
	answer = hear(&workers[0]);
	check(in_time(answer.ns, asked + 5 * PERIOD_MS * MS) &&
		      stat_of(GROUP, "early") == early + 1,
	      "too few tasks wait until the bound ends, no longer");

	/* Far from the bound, so that a slow host cannot reach it meanwhile. */
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, WORKERS);
	bursts = stat_of(GROUP, "bursts");
	for (int i = 0; i < WORKERS; i++) {
		check(stat_of(GROUP, "held") == (unsigned long)i, "%d wait", i);
		ask(&workers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		cpus[i] = hear(&workers[i]).cpu;
	check(stat_of(GROUP, "bursts") == bursts + 1 && stat_of(GROUP, "early") == early + 1,
	      "enough of them leave in one burst");
	for (int i = 1; i < WORKERS; i++)
		for (int k = 0; k < i; k++)
			alone &= cpus[i] != cpus[k];
	/* Isolated CPUs are none. */
	if (sched_getaffinity(0, sizeof(usable), &usable) || CPU_COUNT(&usable) < WORKERS)
		check(true, "each to a CPU of its own # SKIP fewer CPUs than tasks");
	else
		check(alone, "each to a CPU of its own");
	for (int i = 0; i < WORKERS; i++)
		stop(&workers[i]);
}

void test_crowd(void)
{
	struct worker workers[CROWD];
	uint64_t first = UINT64_MAX, last = 0, period = PERIOD_MS * MS;
	unsigned long bursts;

	for (int i = 0; i < CROWD; i++)
		workers[i] = start(GROUP, SCHED_OTHER);
	/* One that is not asleep yet is not held. Then the others wait until the bound ends. */
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, CROWD);
	bursts = stat_of(GROUP, "bursts");
	for (int i = 0; i < CROWD; i++)
		ask(&workers[i]);
	for (int i = 0; i < CROWD; i++) {
		uint64_t ns = hear(&workers[i]).ns;

		first = ns < first ? ns : first;
		last = ns > last ? ns : last;
	}
	check(stat_of(GROUP, "bursts") == bursts + 1 && !stat_of(GROUP, "held"),
	      "more tasks than are released at a time are one burst");
	/* All of them run one after the other on few CPUs. */
	check(in_time(last, first / period * period + GAP_NS), "the last of which is %lu us late",
	      (unsigned long)(last % period / 1000));
	rules(GROUP, 0, 0, 1);
	for (int i = 0; i < CROWD; i++)
		stop(&workers[i]);
}
