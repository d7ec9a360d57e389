// SPDX-License-Identifier: BSD-3-Clause
#include "workers.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "system.h"

static void *work(void *data)
{
	struct worker *worker = data;

	allow(0, worker->first);
	atomic_store(&worker->tid, gettid());
	while (!atomic_load(&worker->stop)) {
		int cpu = sched_getcpu();

		atomic_store(&worker->cpu, cpu);
		atomic_fetch_add(&worker->rounds, 1);
		if (cpu == there)
			atomic_fetch_add(&worker->there, 1);
		if (worker->pause_ns)
			clock_sleep(worker->pause_ns);
	}
	return NULL;
}

void start(struct worker *worker, cpu_set_t first, uint64_t pause_ns)
{
	memset(worker, 0, sizeof(*worker));
	worker->first = first;
	worker->pause_ns = pause_ns;
	must(-pthread_create(&worker->thread, NULL, work, worker), "start a thread");
	while (!atomic_load(&worker->rounds))
		clock_sleep(MS);
}

void stop(struct worker *worker)
{
	atomic_store(&worker->stop, true);
	pthread_join(worker->thread, NULL);
}

unsigned long grows_in(uint64_t ns, atomic_ulong *which)
{
	unsigned long before = atomic_load(which);

	clock_sleep(ns);
	return atomic_load(which) - before;
}

void nudge(int cpu)
{
	struct worker visitor;

	start(&visitor, set_of(cpu, -1), MS);
	stop(&visitor);
}
