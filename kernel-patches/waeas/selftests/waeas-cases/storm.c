// SPDX-License-Identifier: BSD-3-Clause
/* All switches change at random while tasks run. Tasks move and are marked, and CPUs go out. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpulist.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

/* Messages that a sender has for each receiver; then it waits for their answers. */
#define BATCH 20
#define RECEIVERS 4
#define GROUPS 4
/* A group that does nothing for so long stands still for ever. */
#define PATIENCE (60 * 1000 * MS)
#define OUT CPU_DIR "/pseudo_offline"

/* How often each group has gone on: all of its tasks have run since the last time. */
static volatile unsigned long *turns;

/* As hackbench: many tasks are woken at once, and wake one that waits for all of them. */
static void messages(volatile unsigned long *batches)
{
	int to[RECEIVERS][2], back[2];
	char message[100] = {0};

	if (pipe(back))
		_exit(1);
	for (int i = 0; i < RECEIVERS; i++) {
		if (pipe(to[i]))
			_exit(1);
		if (fork())
			continue;
		for (int got = 0;; got++) {
			if (read(to[i][0], message, sizeof(message)) != sizeof(message))
				_exit(1);
			if (got % BATCH == BATCH - 1 && write(back[1], message, 1) != 1)
				_exit(1);
		}
	}
	for (;; ++*batches) {
		for (int i = 0; i < BATCH * RECEIVERS; i++)
			if (write(to[i % RECEIVERS][1], message, sizeof(message)) < 0)
				_exit(1);
		for (int i = 0; i < RECEIVERS; i++)
			if (read(back[0], message, 1) != 1)
				_exit(1);
	}
}

static pid_t start(int group)
{
	pid_t pid = fork();

	if (pid < 0)
		bail("no task: %s", strerror(errno));
	if (!pid) {
		setpgid(0, 0);
		if (group % 2)
			messages(&turns[group]);
		for (;;)
			in_turn(&turns[group]);
	}
	return pid;
}

static unsigned long switches(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long number = 0;
	static char *line;
	static size_t size;

	while (file && getline(&line, &size, file) > 0)
		if (sscanf(line, "ctxt %lu", &number) == 1)
			break;
	if (!number)
		bail("nobody counts switches");
	fclose(file);
	return number;
}

static const char *zero_or_one(unsigned int *seed)
{
	return rand_r(seed) % 2 ? "1" : "0";
}

static void set_number(const char *file, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	set(file, text);
}

static void change_switches(unsigned int *seed)
{
	for (size_t part = 0; part < sizeof(parts) / sizeof(*parts); part++)
		set(parts[part], zero_or_one(seed));
	set("placement", zero_or_one(seed));
	set("inherit", zero_or_one(seed));
	set("tracking", trackings[rand_r(seed) % 3]);
	set_number("window_us", 1000 + rand_r(seed) % 99000);
	set_number("alpha", 1 + rand_r(seed) % 1023);
	set_number("pack_percent", 1 + rand_r(seed) % 100);
	set("pack_apart", zero_or_one(seed));
	put(SENSITIVE, zero_or_one(seed));
	set("enabled", rand_r(seed) % 4 ? "1" : "0");
}

/* The first task of a group moves to another control group, and two more are marked, or not. */
static void change_tasks(unsigned int *seed, const pid_t *pids)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pids[rand_r(seed) % GROUPS]);
	put(rand_r(seed) % 2 ? GROUP "/cgroup.procs" : ROOT "/cgroup.procs", text);
	snprintf(text, sizeof(text), "%c%d", rand_r(seed) % 2 ? '+' : '-',
		 pids[rand_r(seed) % GROUPS]);
	put(SYSTEM "latency_sensitive", text);
	must(own_file(pids[rand_r(seed) % GROUPS], zero_or_one(seed)), "mark a task");
}

/* Each CPU but the first one is out in every third round or so. */
static void change_cpus(unsigned int *seed)
{
	char text[CPULIST_TEXT];
	uint64_t cpus = 0;

	for (int cpu = 1; cpu < mains; cpu++)
		if (rand_r(seed) % 3 == 0)
			cpus |= 1ULL << cpu;
	cpulist_text(cpus, text);
	put(OUT, cpus ? text : "\n");
}

/* Waits until each group has gone on. */
static bool each_goes_on(void)
{
	uint64_t until = clock_ns() + PATIENCE;
	unsigned long before[GROUPS];

	for (int i = 0; i < GROUPS; i++)
		before[i] = turns[i];
	for (int i = 0; i < GROUPS; i++) {
		while (turns[i] == before[i] && clock_ns() < until)
			clock_sleep(MS);
		if (turns[i] == before[i]) {
			note("group %d stands still", i);
			return false;
		}
	}
	return true;
}

void test_storm(int rounds, unsigned long least)
{
	unsigned long before = switches();
	unsigned int seed = 1;
	bool goes_on = true;
	int alive = 0;
	pid_t pids[GROUPS];

	turns = mmap(NULL, GROUPS * sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (turns == MAP_FAILED)
		bail("no memory: %s", strerror(errno));
	for (int i = 0; i < GROUPS; i++)
		pids[i] = start(i);
	put("/sys/kernel/lull/hotplug/enabled", "1");
	for (int i = 0; goes_on && (i < rounds || switches() - before < least); i++) {
		change_switches(&seed);
		change_tasks(&seed, pids);
		change_cpus(&seed);
		clock_sleep(2 * MS);
		goes_on = each_goes_on();
	}
	put("/sys/kernel/lull/hotplug/enabled", "0");
	/* Each with the tasks that it plays with. */
	for (int i = 0; i < GROUPS; i++) {
		alive += waitpid(pids[i], NULL, WNOHANG) == 0;
		kill(-pids[i], SIGKILL);
		stop(pids[i]);
	}
	note("%lu switches", switches() - before);
	check(alive == GROUPS, "storm: no group of tasks ends");
	check(goes_on, "storm: each group goes on in each round of changes");
}
