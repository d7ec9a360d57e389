// SPDX-License-Identifier: BSD-3-Clause
/* The timers that tasks and programs wait for leave, too. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

/* A thread that sleeps once, until a time. */
struct sleeper {
	pthread_t thread;
	uint64_t until, late;
	atomic_int tid;
	int cpu;
};

static void *sleep_once(void *data)
{
	struct sleeper *sleeper = data;
	struct timespec until = clock_time(sleeper->until);

	allow(0, set_of(there, -1));
	atomic_store(&sleeper->tid, gettid());
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	sleeper->late = clock_ns() - sleeper->until;
	sleeper->cpu = sched_getcpu();
	return NULL;
}

/* A timer of each other kind that a program has, started on the CPU that leaves. */
static int start_timers(uint64_t ns, timer_t *clock)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec time = {.it_value = clock_time(ns)};
	struct itimerval interval = {.it_value.tv_usec = (suseconds_t)(ns / 1000)};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	allow(0, set_of(there, -1));
	if (fd < 0 || timerfd_settime(fd, 0, &time, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, clock) || timer_settime(*clock, 0, &time, NULL) ||
	    setitimer(ITIMER_REAL, &interval, NULL))
		bail("cannot start timers: %s", strerror(errno));
	allow(0, set_of(0, -1));
	return fd;
}

void test_timers(void)
{
	struct sleeper sleepers[10];
	uint64_t latest = 0, fired = 0;
	unsigned long woken = 0;
	sigset_t signals, pending;
	int strayed = 0, fd;
	timer_t clock;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	fd = start_timers(700 * MS, &clock);
	for (int i = 0; i < 10; i++) {
		memset(&sleepers[i], 0, sizeof(sleepers[i]));
		sleepers[i].until = clock_ns() + (300 + 40 * (unsigned int)i) * MS;
		must(-pthread_create(&sleepers[i].thread, NULL, sleep_once, &sleepers[i]),
		     "start a thread");
	}
	clock_sleep(100 * MS);
	for (int i = 0; i < 10; i++)
		allow(atomic_load(&sleepers[i].tid), set_of(0, there));
	count_wakes("1");
	out(there);
	for (int i = 0; i < 10; i++) {
		pthread_join(sleepers[i].thread, NULL);
		strayed += sleepers[i].cpu == there;
		if (sleepers[i].late > latest)
			latest = sleepers[i].late;
	}
	clock_sleep(200 * MS);
	woken = table("hrtimer_wakeup", true) + table("timerfd_tmrproc", false) +
		table("posix_timer_fn", false) + table("it_real_fn", false);
	check(woken <= 1, "ten tasks that sleep there, and other timers, wake it once: %lu times",
	      woken);
	count_wakes("0");
	check(strayed == 0, "none of the tasks wakes there: %d", strayed);
	check(latest < 100 * MS, "and none is late");
	note("%llu us", (unsigned long long)latest / 1000);
	sigpending(&pending);
	check(read(fd, &fired, sizeof(fired)) == sizeof(fired) && fired == 1 &&
		      sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGALRM),
	      "and the other timers have fired");
	while (sigtimedwait(&signals, NULL, &(struct timespec){0}) > 0)
		;
	timer_delete(clock);
	close(fd);
	all_in();
}
