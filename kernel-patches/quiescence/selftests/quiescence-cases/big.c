// SPDX-License-Identifier: BSD-3-Clause
/* Only the big CPUs are out while the path waits: where tasks and timers are meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "cpulist.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"

/* Those of the most capacity, and one of the others. */
static int find_big(struct cpulist *big, cpu_set_t *set)
{
	uint64_t capacity[CPULIST_MAX] = {0}, most = 0;
	struct cpulist online;
	int little = -1;
	char file[64], text[32];

	must(cpulist_read(&online, "online"), "read the CPUs");
	memset(big, 0, sizeof(*big));
	CPU_ZERO(set);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!online.has[cpu])
			continue;
		snprintf(file, sizeof(file), CPU_DIR "/cpu%d/cpu_capacity", cpu);
		must(read_text(file, text, sizeof(text)), file);
		capacity[cpu] = strtoull(text, NULL, 10);
		if (capacity[cpu] > most)
			most = capacity[cpu];
	}
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		big->has[cpu] = online.has[cpu] && capacity[cpu] == most;
		if (big->has[cpu])
			CPU_SET((size_t)cpu, set);
		else if (online.has[cpu])
			little = cpu;
	}
	return little;
}

/* Whether one of the others ran, and on these CPUs always or never. */
static bool ran_on(const struct cpulist *cpus, bool always)
{
	struct log *log = &shared->logs[HOG];
	uint32_t from = atomic_load(&log->count), to;
	bool good = true;

	clock_sleep(10 * MS);
	to = atomic_load(&log->count);
	for (uint32_t i = from; i < to; i++)
		good &= cpus->has[log->cpu[i % LOG]] == always;
	return good && to > from;
}

/*
 * The path runs on one big CPU, and so falls asleep there, whichever of its tasks is the last. The
 * network may sleep anywhere. Returns the CPU.
 */
static int bind_path(const struct cpulist *big)
{
	cpu_set_t one;
	int cpu = 0;

	while (!big->has[cpu])
		cpu++;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(net, sizeof(one), &one) || sched_setaffinity(ui, sizeof(one), &one))
		bail("cannot bind the path: %s", strerror(errno));
	return cpu;
}

/* The CPU that has the timer for which the network sleeps, or -1. */
static int cpu_of_timer(void)
{
	uint64_t due = atomic_load(&shared->begun) + atomic_load(&shared->wait_ms) * MS, at;
	FILE *timers = fopen("/proc/timer_list", "r");
	int cpu = -1, found = -1;
	bool wakes = false;
	char line[256];

	if (!timers)
		bail("/proc/timer_list: %s", strerror(errno));
	while (fgets(line, sizeof(line), timers)) {
		sscanf(line, "cpu: %d", &cpu);
		/* A timer has two lines, of which the first one says what it does. */
		if (wakes && sscanf(line, " # expires at %" SCNu64, &at) == 1 && at >= due &&
		    at < due + MS)
			found = cpu;
		wakes = strstr(line, " hrtimer_wakeup,");
	}
	fclose(timers);
	return found;
}

