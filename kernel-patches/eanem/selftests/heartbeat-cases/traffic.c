// SPDX-License-Identifier: BSD-3-Clause
/* Packets beside applications. They take the big core: CPU 1. */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "daemon.h"
#include "heartbeat.h"
#include "report.h"
#include "sysfs.h"

/* For packets, little cores are not tried. */
#define BIG_ALONE "limit 0\n"
/* Many intervals of the manager. */
#define LONG_MS 300

static volatile sig_atomic_t leaves;

static void on_leave(int number)
{
	(void)number;
	leaves = 1;
}

/* A process that reads what comes. It is an application, too, until it gets SIGUSR1. */
static pid_t reader(int fd, bool beats)
{
	const struct sigaction action = {.sa_handler = on_leave};
	pid_t child = fork();
	struct heartbeat heart;
	char byte;

	if (child)
		return child;
	sigaction(SIGUSR1, &action, NULL);
	if (beats &&
	    (heartbeat_open(&heart, "reader", 1000, 2000) || heartbeat_join(&heart, PLACE)))
		_exit(1);
	for (;;) {
		if (leaves && beats)
			heartbeat_close(&heart);
		beats &= !leaves;
		if (beats)
			heartbeat_beat(&heart);
		recv(fd, &byte, 1, beats ? MSG_DONTWAIT : 0);
	}
}

/* A process that sends something in each millisecond. */
static pid_t sender(const struct sockaddr_in *to)
{
	struct sockaddr_in own;
	int fd = socket_at(SOCK_DGRAM, &own);
	pid_t child = fork();

	if (child) {
		close(fd);
		return child;
	}
	for (;;) {
		sendto(fd, "", 1, 0, (const struct sockaddr *)to, sizeof(*to));
		clock_sleep(MS);
	}
}

static bool is_on(pid_t pid, int cpu)
{
	cpu_set_t set;

	return !sched_getaffinity(pid, sizeof(set), &set) && CPU_COUNT(&set) == 1 &&
	       CPU_ISSET(cpu, &set);
}

static bool comes_to(pid_t pid, int cpu)
{
	for (int i = 0; i < TRIES && !is_on(pid, cpu); i++)
		clock_sleep(MS);
	return is_on(pid, cpu);
}

static bool stays_on(pid_t pid, int cpu)
{
	for (int i = 0; i < LONG_MS && is_on(pid, cpu); i++)
		clock_sleep(MS);
	return is_on(pid, cpu);
}

/* An application that is placed, then has traffic, and then is none any more. */
static void stops_to_beat(bool manager_ends)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_DGRAM, &at), all = cpus_of(0);
	pid_t from, to;

	manage("root");
	to = reader(fd, true);
	check(is_said("less power") && comes_to(to, 0), "an application is moved");
	from = sender(&at);
	check(is_said("traffic began") && comes_to(to, 1), "then it is where its packets are");
	kill(to, SIGUSR1);
	check(is_said("application went") && stays_on(to, 1),
	      "and stays there when it is no application any more");
	if (manager_ends)
		check(end_manager(SIGTERM) == 0 && becomes(to, all),
		      "until the manager ends: then it has the CPUs that it had first");
	end(from);
	if (!manager_ends) {
		check(is_said("traffic ended") && becomes(to, all),
		      "until its traffic ends: then it has the CPUs that it had first");
		end_manager(SIGTERM);
	}
	end(to);
	close(fd);
}

void test_traffic(void)
{
	write_model(BIG_ALONE);
	stops_to_beat(false);
	stops_to_beat(true);
}

/* The core that packets are on goes offline, and with it all of its cluster. */
void test_offline_core(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_DGRAM, &at), all = cpus_of(0);
	struct heartbeat heart;
	pid_t from, to;

	write_model(BIG_ALONE);
	manage("root");
	to = reader(fd, false);
	from = sender(&at);
	check(is_said("traffic began") && comes_to(to, 1), "packets have a core");
	put(CPU_DIR "/cpu1/online", "0");
	check(is_said("fewer cores") && comes_to(to, 0),
	      "when it goes offline, they have one that is there");
	must(heartbeat_open(&heart, "late", 1000, 2000), "open a heart");
	must(heartbeat_join(&heart, PLACE), "join");
	check(is_said("application came") && stays_on(to, 0) && heartbeat_is_managed(&heart),
	      "and the manager goes on with it");
	put(CPU_DIR "/cpu1/online", "1");
	check(is_said("too little") && comes_to(to, 1), "until the other one is back");
	heartbeat_close(&heart);
	check(end_manager(SIGTERM) == 0 && becomes(to, all), "and all is as before in the end");
	end(from);
	end(to);
	close(fd);
}
