// SPDX-License-Identifier: BSD-3-Clause
/* /proc/PID/latency_sensitive: a task's owner says so, and nobody else but root. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

static bool own_says(pid_t pid, const char *value)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", pid);
	return !read_text(path, text, sizeof(text)) && !strncmp(text, value, 1);
}

/* A task of a user, which may keep what root may do. */
static pid_t as_user(uid_t user, bool keeps)
{
	pid_t pid = fork();

	if (!pid) {
		/* Files of a task that changed its user are root's, until the task says otherwise.
		 */
		if (prctl(PR_SET_KEEPCAPS, keeps) || setuid(user) || prctl(PR_SET_DUMPABLE, 1))
			_exit(2);
		for (;;)
			pause();
	}
	return pid;
}

void test_own_file(void)
{
	pid_t pid, other, may_more, writer;
	int status, fd;
	char path[64];

	check(own_says(getpid(), "0"), "a task is not latency-sensitive by itself");
	check(!own_file(getpid(), "1") && own_says(getpid(), "1"), "it says that it is");
	pid = as_user(1000, false);
	may_more = as_user(1000, true);
	other = as_user(1001, false);
	clock_sleep(50 * MS);
	check(own_says(pid, "0"), "its children are not");
	check(own_file(getpid(), "2") == -EINVAL && own_file(getpid(), "x") == -EINVAL &&
		      own_file(getpid(), "\n") == -EINVAL && own_file(getpid(), "+1") == -EINVAL &&
		      own_file(getpid(), "00") == -EINVAL && own_file(getpid(), "01") == -EINVAL &&
		      own_file(getpid(), "0000000000x") == -EINVAL && own_says(getpid(), "1"),
	      "EINVAL: neither 0 nor 1");
	check(!own_file(getpid(), "0\n") && own_says(getpid(), "0"), "nor is it any more");

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", other);
	fd = open(path, O_RDWR | O_CLOEXEC);
	writer = fork();
	if (!writer) {
		if (setuid(1000))
			_exit(2);
		_exit(!(own_says(other, "0") && own_says(1, "0") && !own_file(pid, "1") &&
			own_file(other, "1") == -EACCES && own_file(1, "1") == -EACCES &&
			write(fd, "1", 1) < 0 && errno == EPERM &&
			own_file(may_more, "1") == -EPERM));
	}
	check(waitpid(writer, &status, 0) == writer && WIFEXITED(status) && !WEXITSTATUS(status),
	      "everybody reads; EACCES, EPERM: another user's, or one that may do more");
	check(own_says(pid, "1") && own_says(other, "0") && own_says(may_more, "0"),
	      "a task's owner says so for it");
	stop(may_more);
	check(syscall(SYS_write, fd, 1UL, 1UL) < 0 && errno == EFAULT && own_says(other, "0"),
	      "EFAULT: a pointer that is none");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	check(write(fd, "1", 1) < 0 && errno == ESRCH && read(fd, path, 1) < 0 && errno == ESRCH,
	      "ESRCH: the task has gone");
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/latency_sensitive", pid, pid);
	check(!write_text(path, "0") && own_says(pid, "0"), "each thread has one");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
