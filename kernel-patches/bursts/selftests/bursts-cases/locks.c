// SPDX-License-Identifier: BSD-3-Clause
/* Who waits for a lock, or may have one that others wait for, is not held. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "waits.h"
#include "workers.h"

/* To whom says the child of who sleeps uninterruptibly that it does. */
static int told;

/* The child is no member. */
static int leave(void)
{
	const struct answer hello = {.pid = getppid()};

	return write_text(ROOT "/cgroup.procs", "0") ||
	       write(told, &hello, sizeof(hello)) != sizeof(hello);
}

void test_uninterruptible(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct worker worker = {0};
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	told = from[1];
	worker = (struct worker){.pid = fork(), .to = to[1], .from = from[0]};
	if (!worker.pid) {
		struct answer answer = {0};

		if (write_text(GROUP "/cgroup.procs", "0"))
			_exit(2);
		wait_for_child(to[0], leave);
		_exit(write(from[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	hear(&worker);
	rules(GROUP, FOREVER_US, 0, 2);
	ask(&worker);
	check(answers_within(&worker, 5000) && stat_of(GROUP, "wakes") == wakes,
	      "who sleeps uninterruptibly is not held");
	rules(GROUP, 0, 0, 1);
	stop(&worker);
	close(to[0]);
	close(from[1]);
}

/* A member waits for a futex with priority inheritance, whose owner is no member. */
void test_inheritance(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct worker worker = {0};
	_Atomic uint32_t *lock;
	int from[2];

	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lock == MAP_FAILED || pipe(from))
		bail("no memory: %s", strerror(errno));
	must(lock_or_unlock(lock, FUTEX_LOCK_PI), "take a futex");
	worker = (struct worker){.pid = fork(), .from = from[0]};
	if (!worker.pid) {
		struct answer answer = {0};

		if (write_text(GROUP "/cgroup.procs", "0") || lock_or_unlock(lock, FUTEX_LOCK_PI) ||
		    write(from[1], &answer, sizeof(answer)) != sizeof(answer))
			_exit(2);
		_exit(0);
	}
	for (int i = 0; i < 5000 && !(atomic_load(lock) & FUTEX_WAITERS); i++)
		clock_sleep(MS);
	await_sleep(worker.pid);
	rules(GROUP, FOREVER_US, 0, 2);
	must(lock_or_unlock(lock, FUTEX_UNLOCK_PI), "leave a futex");
	check(answers_within(&worker, 5000) && stat_of(GROUP, "wakes") == wakes,
	      "who waits for a futex with priority inheritance is not held");
	rules(GROUP, 0, 0, 1);
	kill(worker.pid, SIGKILL);
	waitpid(worker.pid, NULL, 0);
	close(from[0]);
	close(from[1]);
	munmap(lock, sizeof(*lock));
}

static pid_t read_next(int log)
{
	pid_t pid = fork();

	if (!pid)
		_exit(read_message(log) != 0);
	await_sleep(pid);
	return pid;
}

/* Who waits for the kernel's next message has the file's mutex, for which a member waits. */
void test_mutex(void)
{
	int log = open_messages();
	pid_t outsider, member;
	unsigned long wakes;

	if (log < 0)
		bail("cannot read the kernel's messages: %s", strerror(errno));
	rules(GROUP, FOREVER_US, 0, 1);
	outsider = read_next(log);
	member = read_next(log);
	put_number(GROUP "/cgroup.procs", (unsigned long)member);
	wakes = stat_of(GROUP, "wakes");
	must(write_message(log), "write a message");
	waitpid(outsider, NULL, 0);
	clock_sleep(2 * MS);
	check(stat_of(GROUP, "wakes") == wakes, "who waits for a mutex is not held");
	kill(member, SIGKILL);
	waitpid(member, NULL, 0);
	close(log);
	rules(GROUP, 0, 0, 1);
}
