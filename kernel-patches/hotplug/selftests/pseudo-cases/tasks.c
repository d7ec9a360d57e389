// SPDX-License-Identifier: BSD-3-Clause
/* Tasks leave a CPU that is out, and come to none, but for those that have no other. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "workers.h"

void test_running(void)
{
	unsigned long pushed = counted(there, "pushed");
	struct worker spinner;
	uint64_t begin, took;

	start(&spinner, set_of(there, -1), 0);
	allow(atomic_load(&spinner.tid), set_of(0, there));
	begin = clock_ns();
	out(there);
	while (atomic_load(&spinner.cpu) == there && clock_ns() - begin < 1000 * MS)
		clock_sleep(MS / 10);
	took = clock_ns() - begin;
	check(atomic_load(&spinner.cpu) == 0, "a task that runs there leaves");
	/* A tick is 4 ms. On the machine that has time, the stopper needs microseconds. */
	check(took < 100 * MS, "within a few ticks");
	note("%llu us", (unsigned long long)took / 1000);
	check(counted(there, "pushed") > pushed, "and is counted");
	check(grows_in(50 * MS, &spinner.there) == 0, "it does not come again");
	all_in();
	stop(&spinner);
}

void test_waking(void)
{
	struct worker sleeper;

	start(&sleeper, set_of(there, -1), MS);
	allow(atomic_load(&sleeper.tid), set_of(0, there));
	out(there);
	clock_sleep(20 * MS);
	check(grows_in(100 * MS, &sleeper.there) == 0 && grows_in(100 * MS, &sleeper.rounds) > 5,
	      "a task that sleeps there wakes elsewhere");
	all_in();
	stop(&sleeper);
}

void test_bound(void)
{
	unsigned long stranded = counted(there, "stranded");
	struct worker sleeper, spinner;

	start(&sleeper, set_of(there, -1), MS);
	start(&spinner, set_of(there, -1), 0);
	out(there);
	clock_sleep(20 * MS);
	check(grows_in(100 * MS, &sleeper.there) > 5, "a task that is bound there wakes there");
	check(grows_in(50 * MS, &spinner.there) > 5, "and runs there");
	check(counted(there, "stranded") > stranded, "and is counted");
	allow(atomic_load(&sleeper.tid), set_of(0, there));
	allow(atomic_load(&spinner.tid), set_of(0, there));
	clock_sleep(50 * MS);
	check(grows_in(50 * MS, &spinner.there) == 0 && grows_in(50 * MS, &sleeper.there) == 0,
	      "given another CPU, both leave");
	allow(atomic_load(&sleeper.tid), set_of(there, -1));
	clock_sleep(20 * MS);
	check(atomic_load(&sleeper.cpu) == there, "bound there again, it comes");
	allow(atomic_load(&sleeper.tid), everywhere);
	clock_sleep(20 * MS);
	check(grows_in(50 * MS, &sleeper.there) == 0, "allowed everywhere, it leaves");
	all_in();
	stop(&sleeper);
	stop(&spinner);
}

/* Whether a new task, or one that executes a program, comes to where it should not. */
static bool child_strays(bool execute)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (execute)
			execl("/proc/self/exe", "pseudo", WHERE, NULL);
		_exit(execute ? 255 : sched_getcpu());
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 255)
		bail("a child did not say where it is");
	return WEXITSTATUS(status) == there;
}

/* More work than there are CPUs, so that all who balance look for one more. */
void test_balancing(void)
{
	struct worker spinners[8];
	int forked = 0, executed = 0, moved = 0;

	out(there);
	allow(0, everywhere);
	for (int i = 0; i < 8; i++)
		start(&spinners[i], everywhere, i % 2 ? MS / 2 : 0);
	for (int i = 0; i < 100; i++) {
		forked += child_strays(false);
		executed += child_strays(true);
	}
	clock_sleep(300 * MS);
	for (int i = 0; i < 8; i++)
		moved += (int)atomic_load(&spinners[i].there);
	check(forked == 0, "no forked task comes to a CPU that is out: %d of 100", forked);
	check(executed == 0, "no task that executes a program: %d of 100", executed);
	check(moved == 0, "nor does any balancing bring one: %d", moved);
	all_in();
	clock_sleep(500 * MS);
	for (int i = 0; i < 8; i++)
		moved += (int)atomic_load(&spinners[i].there);
	check(moved > 0, "once it is back it has work again");
	for (int i = 0; i < 8; i++)
		stop(&spinners[i]);
	allow(0, set_of(0, -1));
}

void test_realtime(void)
{
	struct sched_param priority = {.sched_priority = 10};
	struct worker audio;
	char text[16];

	read_text(SYSTEM "realtime", text, sizeof(text));
	check(!strcmp(text, "stay"), "real-time tasks stay, unless told otherwise");
	start(&audio, set_of(there, -1), MS);
	if (sched_setscheduler(atomic_load(&audio.tid), SCHED_FIFO, &priority))
		bail("no real-time task: %s", strerror(errno));
	allow(atomic_load(&audio.tid), set_of(0, there));
	out(there);
	clock_sleep(20 * MS);
	check(grows_in(100 * MS, &audio.there) > 5, "a real-time task stays");
	must(write_text(SYSTEM "realtime", "leave"), "have them leave");
	clock_sleep(20 * MS);
	check(grows_in(100 * MS, &audio.there) == 0, "told to leave, it leaves");
	allow(atomic_load(&audio.tid), set_of(there, -1));
	clock_sleep(20 * MS);
	check(grows_in(100 * MS, &audio.there) > 5, "bound there, it runs there");
	must(write_text(SYSTEM "realtime", "stay"), "have them stay");
	all_in();
	stop(&audio);
}
