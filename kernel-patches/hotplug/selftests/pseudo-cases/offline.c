// SPDX-License-Identifier: BSD-3-Clause
/* CPUs that are out while they are offline, and while the machine sleeps. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "workers.h"

void test_hotplug(void)
{
	struct worker sleeper;

	start(&sleeper, everywhere, MS);
	out(there);
	if (put_cpu(there, "online", "0")) {
		check(true, "a CPU that is out goes offline # SKIP this one cannot");
		all_in();
		stop(&sleeper);
		return;
	}
	check(list_is_cpu(there), "a CPU that is out goes offline, and is out all the same");
	said(put_cpu(there, "pseudo_online", "0"), 0, "to take it out again is no error");
	must(put_cpu(there, "online", "1"), "bring it online");
	check(get_cpu(there, "pseudo_online") == 0, "online again, it is still out");
	check(grows_in(50 * MS, &sleeper.there) == 0, "and has no task");
	must(put_cpu(there, "online", "0"), "take it offline");
	said(put_cpu(there, "pseudo_online", "1"), 0, "one that is offline is brought back");
	said(put_cpu(there, "pseudo_online", "0"), ENODEV, "and to take it out is ENODEV");
	said(put_list(all_but(0)), ENODEV, "also in a list");
	check(list_is(""), "of which nothing is done");
	must(put_cpu(there, "online", "1"), "bring it online");
	allow(atomic_load(&sleeper.tid), set_of(there, -1));
	check(grows_in(50 * MS, &sleeper.there) > 0, "and it works");
	stop(&sleeper);
}

void test_suspend(void)
{
	char text[64];
	uint64_t begin;

	if (read_text("/sys/power/state", text, sizeof(text)) || !strstr(text, "freeze") ||
	    write_text("/sys/class/rtc/rtc0/wakealarm", "0") ||
	    write_text("/sys/class/rtc/rtc0/wakealarm", "+2")) {
		check(true, "suspend to idle # SKIP this kernel or machine has none");
		return;
	}
	out(there);
	begin = clock_ns();
	said(write_text("/sys/power/state", "freeze"), 0,
	     "the machine suspends to idle with a CPU out");
	note("%llu ms", (unsigned long long)((clock_ns() - begin) / MS));
	check(list_is_cpu(there), "which is out when it resumes");
	all_in();
}
