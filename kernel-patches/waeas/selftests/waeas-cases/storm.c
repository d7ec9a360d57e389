// SPDX-License-Identifier: BSD-3-Clause
/* All switches change at random while tasks run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

/* Messages that a sender has for each receiver; then it waits for their answers. */
#define BATCH 20
#define RECEIVERS 4

/* As hackbench: many tasks are woken at once, and wake one that waits for all of them. */
static void messages(void)
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
	for (;;) {
		for (int i = 0; i < BATCH * RECEIVERS; i++)
			if (write(to[i % RECEIVERS][1], message, sizeof(message)) < 0)
				_exit(1);
		for (int i = 0; i < RECEIVERS; i++)
			if (read(back[0], message, 1) != 1)
				_exit(1);
	}
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

void test_storm(int rounds, unsigned long least)
{
	unsigned long before = switches();
	unsigned int seed = 1;
	int alive = 0;
	char text[16];
	pid_t pids[4];

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			bail("no task: %s", strerror(errno));
		if (!pids[i]) {
			setpgid(0, 0);
			if (i == 0 && write_text(GROUP "/cgroup.procs", "0"))
				_exit(1);
			if (i % 2)
				messages();
			for (;;)
				in_turn();
		}
	}
	for (int i = 0; i < rounds || switches() - before < least; i++) {
		for (size_t part = 0; part < sizeof(parts) / sizeof(*parts); part++)
			set(parts[part], rand_r(&seed) % 2 ? "1" : "0");
		set("placement", rand_r(&seed) % 2 ? "1" : "0");
		set("inherit", rand_r(&seed) % 2 ? "1" : "0");
		set("tracking", trackings[rand_r(&seed) % 3]);
		snprintf(text, sizeof(text), "%d", 1000 + rand_r(&seed) % 99000);
		set("window_us", text);
		snprintf(text, sizeof(text), "%d", 1 + rand_r(&seed) % 1023);
		set("alpha", text);
		snprintf(text, sizeof(text), "%d", 1 + rand_r(&seed) % 100);
		set("pack_percent", text);
		set("pack_apart", rand_r(&seed) % 2 ? "1" : "0");
		put(SENSITIVE, rand_r(&seed) % 2 ? "1" : "0");
		set("enabled", rand_r(&seed) % 4 ? "1" : "0");
		snprintf(text, sizeof(text), "%c%d", rand_r(&seed) % 2 ? '+' : '-', pids[1]);
		put(SYSTEM "latency_sensitive", text);
		clock_sleep(2 * MS);
	}
	/* Each with the task that it plays with. */
	for (int i = 0; i < 4; i++) {
		alive += waitpid(pids[i], NULL, WNOHANG) == 0;
		kill(-pids[i], SIGKILL);
		stop(pids[i]);
	}
	note("%lu switches", switches() - before);
	check(alive == 4 && switches() - before >= least, "tasks run on in %d rounds of changes",
	      rounds);
}
