// SPDX-License-Identifier: BSD-3-Clause
/* What comes of a held task that a signal has woken. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "tasks.h"
#include "workers.h"

/* A signal wakes a held task, which then has a child. */
void test_fork(void)
{
	struct worker parent, child;
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	heir = (struct worker){.to = to[0], .from = from[1]};
	child = (struct worker){.to = to[1], .from = from[0]};
	parent = start(GROUP, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 1);
	if (write(parent.to, FORK, 1) != 1)
		bail("cannot ask: %s", strerror(errno));
	clock_sleep(5 * MS);
	kill(parent.pid, SIGUSR1);
	hear(&parent);
	child.pid = hear(&child).pid;
	check(stat_of(GROUP, "held") == 1, "a held task that a signal has woken has a child");
	rules(GROUP, PERIOD_MS * 1000, 0, 1);
	ask(&child);
	check(answers_within(&child, 5000), "whose wake-ups are released as any other's");
	stop(&parent);
	stop(&child);
	close(heir.to);
	close(heir.from);
	rules(GROUP, 0, 0, 1);
}

/* Whom a signal has woken needs no release, and has none left for the next burst. */
void test_vain_release(void)
{
	struct worker worker;

	busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (busy == MAP_FAILED)
		bail("no memory: %s", strerror(errno));
	worker = start(GROUP, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 1);
	ask(&worker);
	clock_sleep(5 * MS);
	atomic_store(busy, true);
	kill(worker.pid, SIGUSR2);
	clock_sleep(5 * MS);
	rules(GROUP, FOREVER_US, 0, 1);
	atomic_store(busy, false);
	hear(&worker);
	check(!stat_of(GROUP, "held"), "who has been woken by a signal is released in vain");
	ask(&worker);
	clock_sleep(5 * MS);
	check(!has_answered(&worker) && stat_of(GROUP, "held") == 1, "and is held the next time");
	stop(&worker);
	munmap(busy, sizeof(*busy));
	rules(GROUP, 0, 0, 1);
}

/* A member that waits for nothing. */
static int wait_as_member(int from)
{
	if (write_text(GROUP "/cgroup.procs", "0"))
		return 1;
	return wait_for_nothing(from);
}

/* Not every sleep expects to be woken for nothing. */
void test_no_vain_wakeup(void)
{
	int to[2], status;
	pid_t pid;

	if (pipe(to))
		bail("no pipe: %s", strerror(errno));
	rules(GROUP, FOREVER_US, 0, 1);
	pid = fork();
	if (!pid)
		_exit(wait_as_member(to[0]));
	clock_sleep(20 * MS);
	await_sleep(pid);
	if (write(to[1], "", 1) != 1)
		bail("cannot ask: %s", strerror(errno));
	wait_for_held(GROUP, 1);
	kill(pid, SIGUSR1);
	clock_sleep(20 * MS);
	await_sleep(pid);
	rules(GROUP, 0, 0, 1);
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	      "who was woken before its release waits on for something else");
	close(to[0]);
	close(to[1]);
}
