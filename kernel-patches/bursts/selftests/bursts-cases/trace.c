// SPDX-License-Identifier: BSD-3-Clause
/* The trace says whom a stage holds, and of each burst how many leave, since when, and why. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "trace_line.h"
#include "workers.h"

#define INSTANCE "/sys/kernel/tracing/instances/lull-bursts/"
#define TRACE INSTANCE "trace"
#define RELEASE "lull_bursts_release: "
#define APART_MS 20

static bool traced_hold(pid_t pid)
{
	char line[512], detail[32];

	snprintf(detail, sizeof(detail), " pid=%d\n", pid);
	return trace_line(TRACE, "lull_bursts_hold: ", detail, line, sizeof(line));
}

/* Two tasks are held. Nobody wakes the third. */
static void enough(const struct worker *workers)
{
	long long held;
	uint64_t asked = clock_ns();

	ask(&workers[0]);
	wait_for_held(GROUP, 1);
	clock_sleep(APART_MS * MS);
	ask(&workers[1]);
	hear(&workers[0]);
	hear(&workers[1]);
	asked = clock_ns() - asked;

	check(traced_hold(workers[0].pid) && traced_hold(workers[1].pid) &&
		      !traced_hold(workers[2].pid),
	      "the trace has each task that is held, and no other one");
	held = trace_number(TRACE, RELEASE, "tasks=2 ", "held_ns=");
	check(held >= (long long)(APART_MS * MS) && held <= (long long)asked,
	      "a burst, how many leave, and how long the first one was held");
	check(trace_number(TRACE, RELEASE, "tasks=2 ", "early=") == 0, "which was not early");
}

static void too_few(const struct worker *worker)
{
	long long held;

	put(TRACE, "\n");
	rules(GROUP, PERIOD_MS * 1000, 3 * PERIOD_MS * 1000, 2);
	ask(worker);
	hear(worker);
	held = trace_number(TRACE, RELEASE, "tasks=1 ", "held_ns=");
	check(trace_number(TRACE, RELEASE, "tasks=1 ", "early=") == 1 && held >= 0 &&
		      in_time((uint64_t)held, 3 * PERIOD_MS * MS),
	      "and one that begins because a bound ends");
}

void test_trace(void)
{
	struct worker workers[3];

	if (mkdir(INSTANCE, 0755))
		bail("cannot trace: %s", strerror(errno));
	for (int i = 0; i < 3; i++)
		workers[i] = start(GROUP, SCHED_OTHER);
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, 2);
	put(INSTANCE "events/lull/enable", "1");

	enough(workers);
	too_few(&workers[0]);

	rules(GROUP, 0, 0, 1);
	for (int i = 0; i < 3; i++)
		stop(&workers[i]);
	put(INSTANCE "events/enable", "0");
	check(!rmdir(INSTANCE), "nothing keeps the trace");
}
