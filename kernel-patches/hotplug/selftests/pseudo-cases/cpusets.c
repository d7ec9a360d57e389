// SPDX-License-Identifier: BSD-3-Clause
/* Control groups whose only CPU is out. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "workers.h"

#define CGROUPS "/sys/fs/cgroup"
#define GROUP CGROUPS "/lull-pseudo"

/* A control group of one CPU: its tasks have no other. */
void test_cpuset(void)
{
	struct worker sleeper;
	char number[16], tid[16];
	bool mounted;

	mounted = !mount("none", CGROUPS, "cgroup2", 0, NULL);
	snprintf(number, sizeof(number), "%d", there);
	if (write_text(CGROUPS "/cgroup.subtree_control", "+cpuset") || mkdir(GROUP, 0755) ||
	    write_text(GROUP "/cpuset.cpus", number)) {
		check(true, "a cpuset # SKIP this kernel has none");
		rmdir(GROUP);
		return;
	}
	must(write_text(GROUP "/cgroup.type", "threaded"), "have threads in a group");
	start(&sleeper, everywhere, MS);
	out(there);
	snprintf(tid, sizeof(tid), "%d", atomic_load(&sleeper.tid));
	must(write_text(GROUP "/cgroup.threads", tid), "move a thread into a group");
	clock_sleep(20 * MS);
	check(grows_in(50 * MS, &sleeper.there) > 2,
	      "a task whose cpuset has only that CPU runs there");
	must(write_text(CGROUPS "/cgroup.threads", tid), "move a thread out of a group");
	clock_sleep(20 * MS);
	check(grows_in(50 * MS, &sleeper.there) == 0, "and leaves with its cpuset");
	stop(&sleeper);
	rmdir(GROUP);

	if (mkdir(GROUP, 0755) || write_text(GROUP "/cpuset.cpus", number) ||
	    write_text(GROUP "/cpuset.cpus.partition", "isolated")) {
		check(true, "an isolated partition # SKIP this kernel has none");
	} else {
		check(list_is_cpu(there), "a CPU that is out becomes an isolated partition");
		all_in();
		out(there);
		must(write_text(GROUP "/cpuset.cpus.partition", "member"), "end the partition");
		check(list_is_cpu(there), "and is out when it ends");
	}
	all_in();
	rmdir(GROUP);
	if (mounted)
		umount(CGROUPS);
}
