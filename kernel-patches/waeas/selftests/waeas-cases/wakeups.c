// SPDX-License-Identifier: BSD-3-Clause
#include "wakeups.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "tasks.h"

/* Wake-ups before those that count, as nobody knows what a new task will do. */
#define WARM_UP 25

int came_to[64];
bool waker_is_sensitive;
/* How often a waker wakes. */
#define EVERY (3 * MS)
/* How often it does now, and at what time after a multiple of it. */
static uint64_t wakes_every = EVERY, wakes_at;

int woken(enum sensitive sensitive, int by, int cpu)
{
	int to[2], from[2], here = 0, on[64] = {0};
	char byte = 0;
	pid_t sleeper, waker;

	if (pipe(to) || pipe(from))
		bail("no pipe: %s", strerror(errno));
	sleeper = fork();
	if (!sleeper) {
		/* A waker that has failed ends what is read. */
		close(to[1]);
		if (sensitive == BY_GROUP && write_text(GROUP "/cgroup.procs", "0"))
			_exit(1);
		if (sensitive >= BY_ITSELF && own_file(getpid(), "1"))
			_exit(1);
		if (sensitive == AND_CLAMPED)
			clamp();
		if (begins)
			begins();
		for (int i = 0; i < WARM_UP + RUNS && read(to[0], &byte, 1) == 1; i++)
			on[sched_getcpu()] += i >= WARM_UP;
		_exit(write(from[1], on, sizeof(on)) != sizeof(on));
	}
	waker = fork();
	if (!waker) {
		pin(by);
		if (waker_is_sensitive && own_file(getpid(), "1"))
			_exit(1);
		for (int i = 0; i < WARM_UP + RUNS; i++) {
			sleep_to(wakes_every, wakes_at);
			if (write(to[1], &byte, 1) != 1)
				_exit(1);
			spin_ns(100 * US);
		}
		_exit(0);
	}
	/* A sleeper that has failed ends what is read. */
	close(to[0]);
	close(to[1]);
	close(from[1]);
	if (read(from[0], on, sizeof(on)) != sizeof(on))
		bail("a task did not run");
	waitpid(waker, NULL, 0);
	waitpid(sleeper, NULL, 0);
	close(from[0]);
	memcpy(came_to, on, sizeof(on));
	for (int i = 0; i < mains; i++) {
		here += cpu < 0 ? is_little[i] * on[i] : (i == cpu) * on[i];
		if (on[i])
			note("%d on CPU %d", on[i], i);
	}
	return here;
}

static void wake(uint64_t every, uint64_t at)
{
	wakes_every = every;
	wakes_at = at;
}

int woken_every(uint64_t every, uint64_t at, int by, int cpu)
{
	int here;

	wake(every, at);
	here = woken(NOT, by, cpu);
	wake(EVERY, 0);
	return here;
}

int woken_in_beat(uint64_t at, int by, int cpu)
{
	return woken_every(BEAT, at, by, cpu);
}

int selected(enum sensitive sensitive, int cpu)
{
	unsigned long before, chosen;
	int count;

	for (int tries = 0; tries < 4; tries++) {
		before = stat_of("selected");
		count = woken(sensitive, mains - 1, cpu);
		chosen = stat_of("selected") - before;
		if (chosen >= RUNS * 9 / 10)
			return count;
		note("%lu of %d selected", chosen, RUNS);
	}
	return -1;
}

bool is_selected(enum sensitive sensitive, int cpu)
{
	return selected(sensitive, cpu) >= RUNS * 9 / 10;
}

bool is_packed(int by, int cpu, int least)
{
	unsigned long before;
	int count;

	for (int tries = 0; tries < 4; tries++) {
		before = stat_of("packed");
		count = woken(NOT, by, cpu);
		if (count >= least && stat_of("packed") >= before + (unsigned long)least)
			return true;
		note("%d, and %lu packed", count, stat_of("packed") - before);
	}
	return false;
}

bool is_packed_in_beat(uint64_t at, int by, int cpu, int least)
{
	bool packed;

	wake(BEAT, at);
	packed = is_packed(by, cpu, least);
	wake(EVERY, 0);
	return packed;
}
