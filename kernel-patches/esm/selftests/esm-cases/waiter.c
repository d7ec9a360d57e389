// SPDX-License-Identifier: BSD-3-Clause
#include "waiter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "device.h"
#include "system.h"

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void __attribute__((noreturn))
run(const struct waiter_setup *setup, int begin, int ready, int answer)
{
	struct sigaction action = {.sa_handler = count_signal,
				   .sa_flags = setup->restarts ? SA_RESTART : 0};
	struct outcome outcome = {0};
	int fd = setup->device ? device_open(setup->device, O_RDONLY) : -1;
	char byte;

	if (setup->handles && sigaction(SIGUSR1, &action, NULL))
		give_up("cannot handle SIGUSR1: %s", strerror(errno));
	if (setup->user && (setgid(setup->user) || setuid(setup->user)))
		give_up("cannot become user %u: %s", setup->user, strerror(errno));
	if (read(begin, &byte, 1) != 1)
		_exit(1);
	outcome.registered =
		setup->begin ? setup->begin(fd) : subscribe(fd, EV_KEY, ESM_ANY, WAITER_HANDLER);
	if (write(ready, &byte, 1) != 1)
		_exit(1);
	outcome.received = call_wait(outcome.events, sizeof(outcome.events[0]),
				     setup->count ? setup->count : WAITER_EVENTS, 0);
	outcome.signals = signals;
	_exit(write(answer, &outcome, sizeof(outcome)) != sizeof(outcome));
}

static void make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		give_up("no pipe: %s", strerror(errno));
}

static struct waiter start(const struct waiter_setup *setup, bool in_foreground)
{
	struct waiter waiter;
	int begin[2], ready[2], answer[2];
	char byte = 0;

	make_pipe(begin);
	make_pipe(ready);
	make_pipe(answer);
	waiter.pid = fork_child();
	if (waiter.pid == 0)
		run(setup, begin[0], ready[1], answer[1]);
	if (in_foreground)
		foreground(getpid(), waiter.pid);
	close(ready[1]);
	if (write(begin[1], &byte, 1) != 1 || read(ready[0], &byte, 1) != 1)
		give_up("a waiter ended before it waited");
	close(begin[0]);
	close(begin[1]);
	close(ready[0]);
	close(answer[1]);
	waiter.answer = answer[0];
	return waiter;
}

struct waiter waiter_start(const struct waiter_setup *setup)
{
	return start(setup, false);
}

struct waiter waiter_start_in_foreground(const struct waiter_setup *setup)
{
	return start(setup, true);
}

struct outcome waiter_finish(struct waiter *waiter)
{
	struct outcome outcome;

	if (read(waiter->answer, &outcome, sizeof(outcome)) != sizeof(outcome))
		give_up("a waiter ended without an answer");
	close(waiter->answer);
	waitpid(waiter->pid, NULL, 0);
	return outcome;
}

void waiter_kill(struct waiter *waiter)
{
	kill_and_reap(waiter->pid);
	close(waiter->answer);
}

bool check_waits(const struct waiter *waiter, const char *text)
{
	return check(await_state(waiter->pid, EV_WAIT), "%s", text);
}

bool check_woken_by(struct waiter *waiter, const char *text, uint16_t key)
{
	const struct want want = {WAITER_HANDLER, EV_KEY, key, 1, ESM_EVENT_LAST};
	struct outcome outcome = waiter_finish(waiter);

	if (outcome.received < 0)
		note("esm_wait: %s", strerror(-outcome.received));
	return check(
		events_are(outcome.events, outcome.received < 0 ? 0 : outcome.received, &want, 1),
		"%s", text);
}
