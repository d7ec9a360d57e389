// SPDX-License-Identifier: BSD-3-Clause
/* Who is held when the path waits, and who is not; and who should not have been. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

#define BURSTS "/sys/kernel/lull/bursts/enabled"
#define CGROUP "/sys/fs/cgroup"
#define STAGE CGROUP "/lull-quiescence"

void test_off(void)
{
	unsigned long before = stat_of("actions");

	do_all(CHAIN);
	do_all(CHAIN);
	check(stat_of("actions") == before, "off: nobody follows the path");
}

void test_all(void)
{
	unsigned long holds, by_path, tasks;

	start_other(DUE);
	restart("all", "200", "2000");
	holds = stat_of("holds");
	by_path = stat_of("by_path");
	do_all(CHAIN);
	check(stat_of("holds") == holds && ran_in_wait(SLEEPER) && ran_in_wait(HOG),
	      "what was never done before holds nobody");
	tasks = stat_of("tasks");
	do_all(CHAIN);
	check(stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1,
	      "the second time there is one hold, and the path ends it");
	check(!ran_in_wait(SLEEPER), "all: who would wake is held");
	check(!ran_in_wait(HOG), "and who runs is stopped");
	check(stat_of("tasks") >= tasks + 2, "both are counted");
	check(ran_in_wait(FIFO) > WAIT_MS / 10, "a real-time task is not held");
	check(ran_in_wait(DUE) > WAIT_MS / 10, "nor is a deadline task");
	stop(others[DUE]);
	clock_sleep(20 * MS);
	check(ran(SLEEPER, atomic_load(&shared->ended), clock_ns()) &&
		      ran(HOG, atomic_load(&shared->ended), clock_ns()),
	      "both go on when the path wakes");
	check(stat_of("holds") == holds + 1, "the time in which the user thinks holds nobody");
}

/* Whether there is one more hold than before, which nothing has ended yet. */
static bool is_held(unsigned long holds, unsigned long ended)
{
	return stat_of("holds") == holds + 1 &&
	       stat_of("by_path") + stat_of("by_deadline") == ended;
}

/* Who makes a device waits for a thread of the kernel, which sleeps as programs do. */
void test_kernel_thread(void)
{
	unsigned long holds, ended;
	bool held = false;

	if (!find_device_thread())
		bail("there is no " DEVICE_THREAD);
	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 5 && !held; i++) {
		holds = stat_of("holds");
		ended = stat_of("by_path") + stat_of("by_deadline");
		press(CHAIN);
		clock_sleep((SLACK_MS + 10) * MS);
		held = is_held(holds, ended);
		must(use_device_thread(), "make a device");
		held &= is_held(holds, ended);
		finish();
		/* Holds are half of the time at most: until short ones are allowed again. */
		clock_sleep(2 * LONG_MS * MS);
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	check(held, "a thread of the kernel works while others are held");
}

/* Who runs all the time is stopped by a hold, and then let go, without a stage's consent. */
void test_stage(void)
{
	char was[8], pid[16];
	uint64_t ended;

	must(read_text(BURSTS, was, sizeof(was)), BURSTS);
	put(CGROUP "/cgroup.subtree_control", "+cpu");
	if (mkdir(STAGE, 0755))
		bail("cannot make a group: %s", strerror(errno));
	/* A single task waits there for 10 s. */
	put(STAGE "/cpu.bursts.parallel", "2");
	put(STAGE "/cpu.bursts.period_us", "10000000");
	snprintf(pid, sizeof(pid), "%d", others[HOG]);
	put(STAGE "/cgroup.procs", pid);
	put(BURSTS, "1");
	restart("all", "1000", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	ended = atomic_load(&shared->ended);
	for (int i = 0; i < 5000 && !ran(HOG, ended, clock_ns()); i++)
		clock_sleep(MS);
	check(ran(HOG, ended, clock_ns()), "a stage does not hold whom a hold lets go");
	put(BURSTS, was);
	put(CGROUP "/cgroup.procs", pid);
	check(!rmdir(STAGE), "nothing keeps the stage");
}

void test_mistake(const char *hold)
{
	unsigned long mistaken;

	/* Somebody else's wait, as long as the chain's, is learned. */
	restart(hold, "55", "2000");
	do_all(CHAIN);
	mistaken = stat_of("mistaken");
	press(STRAY);
	clock_sleep((SLACK_MS + 10) * MS);
	atomic_store(&shared->stray, 1);
	finish();
	check(stat_of("mistaken") == mistaken + 1,
	      "%s: a hold of whom the path waited for is counted", hold);
	mistaken = stat_of("mistaken");
	do_all(CHAIN);
	check(stat_of("mistaken") == mistaken, "and no other one is");
}
