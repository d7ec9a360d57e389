// SPDX-License-Identifier: BSD-3-Clause
#include "others.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "path.h"
#include "report.h"
#include "tasks.h"

pid_t others[OTHERS];

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->signals, 1);
	if (!atomic_load(&shared->busy))
		return;
	while (atomic_load(&shared->busy))
		;
	atomic_store(&shared->due, clock_ns() + LONG_MS / 2 * MS);
	clock_sleep(LONG_MS / 2 * MS);
	atomic_store(&shared->slept, clock_ns());
}

static void say(struct log *log)
{
	uint32_t i = atomic_load(&log->count) % LOG;

	log->ns[i] = clock_ns();
	log->cpu[i] = sched_getcpu();
	atomic_fetch_add(&log->count, 1);
}

static void be(enum other which)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sched_param param = {.sched_priority = 1};
	uint64_t last = clock_ns();

	sigaction(SIGUSR1, &action, NULL);
	if (which == FIFO && sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(8);
	if (which == DUE && become_deadline_task(5 * MS, 10 * MS))
		_exit(8);
	for (;;) {
		if (which == HOG) {
			while (clock_ns() < last + MS)
				;
			last = clock_ns();
		} else {
			clock_sleep(2 * MS);
		}
		say(&shared->logs[which]);
		if (which == SLEEPER && atomic_exchange(&shared->stray, 0))
			tell(to_ui[1]);
	}
}

void start_other(enum other which)
{
	others[which] = fork();
	if (others[which] < 0)
		bail("no process: %s", strerror(errno));
	if (!others[which])
		be(which);
}

void must_go_on(enum other which)
{
	struct log *log = &shared->logs[which];
	uint32_t before = atomic_load(&log->count);

	for (int i = 0; atomic_load(&log->count) == before; i++) {
		if (i == 20000)
			bail("a task is lost: nobody lets it go");
		clock_sleep(MS);
	}
}

unsigned int ran(enum other which, uint64_t from, uint64_t to)
{
	struct log *log = &shared->logs[which];
	uint32_t count = atomic_load(&log->count), first = count > LOG ? count - LOG : 0;
	unsigned int times = 0;

	for (uint32_t i = first; i < count; i++)
		times += log->ns[i % LOG] > from && log->ns[i % LOG] < to;
	return times;
}

unsigned int ran_in_wait(enum other which)
{
	uint64_t begun = atomic_load(&shared->begun);

	/* At its end all are released, and another may run before the task that says so. */
	return ran(which, begun + SLACK_MS * MS, begun + (WAIT_MS - 1) * MS);
}
