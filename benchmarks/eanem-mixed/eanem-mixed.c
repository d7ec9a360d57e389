// SPDX-License-Identifier: BSD-3-Clause
/*
 * One parallel application with heartbeats, beside transfers. First it runs alone, on all CPUs at
 * their highest frequency: its goal is a part of that rate. Each thread is bound to a CPU
 * meanwhile, because Linux may leave CPUs idle for tens of milliseconds after threads have begun.
 * Then the transfers begin, and after a while the windows that count. Each thread's first unit, of
 * a known seed, is checked.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "heartbeat.h"
#include "jsonl.h"
#include "kernels.h"
#include "options.h"
#include "sysfs.h"
#include "transfers.h"
#include "windows.h"

#define MOST_STAMPS 200000
#define MOST_THREADS 16
#define CPUS 64
/* Until clocks have changed. */
#define BEGIN_US 1000
/* Between two looks whether all threads have begun. */
#define LOOK_US 100

static const char usage[] =
	"usage: eanem-mixed --kernel NAME --percent N --transfers N [--rate-kbit-s N]\n"
	"                   [--target-kbit-s N] [--rcvbuf BYTES] [--join 0|1]\n"
	"                   [--threads N] [--solo-us N]\n"
	"                   [--settle-us N] [--window-us N] [--windows N] [--rest-us N]\n"
	"  --percent: of the application's rate alone, which is its goal\n"
	"  --rate-kbit-s, --target-kbit-s: what the sender's kernel paces each transfer to, and\n"
	"                what the receiver's kernel holds it to; 0 is as fast as it goes\n"
	"  --rcvbuf: of each transfer; 0 for the kernel's choice\n"
	"  --join: tell a manager of the goal\n"
	"  --rest-us: sleep after each unit, for engines on which CPUs take turns\n";

static const char *name;
static struct transfers_hold hold;
static uint64_t percent = 50, transfer_count = 2, joins, threads = 8, solo_us = 2000,
		settle_us = 16000, window_us = 2000, windows = 4, rest_us;

static const struct option_to options[] = {
	{.name = "kernel", .text = &name},
	{.name = "percent", .number = &percent, .least = 1, .most = 100},
	{.name = "transfers", .number = &transfer_count, .least = 1, .most = TRANSFERS_MOST},
	{.name = "rate-kbit-s", .number = &hold.rate_kbit_s, .most = 10000000},
	{.name = "target-kbit-s", .number = &hold.target_kbit_s, .most = 10000000},
	{.name = "rcvbuf", .number = &hold.rcvbuf, .most = 1 << 30},
	{.name = "join", .number = &joins, .most = 1},
	{.name = "threads", .number = &threads, .least = 1, .most = MOST_THREADS},
	{.name = "solo-us", .number = &solo_us, .least = 100, .most = 100000000},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 100000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = TRANSFERS_WINDOWS},
	{.name = "rest-us", .number = &rest_us, .most = 1000000},
	{0},
};

/* The most that is not too much: a tenth more than the least. */
#define MARGIN 1.1

static const struct kernel *kernel;
static struct heartbeat heart;
static _Atomic bool over;
static _Atomic uint32_t wrong, units, begun;
static uint64_t stamps[MOST_STAMPS];

static int fail(const char *what, int error)
{
	fprintf(stderr, "eanem-mixed: %s: %s\n", what, strerror(-error));
	return 1;
}

static void *work(void *number)
{
	uint64_t seed = 1, *own = number;
	void *room = malloc(kernel->room);

	if (!room)
		exit(fail("memory", -ENOMEM));
	atomic_fetch_add(&begun, 1);
	while (!atomic_load(&over)) {
		uint64_t result = kernel->unit(seed, room);
		uint32_t unit = atomic_fetch_add(&units, 1);

		heartbeat_beat(&heart);
		if (seed == 1 && result != kernel->result)
			atomic_fetch_add(&wrong, 1);
		if (unit < MOST_STAMPS)
			stamps[unit] = clock_ns();
		if (rest_us)
			clock_sleep(rest_us * 1000);
		seed += *own + 1;
	}
	free(room);
	return NULL;
}

/* All CPUs at their highest frequency, or as before. Where there is no scaling, nothing. */
static void hurry(bool hurries)
{
	static char before[CPUS][32];
	char path[96], most[32];

	for (int cpu = 0; cpu < CPUS; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
		if (hurries && read_text(path, most, sizeof(most)))
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_min_freq", cpu);
		if (!hurries && *before[cpu]) {
			write_text(path, before[cpu]);
			*before[cpu] = '\0';
		}
		/* The first CPU of a cluster speaks for all of it. */
		if (hurries && !read_text(path, before[cpu], sizeof(before[cpu])) &&
		    (!strcmp(before[cpu], most) || write_text(path, most)))
			*before[cpu] = '\0';
	}
}

