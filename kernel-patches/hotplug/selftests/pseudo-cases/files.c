// SPDX-License-Identifier: BSD-3-Clause
/* The files that take CPUs out: what they say, what they refuse, and who may use them. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "cpulist.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

static bool list_has_all_but(int cpu)
{
	struct cpulist list;
	char text[256];

	if (read_text(LIST, text, sizeof(text)) || cpulist_parse(&list, text))
		return false;
	for (int i = 0; i < CPULIST_MAX; i++)
		if (list.has[i] != (mains.has[i] && i != cpu))
			return false;
	return true;
}

void test_files(void)
{
	unsigned long changes = counted(-1, NULL);
	char online[64];

	said(put_cpu(there, "pseudo_online", "0"), 0, "a CPU is taken out");
	check(get_cpu(there, "pseudo_online") == 0, "its file says so");
	check(list_is_cpu(there), "the list says so");
	read_text(CPU_DIR "/online", online, sizeof(online));
	check(get_cpu(there, "online") != 0, "it is online for all else: %s", online);
	check(counted(-1, NULL) == changes + 1, "that is one change");
	said(put_cpu(there, "pseudo_online", "0"), 0, "to take it out again is no error");
	check(counted(-1, NULL) == changes + 1, "and no change");
	said(put_cpu(there, "pseudo_online", "1"), 0, "it comes back");
	check(get_cpu(there, "pseudo_online") == 1 && list_is(""), "both files say so");

	said(put_list(all_but(0)), 0, "a list of CPUs is taken out by one write");
	check(list_has_all_but(0), "and is read as a list");
	check(get_cpu(0, "pseudo_online") == 1 && get_cpu(there, "pseudo_online") == 0,
	      "each file agrees");
	said(put_list(all_but(there)), 0, "another list takes its place by one write");
	check(get_cpu(0, "pseudo_online") == 0 && get_cpu(there, "pseudo_online") == 1,
	      "who was in is out, and the other way round: the boot CPU too");
	all_in();
	check(list_is(""), "an empty line brings all back");
}

void test_bad_text(void)
{
	static const char *const numbers[] = {"2",  "-1", "x",	"01x", "1 0",
					      "\n", "on", "0,", "0x",  "99999999999999999999"};
	static const char *const lists[] = {"x",   "0-",    "-1",   "1-0",	   "all",    "N",
					    "0:1", "0-1:1", "1000", "99999999999", "0\n1\n", "0 1"};
	bool good = true;

	out(there);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (put_cpu(there, "pseudo_online", numbers[i]) != -EINVAL) {
			note("'%s' is not EINVAL", numbers[i]);
			good = false;
		}
	check(good, "what is not 0 or 1 is EINVAL");
	good = true;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (put_list(lists[i]) != -EINVAL) {
			note("'%s' is not EINVAL", lists[i]);
			good = false;
		}
	check(good, "what is no list of possible CPUs is EINVAL");
	check(list_is_cpu(there), "and nothing has changed");
	said(write_text(SYSTEM "realtime", "go"), EINVAL,
	     "an unknown word for real time is EINVAL");
	said(write_text(SYSTEM "realtime", "stay leave"), EINVAL, "so are two words");
	said(write_text(SYSTEM "enabled", "2"), EINVAL, "the switch takes 0 and 1 only");
	said(write_text(WAKES, "2"), EINVAL, "and so does the table");
	said(write_text(SYSTEM "enabled", "maybe"), EINVAL, "and no text");
	check(list_is_cpu(there), "after which the CPU is still out");
	all_in();
}

void test_last(void)
{
	said(put_list(all_but(-1)), EBUSY, "to take all out is EBUSY");
	check(list_is(""), "and takes none out");
	must(put_list(all_but(0)), "take all out but CPU 0");
	said(put_cpu(0, "pseudo_online", "0"), EBUSY, "to take the last one out is EBUSY");
	check(get_cpu(0, "pseudo_online") == 1, "and leaves it in");
	said(put_cpu(0, "online", "0"), EBUSY, "it cannot go offline either");
	all_in();
}

static int as_nobody(const char *path, int flags)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(setuid(1) ? 255 : open(path, flags) < 0 ? errno : 0);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

void test_permission(void)
{
	said(as_nobody(LIST, O_RDONLY), 0, "everybody reads the list");
	said(as_nobody(LIST, O_WRONLY), EACCES, "only root writes it: EACCES");
	said(as_nobody(CPU_DIR "/cpu0/pseudo_online", O_RDONLY), 0, "everybody reads a CPU's file");
	said(as_nobody(CPU_DIR "/cpu0/pseudo_online", O_WRONLY), EACCES, "only root writes it");
	said(as_nobody(SYSTEM "realtime", O_RDONLY), 0, "everybody reads what real-time tasks do");
	said(as_nobody(SYSTEM "realtime", O_WRONLY), EACCES, "only root writes it");
	said(as_nobody(SYSTEM "enabled", O_WRONLY), EACCES, "only root turns the system on");
	said(as_nobody(SYSTEM "stats", O_RDONLY), EACCES, "only root reads the counts");
	said(as_nobody(WAKES, O_RDONLY), EACCES, "and the table");
	said(as_nobody(WAKES, O_WRONLY), EACCES, "and has it counted");
}
