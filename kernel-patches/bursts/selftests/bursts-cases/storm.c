// SPDX-License-Identifier: BSD-3-Clause
/* Rules and switches change while tasks are held and released. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "workers.h"

#define STORM ROOT "/lull-bursts-storm"
#define WORKERS 3
/* The longest bound. */
#define BOUND_MS 9

void test_storm(int rounds)
{
	struct worker workers[WORKERS];
	unsigned int seed = 1;
	pid_t storm;

	/* A group of its own: in the other one some were held for longer. */
	if (mkdir(STORM, 0755))
		bail("cannot make a group: %s", strerror(errno));
	for (int i = 0; i < WORKERS; i++)
		workers[i] = start(STORM, SCHED_OTHER);
	storm = fork();
	if (!storm) {
		for (;;) {
			rules(STORM, 1000 * (1 + rand_r(&seed) % 5),
			      1000 * (1 + rand_r(&seed) % BOUND_MS), 1 + rand_r(&seed) % 4);
			if (rand_r(&seed) % 4 == 0)
				put(SYSTEM "enabled", rand_r(&seed) % 2 ? "1" : "0");
			put_number(STORM "/cpu.bursts.deadline_us", 1000 * (rand_r(&seed) % 4));
			put(SYSTEM "spread", rand_r(&seed) % 2 ? "1" : "0");
			put(SYSTEM "eager", rand_r(&seed) % 2 ? "1" : "0");
			/* A write releases all: now and then a burst has to begin by itself. */
			if (rand_r(&seed) % 4 == 0)
				clock_sleep(rand_r(&seed) % (2 * BOUND_MS) * MS);
		}
	}
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < WORKERS; i++) {
			deadline(1000 * (unsigned long)((round + i) % 5));
			ask(&workers[i]);
		}
		for (int i = 0; i < WORKERS; i++)
			hear(&workers[i]);
	}
	deadline(0);
	if (storm < 0)
		bail("no process: %s", strerror(errno));
	kill(storm, SIGKILL);
	waitpid(storm, NULL, 0);
	put(SYSTEM "spread", "1");
	put(SYSTEM "eager", "1");
	put(SYSTEM "enabled", "1");
	check(true, "no wake-up is lost in %d rounds of changes", rounds);
	check(stat_of(STORM, "held_most_us") * 1000 <= BOUND_MS * MS + late_ns,
	      "and none was held for longer than the longest bound: %lu us",
	      stat_of(STORM, "held_most_us"));
	for (int i = 0; i < WORKERS; i++)
		stop(&workers[i]);
	check(!rmdir(STORM), "nothing keeps its group");
}
