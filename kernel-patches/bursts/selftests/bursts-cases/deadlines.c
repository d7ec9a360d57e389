// SPDX-License-Identifier: BSD-3-Clause
/* Deadlines of requests: when a burst begins because of one, and who has none. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bursts_abi.h"
#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "workers.h"

/* The deadlines of requests. */
#define DEADLINE_MS (3 * PERIOD_MS)
#define DEADLINE_US (DEADLINE_MS * 1000UL)

/* As long as no bound and no period ends, a burst begins because a deadline ends, or a rule is new.
 */
void test_deadline(void)
{
	struct worker first = start(GROUP, SCHED_OTHER), second = start(GROUP, SCHED_OTHER);
	unsigned long early, bursts, counted;
	uint64_t asked, written;
	struct answer answer;

	/* So many that they would wait until a bound ends. */
	rules(GROUP, FOREVER_US, FOREVER_US, 3);
	early = stat_of(GROUP, "early");
	counted = stat_of(GROUP, "deadlines");
	deadline(DEADLINE_US);
	ask(&first);
	check(!answers_within(&first, 2 * DEADLINE_MS) && stat_of(GROUP, "deadlines") == counted,
	      "a stage heeds no deadline unless its file says so");
	written = clock_ns();
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	check(in_time(hear(&first).ns, written) && stat_of(GROUP, "early") == early,
	      "a write to this file releases whom the stage holds");

	/* A task without a deadline goes along. */
	bursts = stat_of(GROUP, "bursts");
	deadline(0);
	ask(&second);
	check(!answers_within(&second, 2 * DEADLINE_MS), "a request without a deadline waits");
	deadline(DEADLINE_US);
	asked = clock_ns();
	ask(&first);
	answer = hear(&first);
	hear(&second);
	check(in_time(answer.ns, asked + DEADLINE_MS * MS),
	      "until the deadline of another one ends, no longer");
	check(stat_of(GROUP, "bursts") == bursts + 1 && stat_of(GROUP, "early") == early + 1 &&
		      stat_of(GROUP, "deadlines") == counted + 1,
	      "they leave in one burst, which is counted, and so is the deadline");

	put_number(GROUP "/cpu.bursts.deadline_us", DEADLINE_US);
	deadline(1);
	asked = clock_ns();
	ask(&first);
	answer = hear(&first);
	check(in_time(answer.ns, asked + DEADLINE_MS * MS) && stat_of(GROUP, "early") == early + 2,
	      "a shorter deadline than the stage's least is the least");

	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	put_number(GROUP "/cpu.bursts.bound_us", DEADLINE_US);
	deadline(BURST_DEADLINE_MOST_US);
	asked = clock_ns();
	ask(&first);
	answer = hear(&first);
	check(in_time(answer.ns, asked + DEADLINE_MS * MS) && stat_of(GROUP, "early") == early + 3,
	      "a longer deadline than the bound puts nothing off");

	deadline(0);
	stop(&first);
	stop(&second);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	rules(GROUP, 0, 0, 1);
}

/* Whether this program runs on a CPU while a timer of the same CPU wakes a member. */
void test_deadline_of_nobody(void)
{
	struct worker worker;
	cpu_set_t usable, one;
	unsigned long held;
	char number[16];
	uint64_t end;
	pid_t pid;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		bail("cannot get the CPUs: %s", strerror(errno));
	one = only(sched_getcpu());
	bind_to(0, &one);
	/* It inherits the CPU. */
	worker = start(GROUP, SCHED_OTHER);
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	if (write(worker.to, SLEEP, 1) != 1)
		bail("cannot ask: %s", strerror(errno));
	clock_sleep(SLEEP_MS / 10 * MS);
	rules(GROUP, FOREVER_US, 0, 2);
	deadline(1000);
	for (end = clock_ns() + 2 * SLEEP_MS * MS; clock_ns() < end;)
		;
	deadline(0);
	check(!answers_within(&worker, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	      "an interrupt has no deadline, whomever it comes upon");
	rules(GROUP, 0, 0, 1);
	hear(&worker);
	bind_to(0, &usable);
	bind_to(worker.pid, &usable);

	rules(GROUP, FOREVER_US, 0, 2);
	deadline(1000);
	pid = fork();
	if (!pid) {
		ask(&worker);
		_exit(0);
	}
	deadline(0);
	waitpid(pid, NULL, 0);
	check(!answers_within(&worker, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	      "a child does not inherit its parent's");
	rules(GROUP, FOREVER_US, 0, 2);
	hear(&worker);

	held = stat_of(GROUP, "held_sum_us");
	snprintf(number, sizeof(number), "%d", worker.to);
	pid = fork();
	if (!pid) {
		deadline(1000);
		execl("/proc/self/exe", "bursts", ASKER, number, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	hear(&worker);
	held = stat_of(GROUP, "held_sum_us") - held;
	/* Both sums are cut to whole microseconds. */
	check(in_time(1000 * (held + 1), MS), "a program that a thread executes does");
	stop(&worker);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	rules(GROUP, 0, 0, 1);
}

/* A member that waits for two pipes, of which each wakes it. */
void test_deadline_comes_later(void)
{
	struct worker worker = {0};
	int to[2], also[2], from[2];
	uint64_t asked;

	if (pipe(to) || pipe(also) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	worker.pid = fork();
	if (!worker.pid) {
		struct pollfd both[] = {{.fd = to[0], .events = POLLIN},
					{.fd = also[0], .events = POLLIN}};
		struct answer answer = {.pid = getpid()};

		if (write_text(GROUP "/cgroup.procs", "0") ||
		    write(from[1], &answer, sizeof(answer)) != sizeof(answer) ||
		    poll(both, 2, -1) < 1)
			_exit(2);
		answer.ns = clock_ns();
		_exit(write(from[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	worker.from = from[0];
	hear(&worker);
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	rules(GROUP, FOREVER_US, FOREVER_US, 2);
	worker.to = to[1];
	ask(&worker);
	wait_for_held(GROUP, 1);
	deadline(1000);
	worker.to = also[1];
	asked = clock_ns();
	ask(&worker);
	deadline(0);
	check(in_time(hear(&worker).ns, asked + MS),
	      "a held task takes the deadline of who wakes it once more");
	rules(GROUP, 0, 0, 1);
	stop(&worker);
	close(to[0]);
	close(to[1]);
	close(also[0]);
	close(from[1]);
	put(GROUP "/cpu.bursts.deadline_us", "0");
}
