// SPDX-License-Identifier: BSD-3-Clause
#include "fewer_cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

#define FEWER ROOT "/lull-waeas-cpuset"

void make_fewer(int first, int last)
{
	char text[32];

	put(ROOT "/cgroup.subtree_control", "+cpuset");
	if (mkdir(FEWER, 0755))
		bail("cannot make a group: %s", strerror(errno));
	snprintf(text, sizeof(text), "%d-%d", first, last);
	put(FEWER "/cpuset.cpus", text);
}

void drop_fewer(void)
{
	for (int i = 0; i < 100 && rmdir(FEWER); i++)
		clock_sleep(10 * MS);
	put(ROOT "/cgroup.subtree_control", "-cpuset");
}

void in_fewer(void)
{
	if (write_text(FEWER "/cgroup.procs", "0"))
		_exit(6);
}

void leaves_fewer(void)
{
	put(ROOT "/cgroup.procs", "0");
}

void test_offline_and_out(int cpu, void (*test)(const char *file, const char *out, const char *in,
						const char *what))
{
	char text[32], path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
	test(path, "0", "1", "offline");
	put("/sys/kernel/lull/hotplug/enabled", "1");
	snprintf(text, sizeof(text), "%d", cpu);
	test(CPU_DIR "/pseudo_offline", text, "\n", "out");
	put("/sys/kernel/lull/hotplug/enabled", "0");
}
