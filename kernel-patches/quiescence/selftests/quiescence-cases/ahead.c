// SPDX-License-Identifier: BSD-3-Clause
/* A CPU that wakes ahead of the end of the path's wait: when that is planned, and how plans end. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "cpulist.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"

/* Does the same until a count has risen. Short holds have to be allowed again meanwhile. */
static bool do_until(const char *word, int tries)
{
	unsigned long before = stat_of(word);

	for (int i = 0; i < tries && stat_of(word) == before; i++) {
		do_all(CHAIN);
		clock_sleep(WAIT_MS * MS);
	}
	return stat_of(word) > before;
}

/* Each hold has a plan or none, and each plan that is over has ended in one way. */
static bool all_counted(unsigned long holds)
{
	return stat_of("planned") + stat_of("unsure") + stat_of("declined") == holds &&
	       stat_of("plan_hits") + stat_of("plan_early") + stat_of("plan_misses") +
			       stat_of("plan_dropped") ==
		       stat_of("planned");
}

/* Learns a wait, and presses. Whether the end of the wait has been planned for, and is yet to come.
 */
static bool press_planned(const char *hold, enum act act, uint32_t ms)
{
	unsigned long planned;

	/* What a test before has turned off. */
	put(PLANS "enabled", "1");
	atomic_store(&shared->wait_ms, LONG_MS);
	/* Holds are half of the time at most, but for one bound. */
	restart(hold, "10000", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	planned = stat_of("planned");
	atomic_store(&shared->wait_ms, ms);
	press(act);
	for (int i = 0; i < LONG_MS / 2; i++) {
		if (stat_of("planned") > planned)
			return true;
		clock_sleep(MS);
	}
	return false;
}

static void answer_soon(void)
{
	/* A shorter wait would not count, and another one would be taken for it. */
	clock_sleep(SLACK_MS * MS);
	tell(to_ui[1]);
}

static void wait_on(void)
{
}

static void turn_off(void)
{
	put(SYSTEM "enabled", "0");
}

static void turn_plans_off(void)
{
	put(PLANS "enabled", "0");
}

static int leaves;

static void go_offline(void)
{
	char file[64];

	snprintf(file, sizeof(file), CPU_DIR "/cpu%d/online", leaves);
	must(write_text(file, "0"), file);
	must(write_text(file, "1"), file);
}

/*
 * Whether a plan ends in this way, and in no other one, if this is done before its time. On a slow
 * machine it may be done too late.
 */
static bool ends_as(const char *word, const char *hold, enum act act, uint32_t ms,
		    void (*then)(void))
{
	unsigned long before = stat_of(word);
	bool planned = false;

	for (int i = 0; i < 5 && stat_of(word) == before; i++) {
		planned = press_planned(hold, act, ms);
		if (planned)
			then();
		else if (act == STRAY)
			tell(to_ui[1]);
		finish();
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	return planned && stat_of(word) == before + 1;
}

static void test_offline(const char *hold)
{
	struct cpulist online;
	cpu_set_t one;

	must(cpulist_read(&online, "online"), "read the CPUs");
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu])
			leaves = cpu;
	if (!leaves) {
		check(true, "%s: a CPU goes offline # SKIP there is one", hold);
		return;
	}
	CPU_ZERO(&one);
	CPU_SET((size_t)leaves, &one);
	if (sched_setaffinity(net, sizeof(one), &one) || sched_setaffinity(ui, sizeof(one), &one))
		bail("cannot bind the path: %s", strerror(errno));
	check(ends_as("plan_dropped", hold, CHAIN, LONG_MS, go_offline),
	      "%s: a plan ends when its CPU goes offline", hold);
	allow_all(net);
	allow_all(ui);
}

/* The end of a wait is planned for if it is known, and only then. */
void test_ahead(const char *hold)
{
	unsigned long planned = stat_of("planned"), unsure = stat_of("unsure"), holds, declined;
	uint64_t hits;

	restart(hold, "200", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	check(stat_of("planned") == planned && stat_of("unsure") == unsure,
	      "%s: nothing is planned if that is off", hold);

	put(PLANS "enabled", "1");
	put(SYSTEM "ahead", "1");
	restart(hold, "200", "2000");
	holds = stat_of("holds") - planned - unsure - stat_of("declined");
	clock_sleep(WAIT_MS * MS);
	do_all(CHAIN);
	clock_sleep(WAIT_MS * MS);
	do_all(CHAIN);
	check(stat_of("planned") == planned && stat_of("unsure") == unsure + 1,
	      "%s: nor for a wait that was there once", hold);
	hits = plans_count("hits", ALL_CPUS);
	check(do_until("plan_hits", 10) && plans_count("hits", ALL_CPUS) > hits,
	      "%s: then a CPU is awake when the path wakes", hold);

	planned = stat_of("planned");
	unsure = stat_of("unsure");
	restart(hold, "200", "2000");
	for (int i = 0; i < 6; i++) {
		atomic_store(&shared->wait_ms, i % 2 ? WAIT_MS / 2 : WAIT_MS);
		clock_sleep(WAIT_MS * MS);
		do_all(CHAIN);
	}
	atomic_store(&shared->wait_ms, LONG_MS);
	check(stat_of("planned") == planned && stat_of("unsure") >= unsure + 4,
	      "%s: no wait is planned for whose length differs from time to time", hold);

	restart(hold, "40", "2000");
	do_all(CHAIN);
	check(do_until("declined", 10) && stat_of("planned") == planned,
	      "%s: nor is a wait whose end comes after that of the hold", hold);
	atomic_store(&shared->wait_ms, WAIT_MS);

	check(ends_as("plan_early", hold, STRAY, LONG_MS, answer_soon),
	      "%s: a path that wakes before its plan is counted", hold);
	check(ends_as("plan_misses", hold, CHAIN, 2 * LONG_MS, wait_on), "%s: so is a plan in vain",
	      hold);
	check(ends_as("plan_dropped", hold, CHAIN, LONG_MS, turn_off),
	      "%s: a plan ends when the system is turned off", hold);
	/* The path wakes before the window, so that this would not have been in vain. */
	check(ends_as("plan_dropped", hold, CHAIN, 3 * LONG_MS / 4, turn_plans_off),
	      "%s: or when anticipation is", hold);
	declined = stat_of("declined");
	atomic_store(&shared->wait_ms, LONG_MS);
	/* Until the error is small again. */
	check(do_until("declined", 10) && stat_of("declined") == declined + 1,
	      "%s: of which there are no plans then", hold);
	atomic_store(&shared->wait_ms, WAIT_MS);
	put(PLANS "enabled", "1");
	test_offline(hold);
	put(SYSTEM "enabled", "0");
	check(all_counted(stat_of("holds") - holds), "%s: each hold and each plan is counted once",
	      hold);
	put(SYSTEM "ahead", "0");
}
