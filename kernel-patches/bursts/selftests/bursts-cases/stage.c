// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "bursts_abi.h"
#include "clock.h"
#include "report.h"
#include "sysfs.h"

/* A tick: where CPUs take turns, another CPU may run until its own next timer. */
uint64_t late_ns = 4 * MS;

bool in_time(uint64_t ns, uint64_t due_ns)
{
	return ns >= due_ns && ns <= due_ns + late_ns;
}

void put_number(const char *file, unsigned long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	put(file, text);
}

unsigned long stat_of(const char *group, const char *word)
{
	uint64_t number = 0;
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu.bursts.stat", group);
	must(read_count(path, word, &number), path);
	return number;
}

void rules(const char *group, unsigned long period_us, unsigned long bound_us,
	   unsigned long parallel)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu.bursts.bound_us", group);
	put_number(path, bound_us);
	snprintf(path, sizeof(path), "%s/cpu.bursts.parallel", group);
	put_number(path, parallel);
	snprintf(path, sizeof(path), "%s/cpu.bursts.period_us", group);
	put_number(path, period_us);
}

int set_deadline(unsigned long us)
{
	return prctl(PR_SET_BURST_DEADLINE, us, 0UL, 0UL, 0UL) ? -errno : 0;
}

void deadline(unsigned long us)
{
	must(set_deadline(us), "set a deadline");
}

void wait_for_held(const char *group, unsigned long tasks)
{
	for (int i = 0; i < 5000 && stat_of(group, "held") != tasks; i++)
		clock_sleep(MS);
	if (stat_of(group, "held") != tasks)
		bail("%lu tasks are held", stat_of(group, "held"));
}
