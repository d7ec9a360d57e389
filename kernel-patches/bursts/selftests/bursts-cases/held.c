// SPDX-License-Identifier: BSD-3-Clause
/* Whose wake-ups are held and whose are not, by who wakes whom, and by kinds of tasks. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "tasks.h"
#include "workers.h"

#define NEAR ROOT "/lull-bursts-near"
/* Requests to tasks outside of a group while it holds its own. */
#define OUTSIDE 50

/* Two members who wake each other. */
void test_inside(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	int status;
	pid_t pid = fork();

	if (!pid) {
		int to[2], from[2];
		char byte = 0;

		if (write_text(GROUP "/cgroup.procs", "0") || pipe(to) || pipe(from))
			_exit(2);
		if (!fork()) {
			while (read(to[0], &byte, 1) == 1)
				if (write(from[1], &byte, 1) != 1 || byte)
					_exit(0);
			_exit(1);
		}
		for (int i = 0; i < 100; i++) {
			byte = i == 99;
			if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
				_exit(3);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	/* Its child's end wakes nobody of the stage; its own wakes us, who are no member. */
	check(WIFEXITED(status) && !WEXITSTATUS(status) && stat_of(GROUP, "wakes") == wakes,
	      "what members do to each other is not held");
}

/* A stage slows down nobody but its own tasks. */
void test_outside(void)
{
	struct worker member = start(GROUP, SCHED_OTHER), outside = start(ROOT, SCHED_OTHER), near;
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct answer last = {0};
	bool held = true;

	if (mkdir(NEAR, 0755))
		bail("cannot make a group: %s", strerror(errno));
	near = start(NEAR, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 2);
	ask(&member);
	wait_for_held(GROUP, 1);
	for (int i = 0; i < OUTSIDE; i++) {
		ask(&outside);
		hear(&outside);
		ask(&near);
		last = hear(&near);
		held &= stat_of(GROUP, "held") == 1 && !has_answered(&member);
	}
	check(held && stat_of(GROUP, "wakes") == wakes + 1,
	      "tasks of no group and of another one answer %d times while a member is held",
	      2 * OUTSIDE);
	rules(GROUP, 0, 0, 1);
	check(hear(&member).ns > last.ns, "which answers after them, in its burst");
	stop(&member);
	stop(&outside);
	stop(&near);
	check(!rmdir(NEAR), "nothing keeps the other group");
}

void test_never(void)
{
	struct worker fifo = start(GROUP, SCHED_FIFO), worker = start(GROUP, SCHED_OTHER);
	struct worker due = start(GROUP, SCHED_DEADLINE);
	unsigned long wakes;
	uint64_t frozen = 0;

	rules(GROUP, FOREVER_US, 0, 1);
	wakes = stat_of(GROUP, "wakes");
	ask(&fifo);
	hear(&fifo);
	check(stat_of(GROUP, "wakes") == wakes, "a real-time task is not held");
	ask(&due);
	hear(&due);
	check(stat_of(GROUP, "wakes") == wakes, "nor is a deadline task");
	stop(&due);

	put(GROUP "/cgroup.freeze", "1");
	for (int i = 0; !frozen && i < 1000; i++) {
		clock_sleep(MS);
		must(read_count(GROUP "/cgroup.events", "frozen", &frozen), "read cgroup.events");
	}
	put(GROUP "/cgroup.freeze", "0");
	clock_sleep(5 * MS);
	check(frozen && stat_of(GROUP, "wakes") == wakes, "a frozen one that thaws is not");

	ask(&worker);
	clock_sleep(5 * MS);
	check(!has_answered(&worker) && stat_of(GROUP, "held") == 1, "another one is");
	kill(worker.pid, SIGUSR1);
	hear(&worker);
	check(stat_of(GROUP, "held") == 1, "a signal goes through");

	ask(&worker);
	clock_sleep(5 * MS);
	kill(worker.pid, SIGKILL);
	check(waitpid(worker.pid, NULL, 0) == worker.pid, "so does the one that kills");
	rules(GROUP, 0, 0, 1);
	check(!stat_of(GROUP, "held"), "a stage that ends holds nothing, be it dead");
	close(worker.to);
	close(worker.from);
	stop(&fifo);
}

/* A thread of the kernel that sleeps as programs do. */
void test_kernel_thread(void)
{
	pid_t thread = find_device_thread();
	unsigned long wakes;

	if (!thread)
		bail("there is no " DEVICE_THREAD);
	put_number(GROUP "/cgroup.procs", (unsigned long)thread);
	rules(GROUP, FOREVER_US, 0, 2);
	wakes = stat_of(GROUP, "wakes");
	must(use_device_thread(), "make a device");
	check(stat_of(GROUP, "wakes") == wakes, "a thread of the kernel is not held");
	put_number(ROOT "/cgroup.procs", (unsigned long)thread);
	rules(GROUP, 0, 0, 1);
}
