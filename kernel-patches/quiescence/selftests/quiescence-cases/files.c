// SPDX-License-Identifier: BSD-3-Clause
/* The settings' files: what they say after boot, what they refuse, and who may use them. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "fail_each.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

void test_files(void)
{
	static const char *const holds[] = {"none", "\n", "bigger", "0"};
	static const char *const bounds[] = {"0", "10001", "-1", "x", "1 2"};
	static const char *const leasts[] = {"1000001", "-1", "x"};
	static const char *const switches[] = {"2", "2x", "-1", "y", "on", "\n"};
	static const char *const aheads[] = {"2", "-1", "x", "y", "on", "\n"};
	bool refused = true;
	char text[32];
	pid_t pid;
	int status;

	check(!read_text(SYSTEM "hold", text, sizeof(text)) && !strcmp(text, "all") &&
		      !read_text(SYSTEM "bound_ms", text, sizeof(text)) && !strcmp(text, "200") &&
		      !read_text(SYSTEM "least_us", text, sizeof(text)) && !strcmp(text, "2000") &&
		      !read_text(SYSTEM "ahead", text, sizeof(text)) && !strcmp(text, "0"),
	      "the settings after boot");
	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		refused &= write_text(SYSTEM "hold", holds[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		refused &= write_text(SYSTEM "bound_ms", bounds[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(leasts) / sizeof(*leasts); i++)
		refused &= write_text(SYSTEM "least_us", leasts[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(aheads) / sizeof(*aheads); i++)
		refused &= write_text(SYSTEM "ahead", aheads[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		refused &= write_text(SYSTEM "enabled", switches[i]) == -EINVAL;
	check(refused, "EINVAL: other words, numbers out of range, no number");
	check(write_text(PATH, "0") == -EINVAL, "EINVAL: nobody writes the path");

	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(write_text(SYSTEM "enabled", "0") == -EACCES &&
			write_text(SYSTEM "hold", "all") == -EACCES &&
			write_text(SYSTEM "bound_ms", "1") == -EACCES &&
			write_text(SYSTEM "least_us", "1") == -EACCES &&
			write_text(SYSTEM "ahead", "0") == -EACCES &&
			write_text(SYSTEM "stats", "0") == -EACCES &&
			write_text(PATH, "0") == -EACCES &&
			read_text(SYSTEM "stats", text, sizeof(text)) == -EACCES &&
			read_text(PATH, text, sizeof(text)) == -EACCES));
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      !WEXITSTATUS(status),
	      "EACCES: only root writes, or reads counts and the path");
	check(write_text(SYSTEM "stats", "0") == -EACCES, "EACCES: not even root writes counts");

	put(HOTPLUG, "0");
	check(!write_text(SYSTEM "enabled", "1"), "by itself it can be turned on");
	check(write_text(SYSTEM "hold", "big") == -EOPNOTSUPP,
	      "EOPNOTSUPP: big CPUs cannot leave without pseudo hotplug");
	put(PLANS "enabled", "0");
	check(write_text(SYSTEM "ahead", "1") == -EOPNOTSUPP,
	      "EOPNOTSUPP: no CPU wakes ahead without anticipation");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "1");
	check(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP, "nor when that was chosen before");
	put(PLANS "enabled", "1");
	check(!write_text(SYSTEM "enabled", "1"), "with it one does");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "0");
	put(PLANS "enabled", "0");
	put(SYSTEM "hold", "big");
	check(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP, "nor when they were chosen before");
	put(SYSTEM "hold", "all");
}

void test_memory(void)
{
	fail_check(check, fail_each_switch(SYSTEM "enabled"),
		   "no memory to turn it on, so that it stays off");
	check(!write_text(SYSTEM "enabled", "1"), "with memory it can be turned on");
	put(SYSTEM "enabled", "0");
}
