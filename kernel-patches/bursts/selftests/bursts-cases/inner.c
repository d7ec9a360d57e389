// SPDX-License-Identifier: BSD-3-Clause
/* Groups inside a stage; and the switch, which releases all. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "workers.h"

#define INNER GROUP "/inner"

void test_inner(void)
{
	struct worker outer, inner;
	uint64_t asked;
	struct answer answer;

	put(GROUP "/cgroup.subtree_control", "+cpu");
	if (mkdir(INNER, 0755) || mkdir(GROUP "/other", 0755))
		bail("cannot make a group: %s", strerror(errno));
	outer = start(GROUP "/other", SCHED_OTHER);
	inner = start(INNER, SCHED_OTHER);
	rules(INNER, 0, PERIOD_MS * 1000, 1);
	rules(GROUP, FOREVER_US, 0, 2);

	asked = clock_ns();
	ask(&inner);
	answer = hear(&inner);
	check(in_time(answer.ns, asked + PERIOD_MS * MS) && !stat_of(GROUP, "held"),
	      "a group inside belongs to the stage, by its own bound");
	ask(&outer);
	ask(&inner);
	hear(&inner);
	hear(&outer);
	check(!stat_of(GROUP, "held") && !stat_of(INNER, "wakes"),
	      "and takes the others of the stage along");

	/* Alone it waits for the bound, which is far away. */
	rules(INNER, 0, 0, 1);
	put_number(INNER "/cpu.bursts.deadline_us", 1000);
	deadline(1000);
	ask(&inner);
	check(!answers_within(&inner, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	      "a group inside cannot say that deadlines are heeded");
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	hear(&inner);
	asked = clock_ns();
	ask(&inner);
	check(in_time(hear(&inner).ns, asked + MS), "the stage can");
	deadline(0);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	ask(&inner);
	clock_sleep(5 * MS);
	put_number(INNER "/cpu.bursts.parallel", 1);
	check(answers_within(&inner, 5000) && !stat_of(GROUP, "held"),
	      "a write to its files releases whom the stage holds");
	hear(&inner);

	ask(&outer);
	clock_sleep(5 * MS);
	put(SYSTEM "enabled", "0");
	hear(&outer);
	check(true, "turning it off releases all");
	put(SYSTEM "enabled", "1");
	stop(&inner);
	stop(&outer);
	check(!rmdir(INNER) && !rmdir(GROUP "/other"), "a group can be removed");
	rules(GROUP, 0, 0, 1);
	put(GROUP "/cgroup.subtree_control", "-cpu");
}
