// SPDX-License-Identifier: BSD-3-Clause
/* The foreground gets events, and nobody else does. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"
#include "waiter.h"

#define HANDLER 0x50

/* As many processes may be in the foreground. */
#define FOREGROUND_MAX 16

static struct device device;

static bool foreground_is(const pid_t *pids, size_t count)
{
	char said[512], wanted[512];
	int used = 0;

	*wanted = '\0';
	for (size_t i = 0; i < count; i++)
		used += snprintf(wanted + used, sizeof(wanted) - (size_t)used, "%s%d", i ? " " : "",
				 pids[i]);
	must(system_read("foreground", said, sizeof(said)), "read the foreground");
	if (strcmp(said, wanted) != 0)
		note("foreground is '%s', not '%s'", said, wanted);
	return strcmp(said, wanted) == 0;
}

static void background_gets_nothing(void)
{
	struct waiter waiter = waiter_start(&(struct waiter_setup){.device = &device});
	uint64_t waits, discarded;

	await_state(waiter.pid, EV_WAIT);
	waits = asleep(waiter.pid);
	foreground_nobody();
	discarded = statistic("discarded");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check(slept_on(waiter.pid, waits), "the background sleeps on");
	check(statistic("discarded") == discarded + 2, "and nobody kept what was for it");
	foreground(getpid(), waiter.pid);
	check(slept_on(waiter.pid, waits), "nor does it come later, in the foreground");
	device_send(&device, EV_KEY, KEY_B, 1);
	check_woken_by(&waiter, "where the next event is the first", KEY_B);
	device_send(&device, EV_KEY, KEY_B, 0);
}

static void others_have_their_own(void)
{
	struct waiter first = waiter_start(&(struct waiter_setup){.device = &device}), second;
	struct esm_event event;

	second = waiter_start(&(struct waiter_setup){.device = &device});
	foreground(getpid(), first.pid, second.pid);
	await_state(first.pid, EV_WAIT);
	await_state(second.pid, EV_WAIT);
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&first, "every application of the foreground gets an event", KEY_A);
	check_woken_by(&second, "the other one too", KEY_A);
	check(take(&event, 1) == 1 && event.value == 1, "and who does not wait has it queued");
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
}

static void what_is_queued_stays(void)
{
	device_send(&device, EV_KEY, KEY_A, 1);
	foreground_nobody();
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("who loses the foreground keeps what it has",
		     {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});
	check_nothing("and gets no more");
	foreground(getpid());
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("before it is back", {HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST},
		     {HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});
}

static void *wait_in_thread(void *data)
{
	struct outcome *outcome = data;
	int fd = device_open(&device, O_RDONLY);

	outcome->registered = subscribe(fd, EV_KEY, ESM_ANY, HANDLER + 1);
	__atomic_store_n(&outcome->signals, gettid(), __ATOMIC_RELEASE);
	outcome->received =
		call_wait(outcome->events, sizeof(outcome->events[0]), WAITER_EVENTS, 0);
	return NULL;
}

static void threads_are_with_their_process(void)
{
	const struct want want = {HANDLER + 1, EV_KEY, KEY_A, 1, ESM_EVENT_LAST};
	struct outcome outcome = {0};
	struct esm_event event;
	pthread_t thread;
	pid_t task;

	if (pthread_create(&thread, NULL, wait_in_thread, &outcome))
		give_up("no thread");
	while (!(task = __atomic_load_n(&outcome.signals, __ATOMIC_ACQUIRE)))
		usleep(100);
	check(await_state(task, EV_WAIT), "a thread waits by itself");
	device_send(&device, EV_KEY, KEY_A, 1);
	pthread_join(thread, NULL);
	check(events_are(outcome.events, outcome.received, &want, 1),
	      "and is in the foreground with its process");
	check(take(&event, 1) == 1 && event.handler == HANDLER,
	      "which is an application of its own");
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the release");
}

static void *write_own_number(void *data)
{
	const pid_t task = gettid();

	*(int *)data = foreground_write(&task, 1);
	return NULL;
}

