// SPDX-License-Identifier: BSD-3-Clause
/*
 * bursts [ROUNDS [slow]]: wake-ups of a control group are held and released at once, and none is
 * lost. A burst may be a tick late. With `slow` it may be later: for a kernel with checkers, and
 * for a machine whose time is the host's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bursts-cases/cases.h"
#include "bursts-cases/stage.h"
#include "report.h"
#include "sysfs.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	char was[8];

	if (argc == 3 && !strcmp(argv[1], ASKER))
		return write(atoi(argv[2]), "", 1) != 1;
	if (argc > 2 && !strcmp(argv[2], "slow"))
		late_ns = 500 * MS;
	must(read_text(SYSTEM "enabled", was, sizeof(was)), "read the switch");
	put(SYSTEM "enabled", "0");
	put(ROOT "/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755))
		bail("cannot make a group: %s", strerror(errno));

	test_files();
	test_removed();
	test_memory();
	test_off();
	put(SYSTEM "enabled", "1");
	test_period();
	test_bound_and_parallel();
	test_crowd();
	test_spread();
	test_eager();
	test_inside();
	test_outside();
	test_never();
	test_kernel_thread();
	test_uninterruptible();
	test_inheritance();
	test_mutex();
	test_fork();
	test_vain_release();
	test_no_vain_wakeup();
	test_deadline();
	test_deadline_of_nobody();
	test_deadline_comes_later();
	test_inner();
	test_trace();
	test_storm(rounds);

	put(SYSTEM "enabled", "0");
	check(!rmdir(GROUP), "nothing keeps the group");
	put(SYSTEM "enabled", was);
	return report_finish();
}
