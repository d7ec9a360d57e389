// SPDX-License-Identifier: BSD-3-Clause
/* The files and the system call: what they say at first, what they refuse, and who may use them. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bursts_abi.h"
#include "cases.h"
#include "fail_each.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"

#define POOR ROOT "/lull-bursts-poor"
#define GONE ROOT "/lull-bursts-gone"
/* 2^64 */
#define TOO_MUCH "18446744073709551616"

void test_files(void)
{
	static const char *const times[] = {"999", "10000001", "-1", "x", "1 2"};
	static const char *const counts[] = {"0", "1025", "-1", "x"};
	static const char *const switches[] = {"2", "2x", "-1", "y", "on", "\n"};
	bool refused = true;
	char text[32];
	pid_t pid;
	int status;

	check(!read_text(GROUP "/cpu.bursts.period_us", text, sizeof(text)) && !strcmp(text, "0") &&
		      !read_text(GROUP "/cpu.bursts.bound_us", text, sizeof(text)) &&
		      !strcmp(text, "0") &&
		      !read_text(GROUP "/cpu.bursts.deadline_us", text, sizeof(text)) &&
		      !strcmp(text, "0") &&
		      !read_text(GROUP "/cpu.bursts.parallel", text, sizeof(text)) &&
		      !strcmp(text, "1"),
	      "a new group holds nothing, and heeds no deadline");
	check(access(ROOT "/cpu.bursts.period_us", F_OK) != 0, "the root group has no stage");

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		refused &= write_text(GROUP "/cpu.bursts.period_us", times[i]) == -EINVAL &&
			   write_text(GROUP "/cpu.bursts.bound_us", times[i]) == -EINVAL &&
			   write_text(GROUP "/cpu.bursts.deadline_us", times[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		refused &= write_text(GROUP "/cpu.bursts.parallel", counts[i]) == -EINVAL;
	check(refused,
	      "EINVAL: times below 1 ms or above 10 s, fewer than 1 or more than 1024 tasks");
	check(write_text(GROUP "/cpu.bursts.period_us", TOO_MUCH) == -ERANGE &&
		      write_text(GROUP "/cpu.bursts.bound_us", TOO_MUCH) == -ERANGE &&
		      write_text(GROUP "/cpu.bursts.deadline_us", TOO_MUCH) == -ERANGE &&
		      write_text(GROUP "/cpu.bursts.parallel", TOO_MUCH) == -ERANGE,
	      "ERANGE: numbers of 2^64 or more");
	check(write_text(GROUP "/cpu.bursts.stat", "0") == -EINVAL,
	      "EINVAL: nobody writes counts, not even root");

	refused = true;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		refused &= write_text(SYSTEM "enabled", switches[i]) == -EINVAL &&
			   write_text(SYSTEM "spread", switches[i]) == -EINVAL &&
			   write_text(SYSTEM "eager", switches[i]) == -EINVAL;
	check(refused, "EINVAL: switches take 0 and 1");

	if (chown(GROUP "/cpu.bursts.bound_us", 1000, 1000))
		bail("cannot give a file away: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(write_text(SYSTEM "enabled", "0") == -EACCES &&
			write_text(SYSTEM "spread", "0") == -EACCES &&
			write_text(SYSTEM "eager", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.period_us", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.parallel", "1") == -EACCES &&
			write_text(GROUP "/cpu.bursts.deadline_us", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.stat", "0") == -EACCES &&
			set_deadline(1) == 0 &&
			write_text(GROUP "/cpu.bursts.bound_us", "0") == 0));
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      !WEXITSTATUS(status),
	      "EACCES: only root, or whom a file was given to; a deadline is anybody's");

	check(set_deadline(BURST_DEADLINE_MOST_US + 1) == -EINVAL &&
		      set_deadline((unsigned long)-1) == -EINVAL,
	      "EINVAL: deadlines above 10 s");
	refused = true;
	for (size_t i = 0; i < 3; i++)
		refused &= prctl(PR_SET_BURST_DEADLINE, 1000UL, i == 0 ? 1UL : 0UL,
				 i == 1 ? 1UL : 0UL, i == 2 ? 1UL : 0UL) == -1 &&
			   errno == EINVAL;
	check(refused, "EINVAL: an argument that has to be 0");
	/* While the system is off, too. */
	check(!set_deadline(BURST_DEADLINE_MOST_US) && !set_deadline(1) && !set_deadline(0),
	      "a thread may have any other deadline, or none");
}

void test_removed(void)
{
	int file;

	if (mkdir(GONE, 0755))
		bail("cannot make a group: %s", strerror(errno));
	file = open(GONE "/cpu.bursts.period_us", O_WRONLY);
	if (file < 0 || rmdir(GONE))
		bail("cannot remove a group: %s", strerror(errno));
	check(write(file, "0", 1) < 0 && errno == ENODEV, "ENODEV: the group has gone");
	close(file);
}

static int make_stage(void)
{
	return write_text(POOR "/cpu.bursts.period_us", "1000");
}

static void make_group(void)
{
	if (mkdir(POOR, 0755))
		bail("cannot make a group: %s", strerror(errno));
}

static void make_group_anew(void)
{
	rmdir(POOR);
	make_group();
}

void test_memory(void)
{
	make_group();
	fail_check(check, fail_each(make_stage, make_group_anew), "no memory for a first setting");
	check(!make_stage() && !rmdir(POOR), "with memory the group can be set");
}
