// SPDX-License-Identifier: BSD-3-Clause
/* The files of the system and of a control group: what they refuse, and from whom. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

#define GONE ROOT "/lull-waeas-gone"
#define GONE_FILE GONE "/cpu.uclamp.latency_sensitive"

/* Whether each file of the system answers with @error to @text. Nobody may write `stats`. */
static bool all_answer(int error, const char *text)
{
	DIR *dir = opendir(SYSTEM);
	struct dirent *entry;
	bool all = dir;
	char path[320];
	int got;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SYSTEM "%s", entry->d_name);
		got = write_text(path, text);
		if (got == (strcmp(entry->d_name, "stats") ? error : -EACCES))
			continue;
		note("%s: %d to '%s'", entry->d_name, got, text);
		all = false;
	}
	if (dir)
		closedir(dir);
	return all;
}

static bool all_refuse(const char *text)
{
	return all_answer(-EINVAL, text) && write_text(SENSITIVE, text) == -EINVAL;
}

void test_files(void)
{
	static const char *const bad[][2] = {
		{"tracking", "none"},
		{"tracking", "\n"},
		{"placement", "2"},
		{"frequency", "2"},
		{"inherit", "2"},
		{"window_us", "999"},
		{"window_us", "100001"},
		{"alpha", "0"},
		{"alpha", "1024"},
		{"select", "-1"},
		{"pack", "x"},
		{"pack_percent", "0"},
		{"pack_percent", "101"},
		{"pack_apart", "2"},
		{"associate", "2"},
		{"balance", "1 1"},
		{"latency_sensitive", "1"},
		{"latency_sensitive", "+"},
		{"latency_sensitive", "+0"},
		{"latency_sensitive", "+x"},
		{"latency_sensitive", "++5"},
		{"latency_sensitive", "-+5"},
		{"enabled", "2x"},
	};
	char path[128];
	bool refused = true;
	char large[200] = {0};
	pid_t pid;
	int status;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(path, sizeof(path), SYSTEM "%s", bad[i][0]);
		if (write_text(path, bad[i][1]) == -EINVAL)
			continue;
		note("%s took '%s'", bad[i][0], bad[i][1]);
		refused = false;
	}
	check(refused && write_text(SENSITIVE, "2") == -EINVAL, "EINVAL: what is out of range");
	memset(large, 'x', sizeof(large) - 1);
	check(all_refuse("\n") && all_refuse("x") && all_refuse("-x") && all_refuse("++5") &&
		      all_refuse("-+5") && all_refuse("1 1") && all_refuse(large),
	      "EINVAL: text that is none of the words or numbers of a file");
	memset(large, '9', sizeof(large) - 1);
	check(all_answer(-EINVAL, large) && write_text(SENSITIVE, large) == -ERANGE &&
		      write_text(SENSITIVE, "-1") == -EINVAL,
	      "EINVAL, ERANGE: numbers of 199 digits, or below 0");
	check(write_text(SENSITIVE, "18446744073709551616") == -ERANGE,
	      "ERANGE: a number of 2^64 or more");
	check(write_text(SYSTEM "latency_sensitive", "+4194304") == -ESRCH, "ESRCH: no such task");
	check(read_text(SYSTEM "latency_sensitive", path, sizeof(path)) == -EACCES,
	      "EACCES: nobody reads which task was named last");
	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(all_answer(-EACCES, "1") && write_text(SENSITIVE, "1") == -EACCES &&
			read_text(SYSTEM "stats", path, sizeof(path)) == -EACCES));
	}
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	      "EACCES: only root");
}

/* A group whose file belongs to a user, and which is removed while the file is open. */
void test_group_file(void)
{
	char text[8];
	int file, status;
	pid_t pid;

	if (mkdir(GONE, 0755) || chown(GONE_FILE, 1000, 1000))
		bail("cannot make a group: %s", strerror(errno));
	pid = fork();
	if (!pid)
		_exit(setuid(1000) || write_text(GONE_FILE, "1"));
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) &&
		      !read_text(GONE_FILE, text, sizeof(text)) && !strcmp(text, "1"),
	      "whom a group's file was given to writes it");
	file = open(GONE_FILE, O_WRONLY | O_CLOEXEC);
	if (file < 0 || rmdir(GONE))
		bail("cannot remove a group: %s", strerror(errno));
	check(write(file, "0", 1) < 0 && errno == ENODEV, "ENODEV: the group has gone");
	close(file);
}
