// SPDX-License-Identifier: BSD-3-Clause
/* quiescence [ROUNDS]: while the user's path waits, others are held, for no longer than the bound.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "quiescence-cases/cases.h"
#include "quiescence-cases/others.h"
#include "quiescence-cases/path.h"
#include "quiescence-cases/shared.h"
#include "quiescence-cases/system.h"
#include "report.h"
#include "sysfs.h"

struct shared *shared;

int main(int argc, char **argv)
{
	struct sched_param param = {.sched_priority = 2};
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	char was[8], hotplug[8], plans[8];

	must(read_text(SYSTEM "enabled", was, sizeof(was)), "read the switch");
	must(read_text(HOTPLUG, hotplug, sizeof(hotplug)), "read that of pseudo hotplug");
	must(read_text(PLANS "enabled", plans, sizeof(plans)), "read that of anticipation");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "hold", "all");
	put(SYSTEM "ahead", "0");
	put(EVENTS_DIR "enabled", "0");
	put(EVENTS_DIR "schedule", "1000 1 30 1\n2000 1 30 0\nend\n");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(to_net) || pipe(to_ui))
		bail("no memory: %s", strerror(errno));
	atomic_store(&shared->wait_ms, WAIT_MS);

	test_files();
	test_memory();

	/* So that this program is never held; its children are. */
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		bail("cannot be a real-time task: %s", strerror(errno));
	net = start(wait_for_network);
	start_ui();
	for (int i = 0; i < DUE; i++)
		start_other((enum other)i);
	clock_sleep(20 * MS);

	test_off();
	test_all();
	test_bound();
	test_counts();
	test_trace();
	test_signal();
	test_switch();
	test_stage();
	test_starvation();
	/* What runs all the time makes all the rest slow, where time is instructions. */
	stop(others[HOG]);
	test_least();
	test_locks();
	test_presses();
	test_vain_release();
	test_no_vain_wakeup();
	test_crowd();
	test_kernel_thread();
	test_mistake("all");
	test_order();
	test_chain();
	test_kinds();
	test_ahead("all");
	start_other(HOG);
	put(SYSTEM "enabled", "0");
	put(HOTPLUG, "1");
	put(SYSTEM "hold", "big");
	if (!write_text(SYSTEM "enabled", "1")) {
		test_big();
		test_mistake("big");
		test_keeper();
		test_ahead("big");
	} else {
		check(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP,
		      "EOPNOTSUPP: no CPU is bigger than another");
	}
	test_storm(rounds);

	for (int i = 0; i < DUE; i++)
		stop(others[i]);
	stop(ui);
	stop(net);
	put(EVENTS_DIR "enabled", "0");
	put(SYSTEM "enabled", "0");
	put(HOTPLUG, hotplug);
	put(PLANS "enabled", plans);
	put(SYSTEM "hold", "all");
	put(SYSTEM "ahead", "0");
	put(SYSTEM "bound_ms", "200");
	put(SYSTEM "least_us", "2000");
	put(SYSTEM "enabled", was);
	return report_finish();
}
