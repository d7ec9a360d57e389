// SPDX-License-Identifier: BSD-3-Clause
/* What becomes of registrations when a task forks, executes another program, or ends. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "sysfs.h"
#include "system.h"
#include "waiter.h"

#define HANDLER 0x60

static struct device device;

static void await_program(pid_t task, const char *name)
{
	char path[64], now[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", task);
	while (!read_text(path, now, sizeof(now)) && strcmp(now, name) != 0)
		usleep(200);
}

static void after_fork(int fd)
{
	struct esm_event event;
	pid_t child;
	int status;

	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	device_send(&device, EV_KEY, KEY_A, 1);
	child = fork_child();
	if (child == 0)
		_exit(take(&event, 1) == -ENODEV && unsubscribe(fd, EV_KEY, ESM_ANY) == -ENOENT
			      ? 0
			      : 1);
	waitpid(child, &status, 0);
	check(status == 0, "a child of fork has neither registrations nor events");
	check_events("its parent keeps them", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("and gets what comes", {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});

	child = fork_child();
	if (child == 0)
		_exit(subscribe(fd, EV_KEY, ESM_ANY, HANDLER + 1) ? 1 : 0);
	waitpid(child, &status, 0);
	check(status == 0, "a child registers with a device that its parent opened");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("and takes nothing from the parent when it ends",
		     {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
}

static void *in_thread(void *data)
{
	struct esm_event event;
	int fd = *(int *)data;

	*(int *)data = take(&event, 1);
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER + 1), "register in a thread");
	return (void *)(long)gettid();
}

static void after_thread(int fd)
{
	struct esm_event event;
	int data = fd;
	pthread_t thread;
	void *task;

	if (pthread_create(&thread, NULL, in_thread, &data) || pthread_join(thread, &task))
		give_up("no thread");
	check_error(data, ENODEV, "a new thread has no registrations");
	check(!is_application((pid_t)(long)task), "and when it ends, they are gone");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("the others keep theirs", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
}

/* As many threads of a process may be registered, and the first one is. */
#define THREADS_MAX 16

static pthread_barrier_t all_registered, all_seen;

static void *register_and_stay(void *data)
{
	int fd = *(const int *)data, result = subscribe(fd, EV_KEY, ESM_ANY, HANDLER + 1);

	pthread_barrier_wait(&all_registered);
	pthread_barrier_wait(&all_seen);
	return (void *)(long)result;
}

static void *register_once(void *data)
{
	return (void *)(long)subscribe(*(const int *)data, EV_KEY, ESM_ANY, HANDLER + 1);
}

static int in_new_thread(int fd)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, register_once, &fd) || pthread_join(thread, &result))
		give_up("no thread");
	return (int)(long)result;
}

static void as_many_threads_as_allowed(int fd)
{
	pthread_t threads[THREADS_MAX - 1];
	bool registered = true;
	void *result;

	pthread_barrier_init(&all_registered, NULL, THREADS_MAX);
	pthread_barrier_init(&all_seen, NULL, THREADS_MAX);
	for (int i = 0; i < THREADS_MAX - 1; i++)
		if (pthread_create(&threads[i], NULL, register_and_stay, &fd))
			give_up("no thread");
	pthread_barrier_wait(&all_registered);
	check_error(in_new_thread(fd), ENOSPC, "a thread more than may be registered");
	pthread_barrier_wait(&all_seen);
	for (int i = 0; i < THREADS_MAX - 1; i++) {
		pthread_join(threads[i], &result);
		registered &= !result;
	}
	check(registered, "%d may", THREADS_MAX);
	check(in_new_thread(fd) == 0, "and when some have ended, others");
}

static void after_exec(int fd)
{
	char *const nothing[] = {"nothing", NULL};
	pid_t child;

	check(execv("/nothing", nothing) < 0 && is_application(getpid()),
	      "who fails to execute another program keeps them");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("and gets events", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});

	child = fork_child();
	if (child == 0) {
		must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register in a child");
		raise(SIGSTOP);
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	await_state(child, 'T');
	check(is_application(child), "a task that registered is an application");
	kill(child, SIGCONT);
	await_program(child, "sleep");
	check(!is_application(child), "and is none in its next program");
	foreground(getpid(), child);
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check(await_state(child, 'S'), "which events do not disturb");
	kill_and_reap(child);
	foreground(getpid());
	check_events("while others get theirs", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
}

static void *exec_when_leader_waits(void *data)
{
	(void)data;
	await_state(getpid(), EV_WAIT);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void *wait_alone(void *data)
{
	struct esm_event event;

	must(subscribe(*(int *)data, EV_KEY, ESM_ANY, HANDLER), "register in a thread");
	call_wait(&event, sizeof(event), 1, 0);
	return NULL;
}

static void leader_and_thread(int fd)
{
	struct esm_event event;
	pthread_t thread;
	pid_t child = fork_child();
	char path[64];

	if (child == 0) {
		must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register in a leader");
		pthread_create(&thread, NULL, exec_when_leader_waits, NULL);
		call_wait(&event, sizeof(event), 1, 0);
		_exit(1);
	}
	await_program(child, "sleep");
	check(!is_application(child), "a thread's exec ends the leader's wait");
	kill_and_reap(child);

	child = fork_child();
	if (child == 0) {
		pthread_create(&thread, NULL, wait_alone, &fd);
		pthread_exit(NULL);
	}
	await_state(child, 'Z');
	/* Numbers are given in turn, and nobody else takes one here. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d", child, child + 1);
	check(access(path, F_OK) == 0 && await_state(child + 1, EV_WAIT),
	      "a thread waits on when its leader has ended");
	kill_and_reap(child);
	check(!is_application(child + 1), "until all are killed");
}

static void after_end(void)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});

	await_state(waiter.pid, EV_WAIT);
	check(is_application(waiter.pid), "who waits is an application");
	waiter_kill(&waiter);
	check(!is_application(waiter.pid), "and none when it was killed");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("others get what comes then", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
}

void case_lifecycle(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	after_fork(fd);
	after_thread(fd);
	as_many_threads_as_allowed(fd);
	after_exec(fd);
	leader_and_thread(fd);
	after_end();
	device_destroy(&device);
}
