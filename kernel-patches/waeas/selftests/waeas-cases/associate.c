// SPDX-License-Identifier: BSD-3-Clause
/* The part `associate`: tasks that wake each other go back to where they were. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clamp.h"
#include "clock.h"
#include "cpus.h"
#include "fewer_cpus.h"
#include "report.h"
#include "system.h"
#include "tasks.h"

static pid_t hog(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		pin(cpu);
		for (;;)
			;
	}
	return pid;
}

static void may_not_second(void)
{
	pin_to(2, mains - 1);
}

/* What takes CPU 1 away, while a task that was there sleeps, and what brings it back. */
static struct {
	const char *file, *out, *in;
} second;

static void loses_second(void)
{
	anywhere();
	put(second.file, second.out);
}

static void regains_second(void)
{
	put(second.file, second.in);
}

static void needs_more(void)
{
	anywhere();
	if (clamp_least(900))
		bail("cannot set uclamp.min");
}

static void needs_less(void)
{
	if (clamp_least(0))
		bail("cannot drop uclamp.min");
}

/*
 * A task wakes another one on CPU 1, sleeps on CPU 0, and is woken by the other one after @pause:
 * how often of @runs it comes back to CPU 1. The other one may run on the CPUs from @first on.
 * Before the task sleeps, @goes says where it may run, and @after, if any, undoes that.
 */
static int came_back(int runs, uint64_t pause, int first, void (*goes)(void), void (*after)(void))
{
	int to[2], from[2], back = 0, on[64] = {0};
	char byte = 0;
	pid_t pid;

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		pin_to(first, mains - 1);
		while (read(to[0], &byte, 1) == 1) {
			clock_sleep(pause);
			if (write(from[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < runs; i++) {
		pin(1);
		if (write(to[1], &byte, 1) != 1)
			bail("no wake-up");
		pin(0);
		goes();
		if (read(from[0], &byte, 1) != 1)
			bail("no answer");
		back += sched_getcpu() == 1;
		on[sched_getcpu()]++;
		if (after)
			after();
	}
	anywhere();
	stop(pid);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	for (int i = 0; i < mains; i++)
		if (on[i])
			note("%d of %d on CPU %d", on[i], runs, i);
	return back;
}

/* A task does not return to CPU 1, where it may not run any more. */
static void test_return_to(void (*goes)(void), void (*after)(void), const char *what)
{
	unsigned long before = stat_of("returned"), returned;

	/* The waker may run on one CPU only, so it returns nowhere itself. */
	came_back(RUNS, 5 * MS, mains - 1, goes, after);
	returned = stat_of("returned") - before;
	if (!check(returned <= RUNS / 10, "associate keeps to %s", what))
		note("%lu returned", returned);
}

/*
 * Nor does it if CPU 1 is gone. That makes tasks of the kernel return, so `returned` says nothing.
 * Few rounds are made, because taking a CPU offline takes long on QEMU.
 */
static void test_return_gone(const char *file, const char *out, const char *in, const char *what)
{
	second.file = file;
	second.out = out;
	second.in = in;
	check(came_back(4, 5 * MS, mains - 1, loses_second, regains_second) == 0,
	      "associate knows that a CPU is %s", what);
}

static void test_return(void)
{
	if (last_little < 2 || is_little[mains - 2]) {
		check(true, "a task comes back to where it was # SKIP too few CPUs");
		return;
	}
	only("associate");
	/* A thread of the kernel may be at work there meanwhile. */
	check(came_back(RUNS, 5 * MS, mains - 2, anywhere, NULL) >= RUNS * 8 / 10,
	      "a task comes back to where it was when it woke the one that wakes it");
	check(came_back(RUNS, 5 * MS, mains - 1, anywhere, NULL) >= RUNS * 8 / 10,
	      "so it does if that one may run on one CPU only");
	/* Upstream takes any idle CPU, which may be this one now and then. */
	check(came_back(3, 700 * MS, mains - 2, anywhere, NULL) <= 1,
	      "but not after more than half a second");
	test_return_to(may_not_second, NULL, "affinity");
	make_fewer(2, mains - 1);
	test_return_to(in_fewer, leaves_fewer, "cpuset");
	drop_fewer();
	test_return_to(needs_more, needs_less, "uclamp.min");
	test_offline_and_out(1, test_return_gone);
	only(NULL);
	check(came_back(RUNS, 5 * MS, mains - 2, anywhere, NULL) <= RUNS / 10,
	      "nor if that part is off");
}

void test_associate(void)
{
	unsigned long before;
	pid_t pid;

	if (mains < 3) {
		check(true, "tasks that wake each other go back # SKIP two CPUs, one of them busy");
		return;
	}
	/* A CPU that is over-utilised, so that EAS does not choose. */
	pid = hog(last_little);
	clock_sleep(200 * MS);
	only("associate");
	before = stat_of("returned");
	in_turn(NULL);
	check(stat_of("returned") >= before + RUNS / 2, "tasks that wake each other go back");
	only(NULL);
	before = stat_of("returned");
	in_turn(NULL);
	check(stat_of("returned") == before, "not if that part is off");
	test_return();
	stop(pid);
}
