// SPDX-License-Identifier: BSD-3-Clause
/*
 * waeas [ROUNDS [SWITCHES]]: for each part a load for which one CPU is right; and switches that
 * change while tasks run, ROUNDS times, and on until tasks were switched SWITCHES times.
 *
 * waeas replay: a load that is the same in every kernel, and nothing else; for a trace of it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "report.h"
#include "sysfs.h"
#include "waeas-cases/cases.h"
#include "waeas-cases/cpus.h"
#include "waeas-cases/replay.h"
#include "waeas-cases/system.h"
#include "waeas-cases/tasks.h"
#include "waeas-cases/wakeups.h"

static void govern(const char *governor)
{
	char path[128];

	for (int cpu = 0; cpu < mains; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_governor", cpu);
		if (access(path, F_OK) == 0)
			put(path, governor);
	}
}

/* Energy-aware scheduling is turned on in the background. */
static bool is_aware(void)
{
	for (int i = 0; i < 100; i++) {
		if (access("/sys/kernel/debug/energy_model/cpu0", F_OK) == 0 && i > 5)
			return true;
		clock_sleep(20 * MS);
	}
	return false;
}

int main(int argc, char **argv)
{
	bool plays = argc > 1 && !strcmp(argv[1], "replay");
	int rounds = argc > 1 ? atoi(argv[1]) : 40;
	unsigned long least = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long before;

	if (plays)
		return replay();
	put(SYSTEM "enabled", "0");
	find_cpus();
	find_clock();
	put(ROOT "/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755))
		bail("cannot make a group: %s", strerror(errno));
	test_files();
	test_group_file();
	test_own_file();
	govern("schedutil");
	if (mains < 2 || littles == mains || !is_aware()) {
		check(true, "placement # SKIP there are no big and little CPUs here");
	} else {
		clock_sleep(500 * MS);
		put(SENSITIVE, "1");
		woken(BY_GROUP, mains - 1, -1);
		woken(NOT, last_little, last_little);
		check(!stat_of("selected") && !stat_of("packed"), "off, upstream decides");
		put(SYSTEM "enabled", "1");
		test_placement();
		test_inherit();
		test_smoothing();
		test_change();
		test_queued();
		set("tracking", "bes");
		test_select();
		test_pack();
		test_pack_percent();
		test_pack_apart();
		test_inversion();
		test_allowed();
		test_associate();
		test_balance();
		test_frequency();
	}
	test_storm(rounds, least);
	put(SYSTEM "enabled", "0");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		set(parts[i], "1");
	set("placement", "1");
	set("inherit", "0");
	set("tracking", "bes");
	set("window_us", "20000");
	set("alpha", "512");
	set("pack_percent", "80");
	set("pack_apart", "0");
	before = stat_of("packed");
	in_turn(NULL);
	check(stat_of("packed") == before, "off, all is upstream's again");
	/* What was stopped may not have ended yet. */
	for (int i = 0; i < 100 && rmdir(GROUP); i++)
		clock_sleep(10 * MS);
	check(access(GROUP, F_OK) != 0, "nothing keeps the group");
	govern("performance");
	return report_finish();
}
