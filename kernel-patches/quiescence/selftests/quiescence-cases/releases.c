// SPDX-License-Identifier: BSD-3-Clause
/* How those who are held get out: by a signal, by the switch, and when the path wakes, after it. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

#define TRACING "/sys/kernel/tracing/"
/* More than leave at a time. */
#define SLEEPERS 40

void test_signal(void)
{
	uint32_t signals = atomic_load(&shared->signals);
	pid_t dead = others[HOG];

	restart("all", "1000", "2000");
	do_all(CHAIN);
	press(CHAIN);
	clock_sleep((SLACK_MS + 10) * MS);
	kill(others[SLEEPER], SIGUSR1);
	kill(dead, SIGKILL);
	clock_sleep(5 * MS);
	check(atomic_load(&shared->signals) == signals + 1, "a signal goes through to who is held");
	check(waitpid(dead, NULL, WNOHANG) == dead, "so does the one that kills");
	finish();
	check(ran(SLEEPER, atomic_load(&shared->ended), clock_ns()), "which loses nobody");
	start_other(HOG);
}

/*
 * Whether one of the others, whom a signal had woken in the hold before, was due in the midst of a
 * hold, and the path ended that. On a slow machine the hold may begin later, or end by its bound.
 */
static bool was_due_in_hold(uint64_t begun, unsigned long holds, unsigned long by_path)
{
	uint64_t due = atomic_load(&shared->due);

	return stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1 &&
	       due > begun + SLACK_MS * MS && due < begun + LONG_MS * MS;
}

/* Whom a signal has woken needs no release, and has none left for the next hold. */
void test_vain_release(void)
{
	unsigned long holds, by_path;
	bool due = false, held = false;
	uint64_t begun;

	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 5 && !due; i++) {
		press(CHAIN);
		clock_sleep((SLACK_MS + 10) * MS);
		atomic_store(&shared->busy, 1);
		atomic_store(&shared->slept, 0);
		kill(others[SLEEPER], SIGUSR1);
		finish();
		holds = stat_of("holds");
		by_path = stat_of("by_path");
		/* It runs since the hold has ended. From now on it sleeps, until in the next. */
		atomic_store(&shared->busy, 0);
		do_all(CHAIN);
		for (int k = 0; k < 20000 && !atomic_load(&shared->slept); k++)
			clock_sleep(MS);
		begun = atomic_load(&shared->begun);
		due = was_due_in_hold(begun, holds, by_path);
		/* The network cannot wake sooner. It may say so later than who is released then. */
		held = atomic_load(&shared->slept) >= begun + LONG_MS * MS;
		/* Holds are half of the time at most: until short ones are allowed again. */
		clock_sleep(2 * LONG_MS * MS);
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	check(due && held, "a release in vain lets nobody out of the next hold");
}

/* Sleeps for 20 ms, again and again, and counts. */
static pid_t start_counter(_Atomic uint32_t *count)
{
	pid_t pid = fork();

	if (pid < 0)
		bail("no process: %s", strerror(errno));
	while (!pid) {
		clock_sleep(20 * MS);
		atomic_fetch_add(count, 1);
	}
	return pid;
}

static uint32_t sum_of(const _Atomic uint32_t *counts)
{
	uint32_t sum = 0;

	for (int i = 0; i < SLEEPERS; i++)
		sum += atomic_load(&counts[i]);
	return sum;
}

/* Returns when each has counted on. */
static void all_must_go_on(const _Atomic uint32_t *counts)
{
	uint32_t before[SLEEPERS];

	for (int i = 0; i < SLEEPERS; i++)
		before[i] = atomic_load(&counts[i]);
	for (int i = 0; i < SLEEPERS; i++)
		for (int k = 0; atomic_load(&counts[i]) == before[i]; k++) {
			if (k == 20000)
				bail("one of a crowd is lost: nobody lets it go");
			clock_sleep(MS);
		}
}

