// SPDX-License-Identifier: BSD-3-Clause
/* The part `tracking`: which of its windows count, at which clock, and that waiting tasks count. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"
#include "wakeups.h"

/*
 * Work in five windows. The mean is 44 % of a big CPU, and EAS places up to 30 % (rk3399) or 35 %
 * (tiny) on a little one. The smoothed value is 21 %, or 62 % if the newest window hardly counts.
 */
static void work_much_then_little(void)
{
	for (int i = 0; i < 5; i++) {
		sleep_to(BEAT, MS);
		spin_ns(i < 3 ? 14 * MS : MS);
	}
}

void test_smoothing(void)
{
	only(NULL);
	at_highest(true);
	set("tracking", "walt");
	check(wakes_on_big(6, work_much_then_little) >= 5,
	      "walt: the last five windows count alike");
	set("tracking", "bes");
	check(wakes_on_big(6, work_much_then_little) <= 1, "bes: the last window counts half");
	set("alpha", "64");
	check(wakes_on_big(6, work_much_then_little) >= 5, "or hardly, if alpha says so");
	set("alpha", "512");
	at_highest(false);
}

/*
 * A window has 7 ms, and a tick comes every 4 ms. So four windows in turn begin at four places
 * between two ticks. The kernel counts work at ticks. In two of these windows or more no tick is
 * near the change of the clock.
 */
#define ODD_WINDOW (7 * MS)
#define PLACES 4

/* The clock of a CPU, which Linux changes with the next wake-up there. */
static void run_at(int cpu, bool highest)
{
	/* No limit may pass the other one. */
	const char *const limits[] = {highest ? "max" : "min", highest ? "min" : "max"};
	char path[128], hertz[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_%s_freq", cpu, limits[0]);
	must(read_text(path, hertz, sizeof(hertz)), path);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_%s_freq", cpu,
			 limits[i]);
		put(path, hertz);
	}
	clock_sleep(100 * US);
}

/*
 * A new task works on the last big CPU: for 2.6 ms, until the clock has changed, and for 0.4 ms
 * more. How often of @runs it then wakes on a big CPU. EAS places up to 2.1 ms of work on a little
 * one. The work counts for 1.1 ms if the clock has risen, and for 2.8 ms if the clock has fallen.
 */
static int wakes_on_big_after_change(bool rises, int runs, volatile bool *changed)
{
	int status, count = 0;

	for (int i = 0; i < runs; i++) {
		uint64_t begin;
		pid_t pid;

		*changed = false;
		run_at(mains - 1, !rises);
		begin = next_moment(PLACES * ODD_WINDOW, i % PLACES * ODD_WINDOW + 300 * US) +
			PLACES * ODD_WINDOW;
		pid = fork();
		if (!pid) {
			pin(mains - 1);
			clock_sleep_until(begin);
			while (!*changed)
				let_others_work();
			spin_ns(400 * US);
			anywhere();
			clock_sleep(120 * MS);
			_exit(!is_little[sched_getcpu()]);
		}
		clock_sleep_until(begin + 2600 * US);
		run_at(mains - 1, rises);
		*changed = true;
		clock_sleep(20 * MS);
		run_at(mains - 1, true);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			bail("a task did not run");
		count += WEXITSTATUS(status);
	}
	note("%d of %d wake-ups on a big CPU", count, runs);
	return count;
}

void test_change(void)
{
	bool *changed;

	if (is_little[mains - 2]) {
		check(true, "work counts at the clock of its time # SKIP one big CPU");
		return;
	}
	changed = mmap(NULL, sizeof(*changed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (changed == MAP_FAILED)
		bail("no memory: %s", strerror(errno));
	only(NULL);
	set("tracking", "walt");
	set("window_us", "7000");
	/* Their clock is the one of the task's CPU. */
	pin(mains - 2);
	check(wakes_on_big_after_change(true, 8, changed) <= 1,
	      "work before a clock rises counts at the old clock");
	check(wakes_on_big_after_change(false, 8, changed) >= 7, "so it does before a clock falls");
	anywhere();
	set("window_us", "20000");
	at_highest(false);
	munmap(changed, sizeof(*changed));
}

/* Tasks that wait work so rarely that their CPU has forgotten their work until they wake. */
#define RARELY (40 * MS)
#define WAITING 3

/* Works for so long, however often other tasks run meanwhile. */
static void use_ns(uint64_t ns)
{
	struct timespec now;
	uint64_t used, until = 0;

	do {
		let_others_work();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		used = (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
		until = until ? until : used + ns;
	} while (used < until);
}

/* A task that needs a fifth of its CPU in a window of 5 ms. */
static pid_t works_rarely(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		pin(cpu);
		for (;;) {
			sleep_to(RARELY, MS);
			use_ns(MS);
		}
	}
	return pid;
}

/*
 * Three tasks wake together on one CPU. When another task is to be packed, 0.8 ms later, the first
 * one has hardly run, and the others not at all.
 */
static int packed_beside_waiting(const char *percent)
{
	int count;

	set("pack_percent", percent);
	count = woken_every(RARELY, 1800 * US, mains - 1, last_little);
	set("pack_percent", "80");
	note("%d came there, up to %s percent", count, percent);
	return count;
}

void test_queued(void)
{
	pid_t pids[WAITING];

	if (littles < 2) {
		check(true, "tasks that wait count # SKIP one little CPU");
		return;
	}
	only("pack");
	set("tracking", "walt");
	set("window_us", "5000");
	at_highest(true);
	for (int i = 0; i < WAITING; i++)
		pids[i] = works_rarely(last_little);
	check(packed_beside_waiting("80") >= RUNS * 6 / 10 &&
		      packed_beside_waiting("40") <= RUNS / 10,
	      "tasks that wait count before they have run");
	for (int i = 0; i < WAITING; i++)
		stop(pids[i]);
	at_highest(false);
	set("window_us", "20000");
}