/* One of the CPUs in @all for each number, in turn. */
static cpu_set_t cpu_for(const cpu_set_t *all, int number)
{
	cpu_set_t one;
	int left = number % CPU_COUNT(all), cpu = 0;

	while (!CPU_ISSET(cpu, all) || left--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return one;
}

/* Each thread begins on a CPU of its own, as far as there are so many. 0 or -errno. */
static int begin(pthread_t *workers, uint64_t *numbers, const cpu_set_t *all)
{
	pthread_attr_t how;
	int error = -pthread_attr_init(&how);

	for (uint64_t i = 0; !error && i < threads; i++) {
		cpu_set_t own = cpu_for(all, (int)i);

		numbers[i] = i;
		error = -pthread_attr_setaffinity_np(&how, sizeof(own), &own);
		if (!error)
			error = -pthread_create(&workers[i], &how, work, &numbers[i]);
	}
	return error;
}

/* From here on Linux chooses. 0 or -errno. */
static int unbind(const pthread_t *workers, const cpu_set_t *all)
{
	int error = 0;

	for (uint64_t i = 0; !error && i < threads; i++)
		error = -pthread_setaffinity_np(workers[i], sizeof(*all), all);
	return error;
}

/* Beats a second, with nothing beside. */
static double solo(void)
{
	uint64_t began, beats;

	while (atomic_load(&begun) < threads)
		clock_sleep(LOOK_US * 1000);
	clock_sleep(BEGIN_US * 1000);
	began = clock_ns();
	beats = atomic_load(&heart.page->beats);
	clock_sleep_until(began + solo_us * 1000);
	beats = atomic_load(&heart.page->beats) - beats;
	return (double)beats * 1e9 / (double)(clock_ns() - began);
}

static int save_app(const struct windows *times, uint64_t begun, double alone)
{
	uint32_t count = atomic_load(&units);
	FILE *file = fopen("/out/application.jsonl", "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < times->windows; i++) {
		uint64_t from = begun + (times->settle_us + i * times->window_us) * 1000, beats = 0;

		for (uint32_t k = 0; k < count && k < MOST_STAMPS; k++)
			beats += stamps[k] >= from && stamps[k] < from + times->window_us * 1000;
		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_real(&line, "alone", alone);
		jsonl_real(&line, "goal", alone * (double)percent / 100);
		jsonl_int(&line, "beats", (int64_t)beats);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

static int save_transfers(const struct transfers *transfers)
{
	FILE *file = fopen("/out/transfers.jsonl", "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < transfer_count; i++) {
		for (uint64_t k = 0; k < windows; k++) {
			jsonl_begin(&line, file);
			jsonl_int(&line, "transfer", (int64_t)i);
			jsonl_int(&line, "window", (int64_t)k);
			jsonl_int(&line, "bytes", (int64_t)transfers_bytes(transfers, (int)i, k));
			jsonl_end(&line);
		}
	}
	return jsonl_finish(file);
}

static int set_goal(double alone)
{
	uint64_t least = (uint64_t)(alone * (double)percent * 10);
	int error = heartbeat_goal(&heart, least, (uint64_t)((double)least * MARGIN));

	if (error || !joins)
		return error;
	return heartbeat_join(&heart, HEARTBEAT_SOCKET);
}

/* Transfers first, so that the manager finds packets when the application comes. */
static int run(struct transfers *transfers, const pthread_t *workers, const cpu_set_t *all)
{
	const struct windows times = {settle_us, window_us, windows};
	uint64_t start, ordered;
	double alone = solo();
	int error = unbind(workers, all);

	hurry(false);
	if (error)
		return fail("unbinding threads", error);
	if (alone <= 0)
		return fail("no unit was done alone; give a longer --solo-us", -ETIME);
	error = transfers_connect(transfers, &hold);
	if (error)
		return fail("connecting", error);
	error = set_goal(alone);
	if (error)
		return fail("the goal", error);
	ordered = counter_now();
	start = clock_ns();
	windows_order(&times);
	transfers_begin(transfers, &times, start);
	clock_sleep_until(start + (settle_us + windows * window_us) * 1000);
	atomic_store(&over, true);
	error = transfers_end(transfers);
	if (error)
		return fail("a transfer", error);
	if (joins && !heartbeat_is_managed(&heart))
		return fail("the manager", -EPIPE);
	error = save_app(&times, start, alone);
	if (!error)
		error = save_transfers(transfers);
	if (!error)
		error = windows_save("/out/windows.jsonl", &times, ordered);
	return error ? fail("/out", error) : 0;
}

int main(int argc, char **argv)
{
	uint64_t numbers[MOST_THREADS];
	pthread_t workers[MOST_THREADS];
	struct transfers *transfers;
	cpu_set_t all;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	for (int i = 0; name && i < KERNELS; i++)
		if (!strcmp(kernels[i].name, name))
			kernel = &kernels[i];
	if (!kernel)
		return fputs(usage, stderr), 2;
	error = heartbeat_open(&heart, name, 1, HEARTBEAT_GOAL_MOST);
	if (error)
		return fail("a heart", error);
	/* Processes are made before threads. */
	transfers = transfers_make((int)transfer_count);
	if (!transfers)
		return fail("processes", -errno);
	if (sched_getaffinity(0, sizeof(all), &all))
		return fail("CPUs", -errno);
	hurry(true);
	error = begin(workers, numbers, &all);
	if (error)
		return fail("a thread", error);
	error = run(transfers, workers, &all);
	atomic_store(&over, true);
	for (uint64_t i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	hurry(false);
	if (atomic_load(&wrong)) {
		fprintf(stderr, "eanem-mixed: %u wrong results\n", atomic_load(&wrong));
		return 1;
	}
	return error;
}
