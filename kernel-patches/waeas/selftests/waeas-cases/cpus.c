// SPDX-License-Identifier: BSD-3-Clause
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idle.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

int mains, littles, first_little = -1, last_little;
bool is_little[64];
static struct idle_states idle_was[64], idle_now[64];

void find_cpus(void)
{
	unsigned long capacity[64], least = ~0UL;
	char path[128], text[64];
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		bail("no affinity: %s", strerror(errno));
	for (int cpu = 0; cpu < 64 && CPU_ISSET(cpu, &cpus); cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpu_capacity", cpu);
		must(read_text(path, text, sizeof(text)), path);
		capacity[cpu] = strtoul(text, NULL, 10);
		least = capacity[cpu] < least ? capacity[cpu] : least;
		mains++;
	}
	for (int cpu = 0; cpu < mains; cpu++) {
		is_little[cpu] = capacity[cpu] == least;
		if (is_little[cpu])
			last_little = cpu;
		if (is_little[cpu] && first_little < 0)
			first_little = cpu;
		littles += is_little[cpu];
	}
}

void pin_to(int first, int last)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(9);
}

void pin(int cpu)
{
	pin_to(cpu, cpu);
}

void anywhere(void)
{
	pin_to(0, mains - 1);
}

void at_highest(bool always)
{
	char path[128], hertz[32];

	for (int cpu = 0; cpu < mains; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/cpuinfo_%s_freq", cpu,
			 always ? "max" : "min");
		if (read_text(path, hertz, sizeof(hertz)))
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_min_freq", cpu);
		put(path, hertz);
	}
}

bool is_last(int cpu)
{
	return cpu == mains - 1;
}

bool is_last_little(int cpu)
{
	return cpu == last_little;
}

bool is_big(int cpu)
{
	return !is_little[cpu];
}

void sleep_lightly(bool (*is_light)(int cpu))
{
	for (int cpu = 0; cpu < mains; cpu++) {
		must(idle_read(cpu, &idle_was[cpu]), "read idle states");
		idle_now[cpu] =
			idle_just(&idle_was[cpu], is_light(cpu) || idle_was[cpu].count < 2 ? 0 : 1);
		must(idle_change(cpu, &idle_was[cpu], &idle_now[cpu]), "change idle states");
	}
}

void sleep_as_before(void)
{
	for (int cpu = 0; cpu < mains; cpu++)
		must(idle_change(cpu, &idle_now[cpu], &idle_was[cpu]), "restore idle states");
}
