// SPDX-License-Identifier: BSD-3-Clause
#include "workers.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "task_state.h"
#include "tasks.h"

struct worker heir;
atomic_bool *busy;

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

static void stay_busy(int number)
{
	(void)number;
	while (atomic_load(busy))
		;
}

static void work(int from, int to)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction stay = {.sa_handler = stay_busy};
	struct answer answer;
	char byte;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &stay, NULL);
	for (;;) {
		ssize_t got = read(from, &byte, 1);

		if (got < 0 && errno != EINTR)
			_exit(2);
		if (!got)
			_exit(0);
		if (byte == *FORK && !fork()) {
			from = heir.to;
			to = heir.from;
		}
		if (byte == *SLEEP)
			clock_sleep(SLEEP_MS * MS);
		answer = (struct answer){getpid(), sched_getcpu(), clock_ns()};
		if (write(to, &answer, sizeof(answer)) != sizeof(answer))
			_exit(3);
	}
}

static int become(int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO};

	if (policy == SCHED_DEADLINE)
		return become_deadline_task(10 * MS, 100 * MS);
	return sched_setscheduler(0, policy, &param);
}

void await_sleep(pid_t pid)
{
	if (!task_rests(pid))
		bail("task %d does not go to sleep", pid);
}

struct worker start(const char *group, int policy)
{
	int to[2], from[2];
	struct worker worker;
	char path[128];
	struct answer hello;

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	worker.pid = fork();
	if (!worker.pid) {
		close(to[1]);
		close(from[0]);
		snprintf(path, sizeof(path), "%s/cgroup.procs", group);
		if (write_text(path, "0") || become(policy))
			_exit(4);
		if (write(from[1], &hello, sizeof(hello)) != sizeof(hello))
			_exit(5);
		work(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	worker.to = to[1];
	worker.from = from[0];
	if (read(worker.from, &hello, sizeof(hello)) != sizeof(hello))
		bail("a worker did not start");
	await_sleep(worker.pid);
	return worker;
}

void ask(const struct worker *worker)
{
	if (write(worker->to, "", 1) != 1)
		bail("cannot ask: %s", strerror(errno));
}

struct answer hear_at_once(const struct worker *worker)
{
	struct pollfd ready = {.fd = worker->from, .events = POLLIN};
	struct answer answer;

	if (poll(&ready, 1, 30000) != 1)
		bail("a worker does not answer");
	if (read(worker->from, &answer, sizeof(answer)) != sizeof(answer))
		bail("a worker has gone");
	return answer;
}

struct answer hear(const struct worker *worker)
{
	struct answer answer = hear_at_once(worker);

	await_sleep(answer.pid);
	return answer;
}

bool answers_within(const struct worker *worker, int ms)
{
	struct pollfd ready = {.fd = worker->from, .events = POLLIN};

	return poll(&ready, 1, ms) == 1;
}

bool has_answered(const struct worker *worker)
{
	return answers_within(worker, 0);
}

void stop(struct worker *worker)
{
	/* -1 would be everybody. */
	if (worker->pid <= 0)
		bail("a worker did not start");
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, 0);
	close(worker->to);
	close(worker->from);
}
