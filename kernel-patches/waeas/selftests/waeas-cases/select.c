// SPDX-License-Identifier: BSD-3-Clause
/* The part `select`: which CPU a latency-sensitive task is given. */
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
#include "wakeups.h"

void test_select(void)
{
	unsigned long before;

	only("select");
	put(SENSITIVE, "1");
	sleep_lightly(is_last_little);
	check(is_selected(BY_GROUP, last_little),
	      "a latency-sensitive task gets the little CPU in the lightest state");
	check(is_selected(BY_ITSELF, last_little), "so does one that said so itself");
	before = stat_of("selected");
	put(SENSITIVE, "0");
	woken(BY_GROUP, mains - 1, -1);
	check(stat_of("selected") == before, "another one does not");
	put(SENSITIVE, "1");
	only(NULL);
	woken(BY_GROUP, mains - 1, -1);
	check(stat_of("selected") == before, "nor if that part is off");
	only("select");
	/* The waker's own CPU is not idle, so there has to be another big one. */
	if (!is_little[mains - 2])
		check(is_selected(AND_CLAMPED, mains - 2),
		      "one that needs more than a little CPU has gets a big one");
	else
		check(true, "one that needs more gets a big CPU # SKIP one big CPU");
	sleep_as_before();

	sleep_lightly(is_big);
	check(is_selected(BY_ITSELF, -1), "less capacity comes before a lighter state");
	sleep_as_before();
}

/*
 * A task needs more than a little CPU has. Its last work was on the last big CPU but one, and the
 * last one sleeps in a lighter state: how often of @runs it wakes there.
 */
static int wakes_on_last(int runs)
{
	int to[2], from[2], count = 0;
	pid_t sleeper, waker;
	char byte = 0;

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	sleeper = fork();
	if (!sleeper) {
		be_sensitive();
		for (int i = 0; i < runs + 3 && read(to[0], &byte, 1) == 1; i++) {
			/* The first times nobody knows the task. */
			count += i >= 3 && is_last(sched_getcpu());
			pin(mains - 2);
			sleep_to(BEAT, MS);
			spin_ns(9 * MS);
			pin_to(0, mains - 1);
		}
		_exit(write(from[1], &count, sizeof(count)) != sizeof(count));
	}
	waker = fork();
	if (!waker) {
		pin(first_little);
		for (int i = 0; i < runs + 3; i++) {
			clock_sleep(120 * MS);
			sleep_to(BEAT, 17 * MS);
			if (write(to[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(from[1]);
	if (read(from[0], &count, sizeof(count)) != sizeof(count))
		bail("a task did not run");
	waitpid(sleeper, NULL, 0);
	waitpid(waker, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(to[i]);
	close(from[0]);
	note("%d of %d wake-ups on the last CPU", count, runs);
	return count;
}

/*
 * The kernel counts what real-time tasks take from a CPU when that CPU balances, which it may not
 * do for a while. So the first wake-ups may go by what it counted before, and three tries are made.
 */
static bool is_on_last(bool wanted)
{
	for (int i = 0; i < 3; i++) {
		int count = wakes_on_last(6);

		if (wanted ? count >= 5 : count <= 1)
			return true;
	}
	return false;
}

/* A real-time task leaves a big CPU less than a little one has. */
void test_inversion(void)
{
	pid_t pid;

	if (is_little[mains - 2]) {
		check(true, "select goes by what real-time tasks leave # SKIP one big CPU");
		return;
	}
	only("select");
	set("tracking", "walt");
	at_highest(true);
	sleep_lightly(is_last);
	check(is_on_last(true), "a task gets the big CPU in the lightest state");
	pid = works(mains - 1, 0, 12 * MS, SCHED_FIFO);
	clock_sleep(500 * MS);
	check(is_on_last(false), "not if a real-time task leaves it less than a little CPU has");
	stop(pid);
	sleep_as_before();
	at_highest(false);
}
