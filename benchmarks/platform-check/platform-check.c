// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lets every CPU sleep long in one idle state and writes down, before and after, what Linux and
 * the firmware have counted; on gem5 it opens and closes a window of statistics at the same two
 * moments. No counter knows of a sleep that has not ended: at both moments every CPU is held
 * awake, by a thread that spins on it.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counter.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "m5.h"
#include "machine.h"

#define FIRMWARE_FILE "/sys/kernel/debug/lull/psci_stat"
#define MAX_COUNT 100000UL
#define MAX_MS 100000UL

struct options {
	const char *state;
	const char *out;
	unsigned long count, sleep_ms;
};

/* What a sleeper waits for; and how many of them have come that far. */
enum moment { ASSEMBLE, BEGIN, LEAVE };

static struct options options;
static atomic_int now = ASSEMBLE;
static atomic_int arrived;

static void usage(void)
{
	fprintf(stderr, "usage: platform-check --state C1|C2|C3|C4 [--count N] [--sleep-ms N] "
			"[--out FILE]\n");
	exit(2);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value == 0 || value > most)
		usage();
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{"state", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'n'},
		{"sleep-ms", required_argument, NULL, 'm'},
		{"out", required_argument, NULL, 'o'},
		{0},
	};
	int name;

	options = (struct options){.out = "/out/residency.jsonl", .count = 3, .sleep_ms = 200};
	while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (name) {
		case 's':
			options.state = optarg;
			break;
		case 'n':
			options.count = number(optarg, MAX_COUNT);
			break;
		case 'm':
			options.sleep_ms = number(optarg, MAX_MS);
			break;
		case 'o':
			options.out = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || !options.state)
		usage();
}

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
	const struct timespec length = {.tv_sec = (time_t)(options.sleep_ms / 1000),
					.tv_nsec = (long)(options.sleep_ms % 1000) * 1000000L};

	for (unsigned long i = 0; i < options.count; i++)
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
	unsigned long long residency, count;
	char state[IDLE_NAME_SIZE];
	unsigned int param;
	int cpu;

	if (!file)
		return;
	while (fscanf(file, "%d %15s %x %llu %llu", &cpu, state, &param, &residency, &count) == 5) {
		struct jsonl line;

		jsonl_begin(&line, out);
		jsonl_string(&line, "edge", edge);
		jsonl_string(&line, "source", "firmware");
		jsonl_int(&line, "cpu", cpu);
		jsonl_string(&line, "state", state);
		jsonl_int(&line, "param", param);
		jsonl_int(&line, "time", (int64_t)residency);
		jsonl_int(&line, "usage", (int64_t)count);
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
	jsonl_string(&line, "asked", options.state);
	jsonl_end(&line);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (cpus->has[cpu])
			put_cpuidle(out, edge, cpu);
	put_firmware(out, edge);
}

static int start(pthread_t *threads, const struct cpulist *cpus, int *main_cpu)
{
	int count = 0;

	*main_cpu = -1;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		pthread_attr_t attributes;
		cpu_set_t here;
		int error;

		if (!cpus->has[cpu])
			continue;
		CPU_ZERO(&here);
		CPU_SET(cpu, &here);
		if (*main_cpu < 0) {
			*main_cpu = cpu;
			if (sched_setaffinity(0, sizeof(here), &here))
				return -errno;
			continue;
		}
		pthread_attr_init(&attributes);
		pthread_attr_setaffinity_np(&attributes, sizeof(here), &here);
		error = pthread_create(&threads[count], &attributes, sleeper, NULL);
		pthread_attr_destroy(&attributes);
		if (error)
			return -error;
		count++;
	}
	return count;
}

/* The spinning ones leave the main thread's CPU alone, and it has nothing to wait for but them. */
static void wait_for(int count)
{
	while (atomic_load_explicit(&arrived, memory_order_acquire) < count)
		__asm__ volatile("yield");
	atomic_store_explicit(&arrived, 0, memory_order_relaxed);
}

static int check(FILE *out, const struct cpulist *cpus)
{
	pthread_t threads[CPULIST_MAX];
	int main_cpu, count = start(threads, cpus, &main_cpu);

	if (count < 0)
		return count;
	wait_for(count);
	put_edge(out, "begin", cpus);
	atomic_store_explicit(&now, BEGIN, memory_order_release);
	sleep_long();
	wait_for(count);
	put_edge(out, "end", cpus);
	atomic_store_explicit(&now, LEAVE, memory_order_release);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct idle_setting before;
	struct cpulist cpus;
	FILE *out;
	int error;

	parse(argc, argv);
	error = cpulist_read(&cpus, "online");
	if (!error)
		error = idle_only(options.state, &before);
	if (error) {
		fprintf(stderr, "platform-check: %s: %s\n", options.state, strerror(-error));
		return 1;
	}
	out = fopen(options.out, "w");
	if (!out) {
		fprintf(stderr, "platform-check: %s: %s\n", options.out, strerror(errno));
		idle_restore(&before);
		return 1;
	}
	error = check(out, &cpus);
	idle_restore(&before);
	if (fclose(out) && !error)
		error = -errno;
	if (error)
		fprintf(stderr, "platform-check: %s\n", strerror(-error));
	return error ? 1 : 0;
}
