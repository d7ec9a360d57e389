// SPDX-License-Identifier: BSD-3-Clause
/* Settings and the switch change while actions go on. */
#include <stdlib.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"

void test_storm(int rounds)
{
	static const char *const bounds[] = {"1", "5", "20", "200"};
	static const char *const leasts[] = {"0", "1000", "20000"};
	unsigned int seed = 1;
	pid_t storm = fork();

	if (!storm) {
		for (;;) {
			write_text(SYSTEM "hold", rand_r(&seed) % 2 ? "all" : "big");
			write_text(SYSTEM "bound_ms", bounds[rand_r(&seed) % 4]);
			write_text(SYSTEM "least_us", leasts[rand_r(&seed) % 3]);
			write_text(SYSTEM "ahead", rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 4 == 0)
				write_text(SYSTEM "enabled", rand_r(&seed) % 2 ? "1" : "0");
			if (rand_r(&seed) % 16 == 0)
				write_text(HOTPLUG, rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 16 == 0)
				write_text(PLANS "enabled", rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 4 == 0)
				clock_sleep(rand_r(&seed) % 10 * MS);
		}
	}
	for (int round = 0; round < rounds; round++)
		do_all(rand_r(&seed) % 4 ? CHAIN : CHILD);
	stop(storm);
	put(SYSTEM "enabled", "0");
	must_go_on(SLEEPER);
	must_go_on(HOG);
	check(true, "nobody is lost in %d rounds of changes", rounds);
}
