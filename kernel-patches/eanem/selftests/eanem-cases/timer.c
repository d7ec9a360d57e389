// SPDX-License-Identifier: BSD-3-Clause
/* Where the timer of the monitor's interval is. */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../connections.h"
#include "cases.h"
#include "eanem.h"
#include "measure.h"
#include "pin.h"
#include "report.h"

/* The CPU of the interval's timer, or -1. While it fires it is on no list, so one looks again. */
static int timer_cpu(void)
{
	char line[256];
	int cpu = -1, found = -1;

	for (int i = 0; i < 20 && found < 0; i++) {
		FILE *file = fopen("/proc/timer_list", "r");

		if (!file)
			bail("cannot read the list of timers: %s", strerror(errno));
		while (fgets(line, sizeof(line), file)) {
			if (!strncmp(line, "cpu: ", 5))
				cpu = atoi(line + 5);
			if (strstr(line, "lull_eanem_tick"))
				found = cpu;
		}
		fclose(file);
	}
	return found;
}

/* The interval's timer wakes no CPU that the network stack's work has left. */
void test_timer(void)
{
	uint32_t nobody = 4000000;
	cpu_set_t before;

	allowed(&before);
	must(pin_to_cpu(0), "go to a CPU");
	turn("0");
	check(timer_cpu() == -1, "off, no timer runs");
	turn("1");
	check(timer_cpu() == 0, "it begins where the system is turned on");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer");
	check(timer_cpu() == 1, "it goes to the CPU that is chosen");
	check(eanem_steer(&eanem, "1", 0, &nobody, 1) == -ESRCH && timer_cpu() == 0,
	      "it comes back with an error");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer again");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	check(timer_cpu() == 0, "and with the rest");
	must(eanem_steer(&eanem, "1", 0, NULL, 0), "steer once more");
	turn("0");
	check(timer_cpu() == -1, "turned off, it ends there, too");
	turn("1");
	check(timer_cpu() == 0, "and begins anew");
	sched_setaffinity(0, sizeof(before), &before);
}
