// SPDX-License-Identifier: BSD-3-Clause
/*
 * pseudo [TOGGLES]: pseudo CPU hotplug does what its README says, and survives TOGGLES changes
 * (500) that alternate with CPU hotplug. pseudo --stress [TOGGLES]: only the latter.
 * pseudo --brief: without the parts that keep CPUs busy, which take long on gem5.
 *
 * CPU 0 stays for those who test, but where the test is about CPU 0 itself. The CPU that is
 * taken out is another main one, "there".
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "pseudo-cases/cases.h"
#include "pseudo-cases/cpus.h"
#include "pseudo-cases/system.h"
#include "report.h"
#include "sysfs.h"

static void test_all(bool brief)
{
	test_off();
	test_files();
	test_bad_text();
	test_last();
	test_permission();
	test_running();
	test_waking();
	test_timers();
	if (!brief) {
		test_bound();
		test_balancing();
		test_realtime();
	}
	test_interrupts();
	test_hotplug();
	test_cpuset();
	test_suspend();
	test_poll();
	test_idle();
	test_wakes();
	test_switch();
}

int main(int argc, char **argv)
{
	bool stress_only = argc > 1 && !strcmp(argv[1], "--stress");
	bool brief = argc > 1 && !strcmp(argv[1], "--brief");
	int toggles = 500, first = 1 + stress_only;
	char before[8];

	if (argc > 1 && !strcmp(argv[1], WHERE))
		return sched_getcpu();
	if (argc > first)
		toggles = atoi(argv[first]);
	if (read_text(SYSTEM "enabled", before, sizeof(before))) {
		printf("1..0 # SKIP this kernel has no pseudo CPU hotplug\n");
		return 0;
	}
	find_cpus();
	if (mains.count < 2 || !mains.has[0]) {
		printf("1..0 # SKIP this machine has one CPU\n");
		return 0;
	}
	prctl(PR_SET_TIMERSLACK, 1);
	if (system("lull-policy idle.deepest=C3"))
		bail("cannot allow C3");
	allow(0, set_of(0, -1));

	turn("1");
	if (!stress_only)
		test_all(brief);
	if (!brief)
		test_stress(toggles);

	if (system("lull-policy idle.deepest=C1"))
		note("idle states are left as the test set them");
	turn(before);
	return report_finish();
}
