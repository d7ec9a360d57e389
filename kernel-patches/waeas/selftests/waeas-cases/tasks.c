// SPDX-License-Identifier: BSD-3-Clause
#include "tasks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clamp.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "system.h"

void (*begins)(void);

/* How far the scheduler's clock is ahead of clock_ns(): windows begin by the scheduler's. */
static uint64_t windows_ahead;

void find_clock(void)
{
	FILE *file = fopen("/sys/kernel/debug/sched/debug", "r");
	unsigned long long ms, ns, monotonic = 0, scheduler = 0;
	char *line = NULL;
	size_t size = 0;

	while (file && !scheduler && getline(&line, &size, file) > 0) {
		if (sscanf(line, "ktime : %llu.%llu", &ms, &ns) == 2)
			monotonic = ms * MS + ns;
		if (sscanf(line, "cpu_clk : %llu.%llu", &ms, &ns) == 2)
			scheduler = ms * MS + ns;
	}
	free(line);
	if (file)
		fclose(file);
	if (monotonic && scheduler)
		windows_ahead = scheduler - monotonic;
	note("the scheduler's clock is %lld us ahead", (long long)windows_ahead / 1000);
}

void spin_ns(uint64_t ns)
{
	uint64_t until = clock_ns() + ns;

	while (clock_ns() < until)
		;
}

uint64_t next_moment(uint64_t every, uint64_t at)
{
	uint64_t now = clock_ns() + windows_ahead;

	return now - (now - at) % every + every - windows_ahead;
}

void sleep_to(uint64_t every, uint64_t at)
{
	clock_sleep_until(next_moment(every, at));
}

void stop(pid_t pid)
{
	/* -1 would be everybody. */
	if (pid <= 0)
		bail("a task did not start");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void clamp(void)
{
	if (clamp_least(900))
		_exit(7);
}

void be_sensitive(void)
{
	if (own_file(getpid(), "1"))
		_exit(1);
}

pid_t works(int cpu, uint64_t at, uint64_t ns, int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO};
	pid_t pid = fork();

	if (!pid) {
		pin(cpu);
		if (sched_setscheduler(0, policy, &param))
			_exit(8);
		for (;;) {
			sleep_to(BEAT, at);
			spin_ns(ns);
		}
	}
	return pid;
}

void in_turn(volatile unsigned long *trips)
{
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < RUNS; i++) {
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			bail("no answer");
		if (trips)
			++*trips;
	}
	stop(pid);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

void work_once(void)
{
	sleep_to(BEAT, MS);
	spin_ns(12 * MS);
}

int wakes_on_big(int runs, void (*work)(void))
{
	int pipes[2], count = 0;
	cpu_set_t all;
	pid_t pid;

	if (pipe(pipes) || sched_getaffinity(0, sizeof(all), &all))
		bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (begins)
			begins();
		for (int i = 0; i < runs + 3; i++) {
			pin(mains - 1);
			work();
			if (sched_setaffinity(0, sizeof(all), &all))
				_exit(9);
			clock_sleep(120 * MS);
			/* The first times nobody knows the task. */
			count += i >= 3 && !is_little[sched_getcpu()];
		}
		_exit(write(pipes[1], &count, sizeof(count)) != sizeof(count));
	}
	close(pipes[1]);
	if (read(pipes[0], &count, sizeof(count)) != sizeof(count))
		bail("a task did not run");
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	note("%d of %d wake-ups on a big CPU", count, runs);
	return count;
}
