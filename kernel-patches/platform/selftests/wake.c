// SPDX-License-Identifier: BSD-3-Clause
/* wake [COUNT]: the wake recorder tells the truth, COUNT times (10) for each CPU and state. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpulist.h"
#include "idle.h"
#include "lull_wake.h"
#include "pin.h"
#include "tap.h"

#define MS 1000000ull

static int recorder;

static void pin(int cpu)
{
	int error = pin_to_cpu(cpu);

	if (error)
		tap_bail("cannot run on CPU %d: %s", cpu, strerror(-error));
}

static int ask(int fd, uint64_t delay_ns)
{
	const struct lull_wake_request request = {.delay_ns = delay_ns};

	return write(fd, &request, sizeof(request)) == sizeof(request) ? 0 : -errno;
}

static int answer(int fd, struct lull_wake_record *record)
{
	return read(fd, record, sizeof(*record)) == sizeof(*record) ? 0 : -errno;
}

static bool in_order(const struct lull_wake_record *record)
{
	if (record->irq < record->armed || record->task < record->irq)
		return false;
	if (record->flags & LULL_WAKE_SLEPT)
		return record->armed <= record->event && record->event <= record->irq;
	return record->state == 0 && record->depth == 0;
}

/* Stamps of firmware are all there and in order, or none is. */
static bool firmware_in_order(const struct lull_wake_record *record)
{
	if (!(record->flags & LULL_WAKE_FIRMWARE))
		return !record->fw_enter && !record->fw_exit && !record->hw_enter &&
		       !record->hw_exit;
	if (record->fw_enter < record->armed || record->fw_exit < record->fw_enter ||
	    record->irq < record->fw_exit)
		return false;
	return (!record->hw_enter && !record->hw_exit) ||
	       (record->fw_enter <= record->hw_enter && record->hw_enter <= record->hw_exit &&
		record->hw_exit <= record->fw_exit);
}

static void show(const struct lull_wake_record *record)
{
	tap_note("armed %llu event +%lld irq +%lld task +%lld cpu %u state %u depth %u flags %x",
		 (unsigned long long)record->armed, (long long)(record->event - record->armed),
		 (long long)(record->irq - record->armed),
		 (long long)(record->task - record->armed), record->cpu, record->state,
		 record->depth, record->flags);
}

static void test_state(int cpu, int state, int count)
{
	int ordered = 0, right = 0, slept = 0;
	uint32_t depth = (uint32_t)idle_depth(cpu, state);

	for (int i = 0; i < count; i++) {
		struct lull_wake_record record;
		int error;

		/* Long enough for the slowest entry, and at another phase of the tick each. */
		error = ask(recorder, 7 * MS + (uint64_t)i * 370001);
		if (!error)
			error = answer(recorder, &record);
		if (error) {
			tap_note("CPU %d state %d: %s", cpu, state, strerror(-error));
			continue;
		}
		ordered += in_order(&record) && firmware_in_order(&record);
		if (!in_order(&record) || !firmware_in_order(&record))
			show(&record);
		if (!(record.flags & LULL_WAKE_SLEPT)) {
			right += record.cpu == (uint32_t)cpu;
			continue;
		}
		slept++;
		if (record.cpu == (uint32_t)cpu && record.state == (uint32_t)state &&
		    record.depth == depth)
			right++;
		else
			show(&record);
	}
	tap_ok(ordered == count, "CPU %d in C%u: %d of %d records are in order", cpu, depth,
	       ordered, count);
	tap_ok(right == count, "CPU %d in C%u: %d of %d name this CPU and state", cpu, depth, right,
	       count);
	/* Another timer may come first now and then. */
	tap_ok(slept > count / 2, "CPU %d in C%u: it slept in %d of %d", cpu, depth, slept, count);
}

static void change(int cpu, struct idle_states *states, struct idle_states to)
{
	int error = idle_change(cpu, states, &to);

	if (error)
		tap_bail("cannot set the idle states of CPU %d: %s", cpu, strerror(-error));
	*states = to;
}

