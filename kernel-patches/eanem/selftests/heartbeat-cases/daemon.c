// SPDX-License-Identifier: BSD-3-Clause
#include "daemon.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "heartbeat.h"
#include "report.h"
#include "sysfs.h"

#define MS 1000000ULL
#define DAEMON "/usr/bin/eanemd"
#define MODEL "/tmp/heartbeat-test.model"
#define LOG "/tmp/heartbeat-test.log"

pid_t manager = -1;

unsigned int mhz_of(int cpu, const char *file)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_%s_freq", cpu, file);
	must(read_text(path, text, sizeof(text)), path);
	return (unsigned int)strtoul(text, NULL, 10) / 1000;
}

void write_model(const char *rest)
{
	FILE *file = fopen(MODEL, "w");

	if (!file)
		bail("cannot write a model");
	for (int cpu = 0; cpu < 2; cpu++) {
		fprintf(file, "cluster %s %d 1 50000 0 0 0.%d 0\n", cpu ? "big" : "little", cpu,
			cpu ? 3 : 1);
		fprintf(file, "opp %s %u 900\n", cpu ? "big" : "little", mhz_of(cpu, "min"));
		fprintf(file, "opp %s %u 1100\n", cpu ? "big" : "little", mhz_of(cpu, "max"));
	}
	fputs(rest, file);
	fclose(file);
}

void forget_model(void)
{
	unlink(MODEL);
	unlink(LOG);
}

void manage(const char *users)
{
	manager = fork();
	if (!manager) {
		int log = open(LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(log, STDOUT_FILENO);
		execl(DAEMON, DAEMON, "--model", MODEL, "--interval-us", "10000", "--socket", PLACE,
		      "--users", users, NULL);
		_exit(127);
	}
	for (int i = 0; i < TRIES && access(PLACE, F_OK); i++)
		clock_sleep(MS);
	if (access(PLACE, F_OK))
		bail("no manager");
}

int second_manager(const char *path)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execl(DAEMON, DAEMON, "--model", MODEL, "--socket", path, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int end_manager(int signal)
{
	int status = 0;

	kill(manager, signal);
	waitpid(manager, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_said(const char *text)
{
	static char log[65536];

	for (int i = 0; i < TRIES; i++) {
		FILE *file = fopen(LOG, "r");
		size_t got = file ? fread(log, 1, sizeof(log) - 1, file) : 0;

		if (file)
			fclose(file);
		log[got] = '\0';
		if (strstr(log, text))
			return true;
		clock_sleep(MS);
	}
	return false;
}

pid_t application(uint64_t least, uint64_t most)
{
	pid_t child = fork();
	struct heartbeat heart;

	if (child)
		return child;
	if (heartbeat_open(&heart, "test", least, most) || heartbeat_join(&heart, PLACE))
		_exit(1);
	for (;;)
		heartbeat_beat(&heart);
}

void end_application(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int cpus_of(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

bool becomes(pid_t pid, int cpus)
{
	for (int i = 0; i < TRIES && cpus_of(pid) != cpus; i++)
		clock_sleep(MS);
	return cpus_of(pid) == cpus;
}

bool in_force(const char *file, unsigned int mhz)
{
	char text[32];

	for (int i = 0; i < TRIES; i++) {
		if (!read_text(file, text, sizeof(text)) && strtoul(text, NULL, 10) / 1000 == mhz)
			return true;
		clock_sleep(MS);
	}
	return false;
}
