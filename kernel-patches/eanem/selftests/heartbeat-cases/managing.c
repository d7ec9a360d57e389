// SPDX-License-Identifier: BSD-3-Clause
/* A manager moves applications, holds clocks, and puts everything back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "daemon.h"
#include "heartbeat.h"
#include "report.h"
#include "sysfs.h"

#define MS 1000000ULL

void test_managed(void)
{
	struct heartbeat heart;
	pid_t child;

	manage("root");
	must(heartbeat_open(&heart, "still", 1000, 2000), "open a heart");
	must(heartbeat_join(&heart, PLACE), "join");
	check(heartbeat_join(&heart, PLACE) == -EALREADY, "a heart joins once");
	check(is_said("application came") && heartbeat_is_managed(&heart),
	      "a manager is told of an application");
	heartbeat_close(&heart);
	check(is_said("application went"), "and that it has closed");
	child = application(1000, 2000);
	check(becomes(child, 1) && is_said("less power"),
	      "an application that is too fast gets fewer CPUs");
	check(in_force(POLICY "scaling_max_freq", mhz_of(0, "min")), "and a slower clock");
	end_application(child);
	check(in_force(POLICY "scaling_max_freq", mhz_of(0, "max")),
	      "which is over when it is dead");
	check(end_manager(SIGTERM) == 0, "the manager ends when it is told to");
}

/* The manager proper, by its parent. */
static pid_t child_of(pid_t parent)
{
	char path[64], text[512];

	for (pid_t pid = parent + 1; pid < parent + 64; pid++) {
		const char *at;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (read_text(path, text, sizeof(text)))
			continue;
		at = strrchr(text, ')');
		if (at && strtol(at + 4, NULL, 10) == parent)
			return pid;
	}
	return -1;
}

void test_puts_back(void)
{
	static const char *const how[] = {"ends", "is killed", "loses its guard"};
	int all = cpus_of(0);

	for (int i = 0; i < 3; i++) {
		bool moved, back;
		pid_t child, proper;

		manage("root");
		child = application(1000, 2000);
		moved = becomes(child, 1);
		proper = child_of(manager);
		if (i == 1 && proper > 0)
			kill(proper, SIGKILL);
		if (i == 1)
			waitpid(manager, NULL, 0);
		else
			end_manager(i ? SIGKILL : SIGTERM);
		back = becomes(child, all);
		check(moved && back && in_force(POLICY "scaling_max_freq", mhz_of(0, "max")),
		      "all is as before when the manager %s", how[i]);
		end_application(child);
		for (int k = 0; k < TRIES && proper > 0 && !kill(proper, 0); k++)
			clock_sleep(MS);
	}
}

/* A file that has nothing to do with the manager, where its socket should be. */
void test_files(void)
{
	const char *path = PLACE ".file";
	FILE *file = fopen(path, "w");
	char text[8];

	if (!file || fputs("mine", file) < 0 || fclose(file))
		bail("cannot write a file");
	check(second_manager(path) == 1 && !read_text(path, text, sizeof(text)) &&
		      !strcmp(text, "mine"),
	      "a file that is no socket stays");
	unlink(path);
}

/* -EADDRINUSE of hearts_open(). */
void test_two_managers(void)
{
	struct heartbeat heart;

	manage("root");
	check(second_manager(PLACE) == 1, "a second manager at the same socket ends");
	must(heartbeat_open(&heart, "heart", 1000, 2000), "open a heart");
	must(heartbeat_join(&heart, PLACE), "join");
	check(is_said("application came") && heartbeat_is_managed(&heart),
	      "and the first one goes on");
	heartbeat_close(&heart);
	check(end_manager(SIGTERM) == 0, "until it is told to end");
}
