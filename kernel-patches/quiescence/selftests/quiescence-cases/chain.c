// SPDX-License-Identifier: BSD-3-Clause
/* Who joins the path, by what, and how many have room there. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "system.h"

static const char *const kinds[KINDS] = {"a Unix socket", "an eventfd", "a signal", "a futex"};

void test_chain(void)
{
	unsigned long evicted, lost, holds;
	pid_t pids[CROWD], reader;

	restart("all", "200", "2000");
	do_all(CHAIN);
	check(on_path(ui) && on_path(net) && !on_path(others[SLEEPER]) && !on_path(others[FIFO]),
	      "who is woken by the path joins it, and nobody else");
	do_all(CHAIN);
	holds = stat_of("holds");
	do_all(CHILD);
	check(on_path(net) && stat_of("holds") == holds + 1, "a child's cause is its parent's");

	for (int i = 0; i < CROWD; i++) {
		if (pipe(crowd[i]))
			bail("no pipe: %s", strerror(errno));
	}
	stop(ui);
	for (int i = 0; i < CROWD; i++) {
		int mine = crowd[i][0];

		pids[i] = fork();
		if (!pids[i])
			for (;;)
				hear(mine);
	}
	if (pipe(last))
		bail("no pipe: %s", strerror(errno));
	reader = start(await_end);
	start_ui();
	close(last[1]);
	clock_sleep(20 * MS);
	evicted = stat_of("evicted");
	lost = stat_of("lost");
	do_all(MANY);
	check(stat_of("evicted") > evicted || stat_of("lost") > lost,
	      "a path of more tasks than there is room for forgets some");
	do_all(CHAIN);
	check(on_path(ui) && on_path(net), "and goes on");
	do_all(END);
	check(on_path(reader), "whom a task of the path wakes by its end joins it");
	check(!on_path(1), "whose name cannot make up another member");
	stop(reader);
	close(last[0]);
	for (int i = 0; i < CROWD; i++) {
		stop(pids[i]);
		close(crowd[i][0]);
		close(crowd[i][1]);
	}
}

/* Between the consumer and the network there is one more task. */
void test_kinds(void)
{
	unsigned long holds;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		bail("no socket: %s", strerror(errno));
	counter = eventfd(0, 0);
	if (counter < 0)
		bail("no eventfd: %s", strerror(errno));
	for (int kind = 0; kind < KINDS; kind++) {
		restart("all", "200", "2000");
		atomic_store(&shared->kind, kind);
		asker = start(ask_when_told);
		/* The consumer has to know whom it tells. */
		stop(ui);
		start_ui();
		clock_sleep(20 * MS);
		do_all(KIND);
		holds = stat_of("holds");
		do_all(KIND);
		check(on_path(asker) && on_path(net) && !on_path(others[SLEEPER]),
		      "who is woken by %s joins the path, and so does whom it wakes", kinds[kind]);
		check(stat_of("holds") == holds + 1, "and others are held in their wait");
		stop(asker);
	}
	close(pair[0]);
	close(pair[1]);
	close(counter);
	stop(ui);
	start_ui();
}