static void test_cpu(int cpu, int count)
{
	struct idle_states before, now;

	pin(cpu);
	if (idle_read(cpu, &before))
		tap_bail("cannot read the idle states of CPU %d", cpu);
	now = before;
	for (int only = 0; only < before.count; only++) {
		change(cpu, &now, idle_just(&before, only));
		test_state(cpu, only, count);
	}
	change(cpu, &now, before);
}

static void nothing(int signal)
{
	(void)signal;
}

static void test_signal(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 3000}};
	const struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	struct lull_wake_record record;

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &soon, NULL))
		tap_bail("no alarm: %s", strerror(errno));
	tap_ok(ask(recorder, 5000 * MS) == -EINTR, "a signal ends the sleep");
	tap_ok(answer(recorder, &record) == -ENODATA, "and leaves no record");
	tap_ok(ask(recorder, MS) == 0, "the next sleep is undisturbed");
}

static void test_second_sleeper(void)
{
	pid_t child = fork();

	if (child < 0)
		tap_bail("cannot fork: %s", strerror(errno));
	if (child == 0) {
		int fd = open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC);

		/* The parent's first sleep is long enough to find it asleep. */
		usleep(5000);
		_exit(fd >= 0 && ask(fd, MS) == -EBUSY ? 0 : 1);
	}

	int error = ask(recorder, 100 * MS);
	int status;

	waitpid(child, &status, 0);
	tap_ok(status == 0, "a second sleeper on this CPU is refused");
	tap_ok(error == 0, "and does not disturb the first: %s", strerror(-error));
}

static void test_refusals(void)
{
	struct lull_wake_record record;
	struct cpulist online;
	cpu_set_t all;
	int fd = open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC);
	/* Not known to the compiler, which would see that nothing is there. */
	void *volatile nowhere = (void *)8;

	if (fd < 0 || cpulist_read(&online, "online"))
		tap_bail("cannot open " LULL_WAKE_PATH " again");
	tap_ok(answer(fd, &record) == -ENODATA, "there is no record before a sleep");
	tap_ok(ask(fd, 0) == -EINVAL, "no delay is refused");
	tap_ok(ask(fd, 10000 * MS + 1) == -EINVAL, "more than 10 s is refused");
	tap_ok(write(fd, &record, 4) < 0 && errno == EINVAL, "half a request is refused");
	tap_ok(write(fd, &record, 16) < 0 && errno == EINVAL, "two requests are refused");
	tap_ok(write(fd, nowhere, 8) < 0 && errno == EFAULT, "a bad address is refused");
	tap_ok(ask(fd, MS) == 0, "a good request is taken after all these");
	tap_ok(read(fd, &record, sizeof(record) - 1) < 0 && errno == EINVAL,
	       "too small a buffer is refused");
	tap_ok(read(fd, nowhere, sizeof(record)) < 0 && errno == EFAULT, "a bad buffer is refused");

	CPU_ZERO(&all);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu])
			CPU_SET(cpu, &all);
	if (online.count > 1 && !sched_setaffinity(0, sizeof(all), &all))
		tap_ok(ask(fd, MS) == -EINVAL, "who is not pinned is refused");
	pin(0);
	close(fd);
}

static void test_others(void)
{
	if (seteuid(65534))
		tap_bail("cannot become nobody: %s", strerror(errno));
	tap_ok(open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC) < 0 && errno == EACCES,
	       "it is for root alone");
	if (seteuid(0))
		tap_bail("cannot become root: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	struct cpulist online;

	recorder = open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC);
	if (recorder < 0 || count < 1 || cpulist_read(&online, "online"))
		tap_bail("cannot open " LULL_WAKE_PATH ": %s", strerror(errno));
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu])
			test_cpu(cpu, count);
	pin(0);
	test_signal();
	test_second_sleeper();
	test_refusals();
	test_others();
	return tap_finish();
}