void test_crowd(void)
{
	_Atomic uint32_t *counts = mmap(NULL, SLEEPERS * sizeof(*counts), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t first, second;
	unsigned long holds;
	pid_t pids[SLEEPERS];

	if (counts == MAP_FAILED)
		bail("no memory: %s", strerror(errno));
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = start_counter(&counts[i]);
	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	holds = stat_of("holds");
	press(CHAIN);
	clock_sleep(LONG_MS / 2 * MS);
	first = sum_of(counts);
	clock_sleep(40 * MS);
	second = sum_of(counts);
	check(stat_of("holds") == holds + 1 && first == second, "a crowd is held (%u of %u)",
	      second - first, second);
	finish();
	all_must_go_on(counts);
	check(true, "and each of them is let go when the path wakes");
	clock_sleep(2 * LONG_MS * MS);
	press(CHAIN);
	clock_sleep(LONG_MS / 2 * MS);
	put(SYSTEM "enabled", "0");
	all_must_go_on(counts);
	check(true, "or when the system is turned off");
	finish();
	atomic_store(&shared->wait_ms, WAIT_MS);
	for (int i = 0; i < SLEEPERS; i++)
		stop(pids[i]);
	munmap(counts, SLEEPERS * sizeof(*counts));
}

/* Not every sleep expects to be woken for nothing. */
void test_no_vain_wakeup(void)
{
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes))
		bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		_exit(wait_for_nothing(pipes[0]));
	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	press(CHAIN);
	clock_sleep((SLACK_MS + 10) * MS);
	if (write(pipes[1], "", 1) != 1)
		bail("cannot write: %s", strerror(errno));
	clock_sleep(5 * MS);
	kill(pid, SIGUSR1);
	finish();
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	      "who was woken before its release waits on for something else");
	atomic_store(&shared->wait_ms, WAIT_MS);
	close(pipes[0]);
	close(pipes[1]);
	clock_sleep(2 * LONG_MS * MS);
}

void test_switch(void)
{
	char text[4096];
	uint64_t now;

	restart("all", "10000", "2000");
	do_all(CHAIN);
	press(CHAIN);
	clock_sleep((SLACK_MS + 10) * MS);
	put(SYSTEM "enabled", "0");
	now = clock_ns();
	clock_sleep(15 * MS);
	check(ran(SLEEPER, now, clock_ns()) && ran(HOG, now, clock_ns()),
	      "turning it off releases all");
	check(!read_text(PATH, text, sizeof(text)) && !*text,
	      "and forgets the path and what was learned");
	finish();
}

/* Who of the two is woken first after @told; in the trace, which is empty then. */
static pid_t woken_first(void)
{
	char text[4096], *line;

	must(read_text(TRACING "trace", text, sizeof(text)), TRACING "trace");
	line = strstr(text, "sched_waking: ");
	line = line ? strstr(line, " pid=") : NULL;
	return line ? atoi(line + strlen(" pid=")) : 0;
}

/* The hold ends where interrupts are on, as nobody could be released before they are. */
void test_order(void)
{
	char filter[64];
	uint64_t told;
	int first = 0;
	pid_t woken;

	snprintf(filter, sizeof(filter), "pid == %d || pid == %d", ui, others[SLEEPER]);
	put(TRACING "events/sched/sched_waking/filter", filter);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 3; i++) {
		press(STRAY_FUTEX);
		clock_sleep((SLACK_MS + 10) * MS);
		put(TRACING "trace", "\n");
		put(TRACING "events/sched/sched_waking/enable", "1");
		told = clock_ns();
		tell_word(&shared->word);
		finish();
		put(TRACING "events/sched/sched_waking/enable", "0");
		woken = woken_first();
		first += woken == ui && ran(SLEEPER, told, clock_ns());
		note("%s first", woken == ui ? "path" : woken ? "other" : "nobody");
	}
	check(first == 3, "who is on the path is woken before who was held is released");
	put(TRACING "events/sched/sched_waking/filter", "0");
}
