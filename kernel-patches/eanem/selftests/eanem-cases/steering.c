// SPDX-License-Identifier: BSD-3-Clause
/* The network stack goes to chosen CPUs, with threads, and all comes back. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "measure.h"
#include "pin.h"
#include "report.h"
#include "sysfs.h"

#define POLICY CPU_DIR "/cpu0/cpufreq/"
#define CGROUPS "/sys/fs/cgroup"
#define CPUSET CGROUPS "/lull-eanem"

/* Limits of a frequency come into force a little after they are set. */
static bool becomes(const char *path, const char *value)
{
	char now[32];

	for (int i = 0; i < 1000; i++) {
		if (!read_text(path, now, sizeof(now)) && !strcmp(now, value))
			return true;
		clock_sleep(MS);
	}
	return false;
}

void test_steering(void)
{
	uint32_t self = (uint32_t)getpid();
	char least[32], most[32], byte, khz[32];
	cpu_set_t before, during, after;
	bool scaled = !read_text(POLICY "cpuinfo_min_freq", khz, sizeof(khz));
	struct eanem holder;
	pid_t child;
	int pipes[2];

	must(scaled ? read_text(POLICY "scaling_min_freq", least, sizeof(least)) : 0, "read");
	must(scaled ? read_text(POLICY "scaling_max_freq", most, sizeof(most)) : 0, "read");
	allowed(&before);
	must(eanem_open(&holder), "open a handle");
	must(eanem_steer(&holder, "0", scaled ? (uint32_t)strtoul(khz, NULL, 10) : 0, &self, 1),
	     "steer");
	allowed(&during);
	check(CPU_COUNT(&during) == 1 && CPU_ISSET(0, &during), "a thread goes to the chosen CPU");
	check(!scaled || becomes(POLICY "scaling_max_freq", khz), "whose frequency is held");
	check(eanem_steer(&holder, "0", 1, &self, 1) == (scaled ? -ERANGE : -EOPNOTSUPP),
	      "there is no frequency of 1 kHz");
	allowed(&after);
	check(CPU_EQUAL(&before, &after), "an error leaves everything as it was before");
	must(eanem_steer(&holder, "0", 0, &self, 1), "steer again");
	eanem_close(&holder);
	allowed(&after);
	check(CPU_EQUAL(&before, &after) &&
		      (!scaled || (becomes(POLICY "scaling_min_freq", least) &&
				   becomes(POLICY "scaling_max_freq", most))),
	      "all comes back with the handle's end");

	if (pipe(pipes))
		bail("no pipe");
	child = fork();
	if (!child) {
		struct eanem own;

		if (eanem_open(&own) || eanem_steer(&own, "0", 0, &self, 1) ||
		    write(pipes[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(pipes[0], &byte, 1) != 1)
		bail("the child did not steer");
	allowed(&during);
	end(child);
	/* The process is gone a little before its files are. */
	for (int i = 0; i < 1000; i++) {
		allowed(&after);
		if (CPU_EQUAL(&before, &after))
			break;
		clock_sleep(MS);
	}
	check(CPU_COUNT(&during) == 1 && CPU_EQUAL(&before, &after),
	      "and when the daemon is killed");
	must(eanem_steer(&eanem, "0", 0, &self, 1), "steer once more");
	turn("0");
	allowed(&after);
	check(CPU_EQUAL(&before, &after), "and when the system is turned off");
	turn("1");
	close(pipes[0]);
	close(pipes[1]);
}

/* A thread whose cpuset has changed meanwhile comes back to what the cpuset has now. */
void test_cpuset(void)
{
	char number[16];
	cpu_set_t after;
	uint32_t thread;
	pid_t child;

	put(CGROUPS "/cgroup.subtree_control", "+cpuset");
	if (mkdir(CPUSET, 0755))
		bail("cannot make a group: %s", strerror(errno));
	put(CPUSET "/cpuset.cpus", "0-1");
	child = fork();
	if (!child)
		for (;;)
			pause();
	snprintf(number, sizeof(number), "%d", child);
	put(CPUSET "/cgroup.procs", number);
	thread = (uint32_t)child;
	must(eanem_steer(&eanem, "0", 0, &thread, 1), "steer");
	put(CPUSET "/cpuset.cpus", "0");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	sched_getaffinity(child, sizeof(after), &after);
	check(CPU_COUNT(&after) == 1 && CPU_ISSET(0, &after),
	      "a thread comes back to the CPUs that its cpuset has by then");
	end(child);
	for (int i = 0; i < 100 && rmdir(CPUSET); i++)
		clock_sleep(10 * MS);
	put(CGROUPS "/cgroup.subtree_control", "-cpuset");
}

/* The CPU that a thread came from goes offline while the thread is elsewhere. */
void test_offline(void)
{
	uint32_t self = (uint32_t)getpid();
	cpu_set_t before, after;

	allowed(&before);
	must(pin_to_cpu(1), "go to a CPU");
	must(eanem_steer(&eanem, "0", 0, &self, 1), "steer");
	put(CPU_DIR "/cpu1/online", "0");
	check(eanem_steer(&eanem, "1", 0, NULL, 0) == -EINVAL, "an offline CPU cannot be chosen");
	allowed(&after);
	check(CPU_COUNT(&after) == 1 && CPU_ISSET(0, &after), "which changes nothing");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	put(CPU_DIR "/cpu1/online", "1");
	allowed(&after);
	check(CPU_COUNT(&after) > 1 && !CPU_ISSET(1, &after),
	      "a thread whose CPUs have gone may go to all that are online");
	sched_setaffinity(0, sizeof(before), &before);
}
