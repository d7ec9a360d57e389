// SPDX-License-Identifier: BSD-3-Clause
/* The part `frequency`: schedutil goes by windows. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

/* After how many ms of work a CPU that slept has its highest frequency. */
static int time_to_highest(void)
{
	char path[128], highest[32], now[32];
	pid_t pid = fork();
	int status, ms = 5;

	if (!pid) {
		pin(last_little);
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_max_freq",
			 last_little);
		if (read_text(path, highest, sizeof(highest)))
			_exit(255);
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_cur_freq",
			 last_little);
		clock_sleep(400 * MS);
		/* Until the first tick there is still what the last task left. */
		spin_ns(5 * MS);
		while (ms < 250 && !read_text(path, now, sizeof(now)) && strcmp(now, highest)) {
			spin_ns(MS);
			ms++;
		}
		_exit(ms);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
		bail("no frequency");
	note("the highest frequency after %d ms", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

/* The longest of three times. Upstream gives a real-time task the highest frequency at once. */
static int longest_to_highest(void)
{
	int ms, longest = 0;

	for (int i = 0; i < 3; i++) {
		ms = time_to_highest();
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

/* A millisecond of work fills a window of that length, and hardly counts by PELT. */
void test_frequency(void)
{
	int ms;

	/* A single one is the boot CPU, which has other work as well. */
	if (littles < 2) {
		check(true, "schedutil goes by windows # SKIP one little CPU");
		return;
	}
	only("frequency");
	set("window_us", "1000");
	set("tracking", "walt");
	ms = longest_to_highest();
	set("tracking", "pelt");
	check(2 * ms < longest_to_highest(), "schedutil goes by windows, which fill at once");
	set("tracking", "walt");
	only(NULL);
	check(2 * ms < longest_to_highest(), "not if that part is off");
	set("window_us", "20000");
}
