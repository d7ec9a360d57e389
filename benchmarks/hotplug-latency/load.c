// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "load.h"

#define STACK (64 * 1024)

struct worker {
	pthread_t thread;
	uint64_t period_ns;
	uint64_t priority;
	_Atomic pid_t tid;
	_Atomic uint64_t loops, sum_ns, most_ns;
};

static struct worker *workers;
static uint64_t count;
static cpu_set_t everywhere;
static atomic_bool stopping;

static void *work(void *argument)
{
	struct worker *self = argument;
	const struct sched_param priority = {.sched_priority = (int)self->priority};
	uint64_t next = clock_ns();

	if (self->priority)
		sched_setscheduler(0, SCHED_FIFO, &priority);
	self->tid = (pid_t)syscall(SYS_gettid);
	while (!stopping) {
		struct timespec at;
		uint64_t late;

		next += self->period_ns;
		at = clock_time(next);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			;
		late = clock_ns() - next;
		self->loops++;
		self->sum_ns += late;
		if (late > self->most_ns)
			self->most_ns = late;
		/* As cyclictest, which does not run after wake-ups that it has missed. */
		if (late > self->period_ns)
			next += late / self->period_ns * self->period_ns;
	}
	return NULL;
}

int load_start(const struct load *load)
{
	pthread_attr_t attributes;
	int error = 0;

	if (sched_getaffinity(0, sizeof(everywhere), &everywhere))
		return -errno;
	if (load->not_on >= 0)
		CPU_CLR((size_t)load->not_on, &everywhere);
	workers = calloc(load->threads, sizeof(*workers));
	if (!workers)
		return -ENOMEM;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (count = 0; !error && count < load->threads; count++) {
		struct worker *own = &workers[count];

		own->period_ns = 1000 * (load->interval_us + count * load->distance_us);
		own->priority = load->priority;
		error = pthread_create(&own->thread, &attributes, work, own);
	}
	pthread_attr_destroy(&attributes);
	for (uint64_t i = 0; !error && i < count; i++)
		while (!workers[i].tid)
			sched_yield();
	return -error;
}

static int allow(const cpu_set_t *cpus)
{
	for (uint64_t i = 0; i < count; i++)
		if (sched_setaffinity(workers[i].tid, sizeof(*cpus), cpus))
			return -errno;
	return 0;
}

int load_hold(int cpu)
{
	cpu_set_t there;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	return allow(&there);
}

int load_release(void)
{
	return allow(&everywhere);
}

struct lateness load_lateness(void)
{
	struct lateness all = {0};

	for (uint64_t i = 0; i < count; i++) {
		uint64_t most = atomic_exchange(&workers[i].most_ns, 0);

		all.loops += atomic_exchange(&workers[i].loops, 0);
		all.sum_ns += atomic_exchange(&workers[i].sum_ns, 0);
		if (most > all.most_ns)
			all.most_ns = most;
	}
	return all;
}

int load_stop(void)
{
	stopping = true;
	for (uint64_t i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return 0;
}
