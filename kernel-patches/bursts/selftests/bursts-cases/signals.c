// SPDX-License-Identifier: BSD-3-Clause
/* What comes of a held task that a signal has woken. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
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