static void threads_are_no_processes(void)
{
	pthread_t thread;
	int result;

	if (pthread_create(&thread, NULL, write_own_number, &result) || pthread_join(thread, NULL))
		give_up("no thread");
	check_error(result, ESRCH, "a thread's number");
}

static void set_is_written_whole(void)
{
	struct waiter waiters[FOREGROUND_MAX];
	pid_t pids[FOREGROUND_MAX + 1] = {getpid()};
	char text[32];
	pid_t gone;

	for (int i = 0; i < FOREGROUND_MAX; i++) {
		waiters[i] = waiter_start(&(struct waiter_setup){.device = &device});
		pids[i + 1] = waiters[i].pid;
	}
	check(foreground_write(pids, FOREGROUND_MAX) == 0 && foreground_is(pids, FOREGROUND_MAX),
	      "%d processes can be in the foreground", FOREGROUND_MAX);
	check_error(foreground_write(pids, FOREGROUND_MAX + 1), E2BIG, "one more");
	check(foreground_is(pids, FOREGROUND_MAX), "the foreground is as before");
	check(system_write("foreground", "\n") == 0 && foreground_is(NULL, 0),
	      "an empty line is for nobody");
	foreground(getpid());
	check(system_write("foreground", "1 x\n") == -EINVAL && foreground_is(pids, 1),
	      "a word that is no number is refused");
	check(system_write("foreground", "-1\n") == -EINVAL ||
		      system_write("foreground", "-1\n") == -ESRCH,
	      "and a number below 0");
	snprintf(text, sizeof(text), "%d 4000000\n", getpid());
	check_error(system_write("foreground", text), ESRCH, "a process that is not there");
	check(foreground_is(pids, 1), "the foreground is as before that");

	gone = waiters[0].pid;
	foreground(getpid(), gone);
	waiter_kill(&waiters[0]);
	check(foreground_is(pids, 1), "who ends is not in the foreground any more");
	check_error(foreground_write(&gone, 1), ESRCH, "nor comes back");
	for (int i = 1; i < FOREGROUND_MAX; i++)
		waiter_kill(&waiters[i]);
}

static void a_child_is_not(void)
{
	struct waiter waiter = waiter_start(&(struct waiter_setup){.device = &device});
	struct stat status;
	uint64_t waits;

	await_state(waiter.pid, EV_WAIT);
	waits = asleep(waiter.pid);
	foreground(getpid());
	device_send(&device, EV_KEY, KEY_A, 1);
	check(slept_on(waiter.pid, waits), "a child of the foreground is not of it");
	waiter_kill(&waiter);
	device_send(&device, EV_KEY, KEY_A, 0);
	check(stat(ESM_DIR "foreground", &status) == 0 && (status.st_mode & 0777) == 0600 &&
		      status.st_uid == 0,
	      "only root says who is");
}

/* The first process of a PID namespace puts itself into the foreground, and stays until killed. */
static void be_first_of_namespace(int ready)
{
	const pid_t own = getpid();
	const char right = own == 1 && foreground_write(&own, 1) == 0 && foreground_is(&own, 1);

	if (write(ready, &right, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool both_see_their_own_number(void)
{
	bool seen = false;
	int ready[2];
	pid_t first;
	char right;

	if (pipe(ready))
		return false;
	first = fork_child();
	if (first == 0)
		be_first_of_namespace(ready[1]);
	if (read(ready[0], &right, 1) == 1)
		seen = right && foreground_is(&first, 1);
	kill_and_reap(first);
	return seen;
}

static void numbers_are_of_a_namespace(void)
{
	check_in_namespace(
		CLONE_NEWPID, "PID", both_see_their_own_number,
		"a number means what it does in the namespace of who writes or reads it");
	foreground(getpid());
}

void case_foreground(void)
{
	struct esm_event event;
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	background_gets_nothing();
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	others_have_their_own();
	what_is_queued_stays();
	threads_are_with_their_process();
	threads_are_no_processes();
	set_is_written_whole();
	a_child_is_not();
	numbers_are_of_a_namespace();
	while (take(&event, 1) == 1)
		;
	device_destroy(&device);
}
