// SPDX-License-Identifier: BSD-3-Clause
/* Very many changes at random, while tasks run, others read and write, and CPUs go offline. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "clock.h"
#include "cpulist.h"
#include "cpus.h"
#include "random.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"
#include "workers.h"

static atomic_bool over;
static atomic_int wrong;

/* Another writer, of single CPUs. Errors that the README names are fine. */
static void *writes(void *seed)
{
	uint64_t random = (uintptr_t)seed;

	while (!atomic_load(&over)) {
		int cpu = (int)(next_random(&random) % CPULIST_MAX);
		int error;

		if (!mains.has[cpu])
			continue;
		error = put_cpu(cpu, "pseudo_online", next_random(&random) % 2 ? "0" : "1");
		if (error && error != -EBUSY && error != -ENODEV && error != -EOPNOTSUPP) {
			note("concurrent writer: %s", strerror(-error));
			atomic_fetch_add(&wrong, 1);
		}
		clock_sleep(next_random(&random) % (3 * MS));
	}
	return NULL;
}

/* A list never names all. */
static void *reads(void *unused)
{
	struct cpulist list;
	char text[256];

	while (!atomic_load(&over)) {
		int in = 0;

		memset(&list, 0, sizeof(list));
		if (read_text(LIST, text, sizeof(text)) || (text[0] && cpulist_parse(&list, text)))
			atomic_fetch_add(&wrong, 1);
		for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
			in += mains.has[cpu] && !list.has[cpu];
		if (!in) {
			note("all are out: %s", text);
			atomic_fetch_add(&wrong, 1);
		}
		clock_sleep(MS);
	}
	return unused;
}

void test_stress(int toggles)
{
	struct worker workers[6];
	pthread_t others[2];
	uint64_t random = 42;
	int done = 0, refused = 0, hotplugs = 0, lost = 0, cpu;

	for (int i = 0; i < 6; i++)
		start(&workers[i], everywhere, i < 5 ? (uint64_t)(i + 1) * MS / 2 : 0);
	pthread_create(&others[0], NULL, writes, (void *)7);
	pthread_create(&others[1], NULL, reads, NULL);

	while (done < toggles) {
		char list[CPULIST_TEXT];
		uint64_t cpus = 0;
		int error;

		for (cpu = 0; cpu < CPULIST_MAX; cpu++)
			if (mains.has[cpu] && next_random(&random) % 2)
				cpus |= 1ULL << cpu;
		cpulist_text(cpus, list);
		error = put_list(cpus ? list : "\n");
		if (error == -EBUSY || error == -ENODEV)
			refused++;
		else if (error)
			atomic_fetch_add(&wrong, 1);
		done++;
		if (done % 50 == 0) {
			hotplugs += !put_cpu(there, "online", "0");
			put_list("\n");
			put_cpu(there, "online", "1");
		}
		if (done % 16 == 0) {
			cpu = (int)(next_random(&random) % 6);
			allow(atomic_load(&workers[cpu].tid),
			      next_random(&random) % 2 ? everywhere : set_of(0, there));
		}
		if (done % 64 == 0)
			count_wakes(done % 128 ? "1" : "0");
		if (done % 512 == 0) {
			turn("0");
			turn("1");
		}
		if (next_random(&random) % 4 == 0)
			clock_sleep(next_random(&random) % MS);
	}
	count_wakes("0");
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	/* All CPUs out but one, and every task still runs. */
	must(put_list(all_but(0)), "take all out but CPU 0");
	for (int i = 0; i < 6; i++)
		lost += grows_in(100 * MS, &workers[i].rounds) == 0;
	check(lost == 0, "after %d changes no task is lost: %d of 6", done, lost);
	lost = 0;
	for (int i = 0; i < 6; i++)
		lost += (int)grows_in(10 * MS, &workers[i].there);
	check(lost == 0, "and none is on a CPU that is out");
	check(atomic_load(&wrong) == 0, "concurrent writers and readers see what the README says");
	note("%d changes refused, %d times offline and online", refused, hotplugs);
	all_in();
	for (int i = 0; i < 6; i++)
		stop(&workers[i]);
	lost = 0;
	for (cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu])
			nudge(cpu);
	check(true, "every CPU works");
}
