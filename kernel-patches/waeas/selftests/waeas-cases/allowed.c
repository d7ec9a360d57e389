// SPDX-License-Identifier: BSD-3-Clause
/* `select` and `pack` place a task only where it may run: affinity, cpuset, hotplug, uclamp. */
#include <sched.h>
#include <unistd.h>

#include "cases.h"
#include "clamp.h"
#include "clock.h"
#include "cpus.h"
#include "fewer_cpus.h"
#include "report.h"
#include "system.h"
#include "tasks.h"
#include "wakeups.h"

static void may_not_last(void)
{
	pin_to(first_little, last_little - 1);
}

/* A latency-sensitive task gets a little CPU, but not the last one, which sleeps the lightest. */
static bool is_selected_elsewhere(void)
{
	return selected(BY_ITSELF, -1) == RUNS && !came_to[last_little];
}

/* Others are packed on the first little CPU, though the last one is fuller. */
static bool is_packed_elsewhere(void)
{
	pid_t first = works(first_little, 0, 8 * MS, SCHED_OTHER);
	pid_t last = works(last_little, 0, 12 * MS, SCHED_OTHER);
	bool packed = is_packed_in_beat(5 * MS, mains - 1, first_little, RUNS * 6 / 10) &&
		      !came_to[last_little];

	stop(first);
	stop(last);
	return packed;
}

static void test_allowed_by(void (*how)(void), const char *what)
{
	begins = how;
	only("select");
	sleep_lightly(is_last_little);
	check(is_selected_elsewhere(), "select keeps to %s", what);
	sleep_as_before();
	only("pack");
	check(is_packed_elsewhere(), "pack keeps to %s", what);
	begins = NULL;
}

/* Nothing is placed on a CPU that is gone. */
static void test_not_there(const char *file, const char *out, const char *in, const char *what)
{
	only("select");
	sleep_lightly(is_last_little);
	put(file, out);
	clock_sleep(500 * MS);
	check(is_selected_elsewhere(), "select knows that a CPU is %s", what);
	only("pack");
	check(is_packed(first_little, first_little, RUNS * 9 / 10) && !came_to[last_little],
	      "pack knows that a CPU is %s", what);
	put(file, in);
	clock_sleep(500 * MS);
	sleep_as_before();
	only("select");
	sleep_lightly(is_last_little);
	check(is_selected(BY_ITSELF, last_little), "and that it is %s no more", what);
	sleep_as_before();
}

/* A task that is never to get more than a part of a little CPU. */
static void cap(void)
{
	if (clamp_most(200))
		_exit(7);
}

static void be_sensitive_and_cap(void)
{
	be_sensitive();
	cap();
}

void test_allowed(void)
{
	unsigned long before;

	if (littles < 3 || last_little - first_little + 1 != littles) {
		check(true, "a task's CPUs are kept to # SKIP too few little CPUs");
		return;
	}
	set("tracking", "walt");
	test_allowed_by(may_not_last, "affinity");

	make_fewer(first_little, last_little - 1);
	test_allowed_by(in_fewer, "cpuset");
	drop_fewer();

	test_offline_and_out(last_little, test_not_there);

	only("pack");
	begins = clamp;
	check(woken(NOT, last_little, -1) <= RUNS / 10, "pack keeps to uclamp.min");
	only("select");
	at_highest(true);
	begins = be_sensitive;
	check(wakes_on_big(6, work_once) >= 5, "a large task is given a big CPU");
	begins = be_sensitive_and_cap;
	before = stat_of("selected");
	check(wakes_on_big(6, work_once) <= 1 && stat_of("selected") >= before + 5,
	      "select keeps to uclamp.max");
	begins = NULL;
	at_highest(false);
}
