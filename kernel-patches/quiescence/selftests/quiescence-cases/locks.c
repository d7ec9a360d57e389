// SPDX-License-Identifier: BSD-3-Clause
/* Whoever may have a lock, or waits for one, is woken in a hold, and stopped before its program. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"
#include "task_state.h"
#include "waits.h"

/* Who is tested waits for a byte, this futex, or one of these messages. */
static int bytes[2];
static _Atomic uint32_t *lock;
static int messages;

/* So that a hold does not hold the caller. */
static int be_real_time(void)
{
	const struct sched_param param = {.sched_priority = 1};

	return sched_setscheduler(0, SCHED_FIFO, &param);
}

static void wait_for_byte(void)
{
	hear(bytes[0]);
	_exit(0);
}

static void sleep_uninterruptibly(void)
{
	wait_for_child(bytes[0], be_real_time);
	_exit(0);
}

static void write_byte(void)
{
	tell(bytes[1]);
}

static void wait_for_futex(void)
{
	_exit(lock_or_unlock(lock, FUTEX_LOCK_PI) != 0);
}

static void unlock_futex(void)
{
	must(lock_or_unlock(lock, FUTEX_UNLOCK_PI), "leave a futex");
}

static void wait_for_message(void)
{
	_exit(read_message(messages) != 0);
}

static void wait_for_message_real_time(void)
{
	_exit(be_real_time() || read_message(messages) != 0);
}

/* The first one is for who has the mutex, and the second one for who waits for it. */
static void write_two_messages(void)
{
	must(write_message(messages), "write a message");
	must(write_message(messages), "write a message");
}

static pid_t start_and_rest(void (*run)(void), char state)
{
	pid_t pid = start(run);

	for (int i = 0; task_state(pid) != state; i++) {
		if (i == 20000)
			bail("a task is not in state %c", state);
		clock_sleep(MS);
	}
	return pid;
}

/* How often a task has gone to sleep. */
static unsigned long sleeps_of(pid_t pid)
{
	static const char count[] = "\nvoluntary_ctxt_switches:";
	char path[32], text[4096];
	const char *found;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	must(read_text(path, text, sizeof(text)), path);
	found = strstr(text, count);
	if (!found)
		bail("%s does not say how often the task sleeps", path);
	return strtoul(found + strlen(count), NULL, 10);
}

static void must_end(pid_t pid)
{
	for (int i = 0; waitpid(pid, NULL, WNOHANG) != pid; i++) {
		if (i == 20000)
			bail("a task that was stopped is lost: nobody lets it go");
		clock_sleep(MS);
	}
}

/*
 * How often a task sleeps again in a hold when @wake has ended what it waits for, or -1 if there
 * was no hold. If its wake-up is held, it sleeps on. If it is woken and stopped, it sleeps again.
 * If it is woken only, it ends.
 */
static long sleeps_in_hold(pid_t pid, void (*wake)(void))
{
	unsigned long sleeps;
	bool held, sleeping;

	held = press_and_hold(CHAIN);
	clock_sleep(SLACK_MS * MS);
	sleeps = sleeps_of(pid);
	wake();
	clock_sleep(SLACK_MS * MS);
	sleeps = sleeps_of(pid) - sleeps;
	sleeping = task_state(pid) == 'S';
	held &= network_waits();
	finish();
	must_end(pid);
	/* Holds are half of the time at most: until short ones are allowed again. */
	clock_sleep(2 * LONG_MS * MS);
	return held && sleeping ? (long)sleeps : -1;
}

void test_locks(void)
{
	pid_t owner;

	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	messages = open_messages();
	if (lock == MAP_FAILED || pipe(bytes) || messages < 0)
		bail("no memory, pipe or messages: %s", strerror(errno));
	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);

	check(sleeps_in_hold(start_and_rest(wait_for_byte, 'S'), write_byte) == 0,
	      "a task that waits for a byte sleeps on in a hold");
	check(sleeps_in_hold(start_and_rest(sleep_uninterruptibly, 'D'), write_byte) > 0,
	      "one that sleeps uninterruptibly is woken, and stopped");
	must(lock_or_unlock(lock, FUTEX_LOCK_PI), "take a futex");
	check(sleeps_in_hold(start_and_rest(wait_for_futex, 'S'), unlock_futex) > 0,
	      "so is one that waits for a futex with priority inheritance");
	owner = start_and_rest(wait_for_message_real_time, 'S');
	check(sleeps_in_hold(start_and_rest(wait_for_message, 'S'), write_two_messages) > 0,
	      "so is one that waits for a mutex of the kernel");
	must_end(owner);

	atomic_store(&shared->wait_ms, WAIT_MS);
	close(bytes[0]);
	close(bytes[1]);
	close(messages);
	munmap(lock, sizeof(*lock));
}