void test_big(void)
{
	struct pollfd file = {.fd = open(OUT, O_RDONLY), .events = POLLPRI};
	char text[64], one_little[16];
	struct cpulist big;
	cpu_set_t all, set, one;
	bool held, silent;
	int little, keeper;
	pid_t watcher;

	restart("big", "200", "2000");
	little = find_big(&big, &set);
	do_all(CHAIN);
	if (file.fd < 0 || pread(file.fd, text, sizeof(text), 0) <= 0)
		bail(OUT ": %s", strerror(errno));
	held = press_and_hold(CHAIN);
	check(held && ran_on(&big, false), "big: others go on elsewhere");
	must(read_text(OUT, text, sizeof(text)), OUT);
	silent = !*text;
	finish();
	clock_sleep(20 * MS);
	check(silent && !poll(&file, 1, 0), "and no file says so, or has its readers told");
	/* It stays on a big CPU, unless this is out. */
	if (sched_setaffinity(others[HOG], sizeof(set), &set))
		bail("cannot bind one of the others: %s", strerror(errno));
	clock_sleep(5 * MS);
	allow_all(others[HOG]);
	clock_sleep(20 * MS);
	check(ran_on(&big, true), "big CPUs are back when the path wakes");

	keeper = bind_path(&big);
	atomic_store(&shared->widen, 1);
	/* So that nobody else sleeps until then. */
	atomic_store(&shared->wait_ms, LONG_MS);
	held = press_and_hold(CHAIN);
	/* Until the CPU sleeps. */
	clock_sleep(SLACK_MS * MS);
	check(held && cpu_of_timer() == keeper,
	      "the path's own timer stays on the CPU where the path fell asleep");
	finish();
	atomic_store(&shared->wait_ms, WAIT_MS);
	atomic_store(&shared->widen, 0);
	allow_all(ui);

	held = press_and_hold(CHAIN);
	snprintf(one_little, sizeof(one_little), "%d", little);
	put(OUT, one_little);
	check(held && poll(&file, 1, 1000) == 1, "who writes which CPUs are out ends the pause");
	finish();
	must(read_text(OUT, text, sizeof(text)), OUT);
	check(!strcmp(text, one_little), "and these CPUs stay out when the hold ends");
	put(OUT, "\n");
	close(file.fd);

	atomic_store(&shared->watching, 0);
	watcher = start(watch);
	for (int i = 0; i < 20000 && !atomic_load(&shared->watching); i++)
		clock_sleep(MS);
	/* Until it sleeps, and nobody is told of CPUs any more. */
	clock_sleep(100 * MS);
	/* The CPU that stays is that of the consumer, which is not to leave it. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_getaffinity(ui, sizeof(all), &all) || sched_setaffinity(ui, sizeof(one), &one))
		bail("cannot bind the consumer: %s", strerror(errno));
	do_all(WORK);
	sched_setaffinity(ui, sizeof(all), &all);
	check(on_path(watcher), "whom a work item of the path wakes is on the path");
	stop(watcher);
}

/* Where one of the others was from one moment to another. */
static bool was_on(const struct cpulist *cpus, uint64_t from, uint64_t to)
{
	struct log *log = &shared->logs[HOG];
	uint32_t count = atomic_load(&log->count), first = count > LOG ? count - LOG : 0;
	bool was = false;

	for (uint32_t i = first; i < count; i++)
		was |= log->ns[i % LOG] > from && log->ns[i % LOG] < to &&
		       cpus->has[log->cpu[i % LOG]];
	return was;
}

/* Whether the plan has woken a big CPU but this one since these were counted. */
static bool woke_other(int keeper, const struct cpulist *big, const uint64_t *wakes)
{
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (big->has[cpu] && cpu != keeper && plans_count("wakes", cpu) > wakes[cpu])
			return true;
	return false;
}

/* The CPU with the path's timer is out with the other big ones, and wakes alone. */
void test_keeper(void)
{
	unsigned long holds, by_path, hits;
	bool woken = false, out = false, alone = true;
	uint64_t wakes[CPULIST_MAX] = {0}, begun;
	struct cpulist big;
	cpu_set_t set;
	int keeper;

	if (system("lull-policy idle.deepest=C3"))
		bail("cannot allow C3");
	find_big(&big, &set);
	keeper = bind_path(&big);
	atomic_store(&shared->widen, 1);
	put(SYSTEM "ahead", "1");
	restart("big", "200", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	for (int i = 0; i < 10 && !(woken && out); i++) {
		holds = stat_of("holds");
		by_path = stat_of("by_path");
		hits = stat_of("plan_hits");
		for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
			if (big.has[cpu])
				wakes[cpu] = plans_count("wakes", cpu);
		bind_path(&big);
		do_all(CHAIN);
		begun = atomic_load(&shared->begun);
		woken = plans_count("wakes", keeper) > wakes[keeper] && stat_of("plan_hits") > hits;
		alone &= !woke_other(keeper, &big, wakes);
		out = stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1 &&
		      !was_on(&big, begun + SLACK_MS * MS, begun + (WAIT_MS - 1) * MS);
	}
	check(woken, "big: a CPU that is out wakes for the end of the path's wait");
	check(alone, "and none of the %d other big CPUs does", CPU_COUNT(&set) - 1);
	check(out, "and all stay out until the path wakes");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "0");
	atomic_store(&shared->widen, 0);
	allow_all(net);
	allow_all(ui);
	if (system("lull-policy idle.deepest=C1"))
		bail("cannot allow C1 only");
}
