// SPDX-License-Identifier: BSD-3-Clause
#include "cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "system.h"

struct cpulist mains;
int there;
cpu_set_t everywhere;

void find_cpus(void)
{
	struct cpulist isolated;
	char text[64];

	if (cpulist_read(&mains, "online"))
		bail("cannot read which CPUs are online");
	memset(&isolated, 0, sizeof(isolated));
	if (!read_text(CPU_DIR "/isolated", text, sizeof(text)) && text[0])
		cpulist_parse(&isolated, text);
	CPU_ZERO(&everywhere);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (mains.has[cpu] && isolated.has[cpu]) {
			mains.has[cpu] = false;
			mains.count--;
		}
		if (mains.has[cpu]) {
			there = cpu;
			CPU_SET(cpu, &everywhere);
		}
	}
}

int put_list(const char *list)
{
	return write_text(LIST, list);
}

int put_cpu(int cpu, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
	return write_text(path, text);
}

int get_cpu(int cpu, const char *file)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
	return read_text(path, text, sizeof(text)) ? -1 : atoi(text);
}

void out(int cpu)
{
	must(put_cpu(cpu, "pseudo_online", "0"), "take a CPU out");
}

void all_in(void)
{
	must(put_list("\n"), "bring all back");
}

bool list_is(const char *wanted)
{
	char text[256];

	return !read_text(LIST, text, sizeof(text)) && !strcmp(text, wanted);
}

bool list_is_cpu(int cpu)
{
	char wanted[16];

	snprintf(wanted, sizeof(wanted), "%d", cpu);
	return list_is(wanted);
}

const char *all_but(int cpu)
{
	static char text[CPULIST_TEXT];
	uint64_t cpus = cpulist_mask(&mains);

	if (cpu >= 0)
		cpus &= ~(1ULL << cpu);
	cpulist_text(cpus, text);
	return text;
}

cpu_set_t set_of(int a, int b)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(a, &set);
	if (b >= 0)
		CPU_SET(b, &set);
	return set;
}

int allow(pid_t thread, cpu_set_t set)
{
	return sched_setaffinity(thread, sizeof(set), &set) ? -errno : 0;
}
