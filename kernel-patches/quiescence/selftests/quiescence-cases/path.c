// SPDX-License-Identifier: BSD-3-Clause
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "events.h"
#include "report.h"
#include "shared.h"
#include "sysfs.h"
#include "system.h"

pid_t ui, net, asker;
int to_net[2], to_ui[2], crowd[CROWD][2], last[2];
int pair[2], counter;

void tell(int to)
{
	if (write(to, "", 1) != 1)
		_exit(2);
}

void tell_word(_Atomic int *word)
{
	atomic_store(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

static void hear_word(_Atomic int *word)
{
	while (!atomic_exchange(word, 0))
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL);
}

void hear(int from)
{
	char byte;

	while (read(from, &byte, 1) != 1)
		if (errno != EINTR)
			_exit(3);
}

static void work_around(void)
{
	struct cpulist online;
	char rest[CPULIST_TEXT];
	int mine = sched_getcpu();

	if (cpulist_read(&online, "online"))
		_exit(4);
	/* All but this one: then no other CPU is asked to wake the worker. */
	cpulist_text(cpulist_mask(&online) & ~(1ULL << mine), rest);
	if (write_text(OUT, rest))
		_exit(5);
	hear(to_ui[0]);
	write_text(OUT, "\n");
}

static void tell_asker(void)
{
	uint64_t one = 1;

	switch ((enum kind)atomic_load(&shared->kind)) {
	case SOCKET:
		tell(pair[1]);
		break;
	case EVENTFD:
		if (write(counter, &one, sizeof(one)) != sizeof(one))
			_exit(2);
		break;
	case SIGNAL:
		kill(asker, SIGUSR2);
		break;
	default:
		tell_word(&shared->told);
		break;
	}
	hear(to_ui[0]);
}

void ask_when_told(void)
{
	uint64_t sum;
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (;;) {
		switch ((enum kind)atomic_load(&shared->kind)) {
		case SOCKET:
			hear(pair[0]);
			break;
		case EVENTFD:
			if (read(counter, &sum, sizeof(sum)) != sizeof(sum))
				_exit(3);
			break;
		case SIGNAL:
			sigwait(&set, &number);
			break;
		default:
			hear_word(&shared->told);
			break;
		}
		tell(to_net[1]);
	}
}

static void consume(void)
{
	struct events events;
	struct event event;
	struct pollfd ready = {.events = POLLIN};

	if (events_open(&events))
		_exit(4);
	ready.fd = events.fd;
	atomic_fetch_add(&shared->listening, 1);
	for (;;) {
		int got = events_next(&events, &event);

		if (got < 0)
			_exit(5);
		if (!got) {
			poll(&ready, 1, -1);
			continue;
		}
		if (event.type != EV_KEY || event.value != 1)
			continue;
		switch ((enum act)atomic_load(&shared->act)) {
		case CHAIN:
			tell(to_net[1]);
			hear(to_ui[0]);
			break;
		case STRAY:
			hear(to_ui[0]);
			break;
		case STRAY_FUTEX:
			hear_word(&shared->word);
			break;
		case WORK:
			work_around();
			break;
		case MANY:
			for (int i = 0; i < CROWD; i++)
				tell(crowd[i][1]);
			break;
		case CHILD:
			if (!fork()) {
				tell(to_net[1]);
				hear(to_ui[0]);
				_exit(0);
			}
			wait(NULL);
			break;
		case END:
			if (!fork()) {
				/* Until its parent has closed the pipe. */
				clock_sleep(20 * MS);
				_exit(0);
			}
			close(last[1]);
			wait(NULL);
			break;
		case KIND:
			tell_asker();
			break;
		}
		atomic_fetch_add(&shared->done, 1);
	}
}

void allow_all(pid_t pid)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(pid, sizeof(all), &all))
		_exit(10);
}

bool network_waits(void)
{
	return atomic_load(&shared->ended) < atomic_load(&shared->begun);
}

static void answer(void)
{
	/* It stays where it is, and may sleep anywhere. */
	if (atomic_load(&shared->widen))
		allow_all(0);
	atomic_store(&shared->begun, clock_ns());
	clock_sleep(atomic_load(&shared->wait_ms) * MS);
	atomic_store(&shared->ended, clock_ns());
	tell(to_ui[1]);
}

void wait_for_network(void)
{
	for (;;) {
		hear(to_net[0]);
		answer();
	}
}

void watch(void)
{
	struct pollfd file = {.fd = open(OUT, O_RDONLY), .events = POLLPRI};
	char text[256];

	/* It may be told late of CPUs that have come back. */
	do {
		if (pread(file.fd, text, sizeof(text), 0) <= 0)
			_exit(6);
		atomic_store(&shared->watching, 1);
		if (*text == '\n' && poll(&file, 1, -1) != 1)
			_exit(6);
	} while (*text == '\n');
	answer();
	pause();
}

void await_end(void)
{
	char byte;

	prctl(PR_SET_NAME, "\nmember 1 1 x");
	close(last[1]);
	if (read(last[0], &byte, 1))
		_exit(7);
	pause();
}

pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		bail("no process: %s", strerror(errno));
	if (!pid) {
		run();
		_exit(9);
	}
	return pid;
}

void start_ui(void)
{
	uint32_t before = atomic_load(&shared->listening);

	ui = start(consume);
	for (int i = 0; atomic_load(&shared->listening) == before; i++) {
		if (i == 20000)
			bail("the consumer does not listen");
		clock_sleep(MS);
	}
}

void stop(pid_t pid)
{
	/* -1 would be everybody. */
	if (pid <= 0)
		bail("a process did not start");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
