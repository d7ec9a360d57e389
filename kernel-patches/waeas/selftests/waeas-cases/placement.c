// SPDX-License-Identifier: BSD-3-Clause
/* Where EAS places a task: by which demand, also that of a new task. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "system.h"
#include "tasks.h"

/* PELT has forgotten the work until the task wakes, and windows have not. */
void test_placement(void)
{
	only(NULL);
	set("tracking", "walt");
	at_highest(true);
	check(wakes_on_big(6, work_once) >= 5,
	      "by windows, EAS places a task where its last work fits");
	set("placement", "0");
	check(wakes_on_big(6, work_once) <= 1, "by PELT, where the rest of that fits");
	set("placement", "1");
	set("tracking", "pelt");
	check(wakes_on_big(6, work_once) <= 1, "so it does if nothing is by windows");
	set("tracking", "walt");
	at_highest(false);
}

/* A task works, and its child sleeps at once: how often of @runs the child wakes on a big CPU. */
static int child_wakes_on_big(int runs)
{
	int count = 0, status;
	cpu_set_t all;
	pid_t pid;

	if (sched_getaffinity(0, sizeof(all), &all))
		bail("no affinity: %s", strerror(errno));
	for (int i = 0; i < runs; i++) {
		pin(mains - 1);
		sleep_to(BEAT, MS);
		spin_ns(16 * MS);
		if (sched_setaffinity(0, sizeof(all), &all))
			bail("no affinity: %s", strerror(errno));
		pid = fork();
		if (!pid) {
			clock_sleep(50 * MS);
			_exit(!is_little[sched_getcpu()]);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			bail("a task did not run");
		count += WEXITSTATUS(status);
	}
	note("%d of %d children on a big CPU", count, runs);
	return count;
}

void test_inherit(void)
{
	only(NULL);
	set("tracking", "walt");
	at_highest(true);
	set("inherit", "1");
	check(child_wakes_on_big(6) >= 5, "a new task begins with its parent's demand");
	set("inherit", "0");
	check(child_wakes_on_big(6) <= 1, "not if that is off");
	at_highest(false);
}
