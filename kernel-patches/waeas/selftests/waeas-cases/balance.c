// SPDX-License-Identifier: BSD-3-Clause
/* The part `balance`: a cluster with room is balanced by itself, and one without by the root. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "fewer_cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"
#include "wakeups.h"

/* Where each of the tasks is that never sleep. */
static volatile int *seats;

/* Tasks that never sleep. All begin on CPU @first, and may run on those up to @last. */
static void roam(pid_t *pids, int count, int first, int last)
{
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		if (begins)
			begins();
		pin(first);
		pin_to(first, last);
		for (;;)
			seats[i] = sched_getcpu();
	}
	clock_sleep(400 * MS);
}

/*
 * Latency-sensitive tasks are given a CPU only while the root has no flag. A flag that a new task
 * has set stays until somebody balances, so not all wake-ups tell.
 */
static bool is_root_clear(void)
{
	unsigned long before = stat_of("selected"), selected;

	woken(BY_ITSELF, mains - 1, -1);
	selected = stat_of("selected") - before;
	note("%lu were selected", selected);
	return selected >= RUNS / 5;
}

static bool is_once_clear(void)
{
	for (int tries = 0; tries < 6; tries++)
		if (is_root_clear())
			return true;
	return false;
}

static bool is_root_flagged(void)
{
	return !is_root_clear() && !is_root_clear();
}

static void stop_all(pid_t *pids, int count)
{
	for (int i = 0; i < count; i++)
		stop(pids[i]);
	clock_sleep(200 * MS);
}

/*
 * While the root's flag is set, upstream balances, and a cluster by itself never does. The task
 * that was there before may have left the flag set. So each load has some tries.
 */
#define LOCAL_TRIES 5

/* Whether a cluster is balanced by itself while such tasks roam. */
static bool roam_by_cluster(pid_t *pids, int count, int last)
{
	unsigned long before, after;

	is_once_clear();
	before = stat_of("local");
	roam(pids, count, first_little, last);
	after = stat_of("local");
	for (int i = 0; i < count; i++)
		note("on CPU %d", seats[i]);
	note("balanced %lu times", after - before);
	return after > before;
}

/* Two tasks that never sleep have a CPU each, and the root has no flag for them. */
static bool is_balanced_alone(void)
{
	bool alone = false;
	pid_t pids[2];

	for (int tries = 0; tries < LOCAL_TRIES && !alone; tries++) {
		alone = roam_by_cluster(pids, 2, last_little) && seats[0] != seats[1] &&
			is_once_clear();
		stop_all(pids, 2);
	}
	return alone;
}

/* Three tasks that never sleep use two CPUs, and never another one. */
static void test_balance_by(int last, const char *what)
{
	bool kept = true, spread = false;
	pid_t pids[3];

	for (int tries = 0; tries < LOCAL_TRIES && kept && !spread; tries++) {
		bool local = roam_by_cluster(pids, 3, last), used[2] = {false, false};

		for (int i = 0; i < 3; i++) {
			kept &= seats[i] <= first_little + 1;
			used[seats[i] != first_little] = true;
		}
		spread = local && used[0] && used[1];
		stop_all(pids, 3);
	}
	check(kept && spread, "balance keeps to %s", what);
}

/* A cluster of which a CPU is gone is still balanced by itself, over the others. */
static void test_balance_gone(const char *file, const char *out, const char *in, const char *what)
{
	bool alone;

	put(file, out);
	clock_sleep(500 * MS);
	alone = is_balanced_alone();
	check(alone && seats[0] != last_little && seats[1] != last_little,
	      "balance knows that a CPU is %s", what);
	put(file, in);
	clock_sleep(500 * MS);
}

/* Tasks that have only one little CPU, because all others are out, go to big ones. */
static void test_balance_crowded(void)
{
	bool moved = false;
	pid_t pids[3];
	char out[32];

	put("/sys/kernel/lull/hotplug/enabled", "1");
	snprintf(out, sizeof(out), "%d-%d", first_little + 1, last_little);
	put(CPU_DIR "/pseudo_offline", out);
	is_once_clear();
	roam(pids, 3, first_little, mains - 1);
	for (int tries = 0; tries < 20 && !moved; tries++) {
		clock_sleep(100 * MS);
		for (int i = 0; i < 3; i++)
			moved |= !is_little[seats[i]];
	}
	check(moved, "a cluster with one CPU that is not out has no room for three tasks");
	stop_all(pids, 3);
	put(CPU_DIR "/pseudo_offline", "\n");
	put("/sys/kernel/lull/hotplug/enabled", "0");
}

/* Tasks that may run on little CPUs only are never too large for them. */
void test_balance(void)
{
	unsigned long before;
	pid_t pids[64];

	if (littles < 4 || last_little - first_little + 1 != littles) {
		check(true, "a cluster is balanced by itself # SKIP too few little CPUs");
		return;
	}
	seats = mmap(NULL, sizeof(pids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seats == MAP_FAILED)
		bail("no memory: %s", strerror(errno));
	only("balance");
	set("select", "1");
	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		set("tracking", trackings[i]);
		check(is_balanced_alone(), "%s: a cluster with room is balanced by itself",
		      trackings[i]);
		roam(pids, littles + 1, first_little, last_little);
		check(is_root_flagged(), "%s: one without room is a matter of the root",
		      trackings[i]);
		stop_all(pids, littles + 1);
		roam(pids, 1, first_little, mains - 1);
		for (int tries = 0; tries < 20 && is_little[seats[0]]; tries++)
			clock_sleep(100 * MS);
		note("on CPU %d", seats[0]);
		check(!is_little[seats[0]], "%s: so is a task that is too large", trackings[i]);
		stop_all(pids, 1);
	}
	test_balance_by(first_little + 1, "affinity");
	make_fewer(first_little, first_little + 1);
	begins = in_fewer;
	test_balance_by(last_little, "cpuset");
	begins = NULL;
	drop_fewer();
	test_offline_and_out(last_little, test_balance_gone);
	test_balance_crowded();
	only("select");
	before = stat_of("local");
	roam(pids, 2, first_little, last_little);
	check(stat_of("local") == before && is_root_flagged(), "so is all if that part is off");
	stop_all(pids, 2);
}
