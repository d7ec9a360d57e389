// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lets every CPU sleep long in one idle state and writes down, before and after, what Linux and
 * the firmware have counted; on gem5 it opens and closes a window of statistics at the same two
 * moments. No counter knows of a sleep that has not ended: at both moments every CPU is held
 * awake, by a thread that spins on it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "counter.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "m5.h"
#include "machine.h"
#include "options.h"
#include "pin.h"

#define FIRMWARE_FILE "/sys/kernel/debug/lull/psci_stat"
#define MAX_COUNT 100000
#define MAX_MS 100000

static const char usage[] =
	"usage: platform-check --state C1|C2|C3|C4 [--count N] [--sleep-ms N] [--out FILE]\n";

static const char *state_asked, *out_file = "/out/residency.jsonl";
static uint64_t count = 3, sleep_ms = 200;

static const struct option_to options[] = {
	{.name = "state", .text = &state_asked},
	{.name = "count", .number = &count, .least = 1, .most = MAX_COUNT},
	{.name = "sleep-ms", .number = &sleep_ms, .least = 1, .most = MAX_MS},
	{.name = "out", .text = &out_file},
	{0},
};

/* What a sleeper waits for; and how many of them have come that far. */
enum moment { ASSEMBLE, BEGIN, LEAVE };

static atomic_int now = ASSEMBLE;
static atomic_int arrived;

/* Awake on purpose: neither WFE nor a system call, which might idle the CPU. */
static void spin_until(enum moment moment)
{
	while (atomic_load_explicit(&now, memory_order_acquire) < (int)moment)
		__asm__ volatile("yield");
}

static void arrive(void)
{
	atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
}

static void sleep_long(void)
{
	const struct timespec length = clock_time(sleep_ms * 1000000);

	for (uint64_t i = 0; i < count; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

static void *sleeper(void *unused)
{
	arrive();
	spin_until(BEGIN);
	sleep_long();
	arrive();
	spin_until(LEAVE);
	return unused;
}

static void put_cpuidle(FILE *out, const char *edge, int cpu)
{
	static const char *const files[] = {"time", "usage", "above", "below", "rejected"};
	char name[IDLE_NAME_SIZE];

	for (int state = 0; state < IDLE_MAX_STATES && idle_name(cpu, state, name) == 0; state++) {
		struct jsonl line;
		uint64_t value;

		jsonl_begin(&line, out);
		jsonl_string(&line, "edge", edge);
		jsonl_string(&line, "source", "linux");
		jsonl_int(&line, "cpu", cpu);
		jsonl_string(&line, "state", name);
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
			if (idle_number(cpu, state, files[i], &value) == 0)
				jsonl_int(&line, files[i], (int64_t)value);
		jsonl_end(&line);
	}
}

static void put_firmware(FILE *out, const char *edge)
{
	FILE *file = fopen(FIRMWARE_FILE, "r");
	unsigned long long residency, entries;
	char state[IDLE_NAME_SIZE];
	unsigned int param;
	int cpu;

	if (!file)
		return;
	while (fscanf(file, "%d %15s %x %llu %llu", &cpu, state, &param, &residency, &entries) ==
	       5) {
		struct jsonl line;

		jsonl_begin(&line, out);
		jsonl_string(&line, "edge", edge);
		jsonl_string(&line, "source", "firmware");
		jsonl_int(&line, "cpu", cpu);
		jsonl_string(&line, "state", state);
		jsonl_int(&line, "param", param);
		jsonl_int(&line, "time", (int64_t)residency);
		jsonl_int(&line, "usage", (int64_t)entries);
		jsonl_end(&line);
	}
	fclose(file);
}

static void put_edge(FILE *out, const char *edge, const struct cpulist *cpus)
{
	uint64_t ticks = counter_now();
	struct jsonl line;

	if (machine_engine() == ENGINE_GEM5)
		m5_dump_reset_stats(0, 0);
	jsonl_begin(&line, out);
	jsonl_string(&line, "edge", edge);
	jsonl_string(&line, "source", "counter");
	jsonl_int(&line, "ticks", (int64_t)ticks);
	jsonl_int(&line, "frequency", (int64_t)counter_frequency());
	jsonl_string(&line, "asked", state_asked);
	jsonl_end(&line);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (cpus->has[cpu])
			put_cpuidle(out, edge, cpu);
	put_firmware(out, edge);
}

/* The first CPU is the caller's, the others get a thread each. Their number, or -errno. */
static int start(pthread_t *threads, const struct cpulist *cpus)
{
	int started = 0;
	bool here = false;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		int error;

		if (!cpus->has[cpu])
			continue;
		if (here)
			error = start_on_cpu(&threads[started++], cpu, sleeper, NULL);
		else
			error = pin_to_cpu(cpu);
		if (error)
			return error;
		here = true;
	}
	return started;
}

/* The spinning ones leave the main thread's CPU alone, and it has nothing to wait for but them. */
static void wait_for(int sleepers)
{
	while (atomic_load_explicit(&arrived, memory_order_acquire) < sleepers)
		__asm__ volatile("yield");
	atomic_store_explicit(&arrived, 0, memory_order_relaxed);
}

static int check(FILE *out, const struct cpulist *cpus)
{
	pthread_t threads[CPULIST_MAX];
	int sleepers = start(threads, cpus);

	if (sleepers < 0)
		return sleepers;
	wait_for(sleepers);
	put_edge(out, "begin", cpus);
	atomic_store_explicit(&now, BEGIN, memory_order_release);
	sleep_long();
	wait_for(sleepers);
	put_edge(out, "end", cpus);
	atomic_store_explicit(&now, LEAVE, memory_order_release);
	for (int i = 0; i < sleepers; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct idle_setting setting;
	struct cpulist cpus;
	FILE *out;
	int error, unwritten;

	(void)argc;
	options_parse(argv, options, usage);
	if (!state_asked) {
		fputs(usage, stderr);
		return 2;
	}
	error = cpulist_read(&cpus, "online");
	if (!error)
		error = idle_only(state_asked, &setting);
	if (error) {
		fprintf(stderr, "platform-check: %s: %s\n", state_asked, strerror(-error));
		return 1;
	}
	out = fopen(out_file, "w");
	if (!out) {
		fprintf(stderr, "platform-check: %s: %s\n", out_file, strerror(errno));
		idle_restore(&setting);
		return 1;
	}
	error = check(out, &cpus);
	idle_restore(&setting);
	unwritten = jsonl_finish(out);
	if (!error)
		error = unwritten;
	if (error)
		fprintf(stderr, "platform-check: %s\n", strerror(-error));
	return error ? 1 : 0;
}
