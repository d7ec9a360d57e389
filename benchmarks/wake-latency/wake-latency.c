// SPDX-License-Identifier: BSD-3-Clause
/*
 * Wakes CPUs out of one idle state by a timer, again and again, and keeps every time stamp.
 *
 * A sleep is as long as the state's target residency and a random part, so that its end has no
 * fixed phase to the tick or any clock. On a simulator each instruction is paid for: the loop is
 * a write, a read and one step of a random generator; the file is written after the last sleep.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "lull_wake.h"
#include "machine.h"

/* The first ones find cold caches and page tables, which is another question. */
#define WARM_UP 3
#define MAX_COUNT 1000000UL
#define MAX_US 10000000UL

struct options {
	const char *state;
	const char *cpus;
	const char *out;
	unsigned long count, min_us, span_us, seed;
};

/* The file: a header, then samples. scripts/lull/figures/wake.py reads it. */
struct header {
	char magic[8];
	uint32_t version;
	uint32_t sample_size;
	uint64_t count;
	uint64_t frequency;
};

struct sample {
	uint64_t delay_ns;
	uint32_t cpu;
	uint32_t state;
	struct lull_wake_record record;
};

static void usage(void)
{
	fprintf(stderr, "usage: wake-latency --state C1|C2|C3|C4 [--cpus LIST] [--count N] "
			"[--min-us N] [--span-us N] [--seed N] [--out FILE]\n");
	exit(2);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > most)
		usage();
	return value;
}

static struct options parse(int argc, char **argv)
{
	static const struct option names[] = {
		{"state", required_argument, NULL, 's'},   {"cpus", required_argument, NULL, 'c'},
		{"count", required_argument, NULL, 'n'},   {"min-us", required_argument, NULL, 'm'},
		{"span-us", required_argument, NULL, 'p'}, {"seed", required_argument, NULL, 'r'},
		{"out", required_argument, NULL, 'o'},	   {0},
	};
	struct options options = {
		.cpus = "", .out = "/out/wake.bin", .count = 1000, .span_us = 1000, .seed = 1};
	int name;

	while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (name) {
		case 's':
			options.state = optarg;
			break;
		case 'c':
			options.cpus = optarg;
			break;
		case 'n':
			options.count = number(optarg, MAX_COUNT);
			break;
		case 'm':
			options.min_us = number(optarg, MAX_US);
			break;
		case 'p':
			options.span_us = number(optarg, MAX_US);
			break;
		case 'r':
			options.seed = number(optarg, ~0UL);
			break;
		case 'o':
			options.out = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || !options.state || !options.count)
		usage();
	return options;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "wake-latency: %s: %s\n", what, strerror(error));
}

/* The first CPU of each cluster: those after it are of the same kind. */
static int first_of_each_cluster(struct cpulist *list)
{
	struct cpulist online;
	char seen[CPULIST_MAX][32];
	int clusters = 0, error = cpulist_read(&online, "online");

	*list = (struct cpulist){0};
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		char path[96], package[12], cluster[12], place[32];
		int known = 0;

		if (!online.has[cpu])
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		error = read_text(path, package, sizeof(package));
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/cluster_id",
			 cpu);
		if (!error)
			error = read_text(path, cluster, sizeof(cluster));
		snprintf(place, sizeof(place), "%s/%s", package, cluster);
		while (known < clusters && strcmp(seen[known], place) != 0)
			known++;
		if (known < clusters)
			continue;
		strcpy(seen[clusters++], place);
		list->has[cpu] = true;
		list->count++;
	}
	return error;
}

/* splitmix64: one step is four instructions or so, and every seed is a good one. */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static int sleep_once(int recorder, uint64_t delay_ns, struct lull_wake_record *record)
{
	const struct lull_wake_request request = {.delay_ns = delay_ns};

	if (write(recorder, &request, sizeof(request)) != (ssize_t)sizeof(request) ||
	    read(recorder, record, sizeof(*record)) != (ssize_t)sizeof(*record))
		return errno ? -errno : -EIO;
	return 0;
}

static int measure(int cpu, const struct options *options, struct sample *samples)
{
	int state = idle_find(cpu, options->state);
	uint64_t seed = options->seed + ((uint64_t)cpu << 32);
	uint64_t shortest, span = options->span_us * 1000 + 1;
	struct lull_wake_record unused;
	cpu_set_t here;
	int recorder, error;

	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		return -errno;
	error = idle_number(cpu, state, "residency", &shortest);
	if (error)
		return error;
	if (shortest < options->min_us)
		shortest = options->min_us;
	shortest *= 1000;
	recorder = open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC);
	if (recorder < 0)
		return -errno;
	for (int i = 0; !error && i < WARM_UP; i++)
		error = sleep_once(recorder, shortest, &unused);
	for (unsigned long i = 0; !error && i < options->count; i++) {
		struct sample *sample = &samples[i];

		sample->delay_ns = shortest + next_random(&seed) % span;
		error = sleep_once(recorder, sample->delay_ns, &sample->record);
		sample->cpu = (uint32_t)cpu;
		sample->state = (uint32_t)state;
	}
	close(recorder);
	return error;
}

static int save(const char *path, const struct sample *samples, size_t count)
{
	struct header header = {
		.magic = "LULLWAKE",
		.version = 1,
		.sample_size = sizeof(*samples),
		.count = count,
		.frequency = counter_frequency(),
	};
	FILE *file = fopen(path, "wb");
	bool whole;

	if (!file)
		return -errno;
	whole = fwrite(&header, sizeof(header), 1, file) == 1 &&
		fwrite(samples, sizeof(*samples), count, file) == count;
	if (fclose(file) || !whole)
		return errno ? -errno : -EIO;
	return 0;
}

static void tell(int cpu, const char *state, const char *what)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", cpu);
	jsonl_string(&line, "state", state);
	jsonl_string(&line, "result", what);
	jsonl_end(&line);
}

int main(int argc, char **argv)
{
	const struct options options = parse(argc, argv);
	struct idle_setting before;
	struct cpulist cpus;
	struct sample *samples;
	size_t taken = 0;
	int error =
		*options.cpus ? cpulist_parse(&cpus, options.cpus) : first_of_each_cluster(&cpus);

	if (error || !cpus.count) {
		fail("the list of CPUs", error ? -error : EINVAL);
		return 2;
	}
	error = idle_only(options.state, &before);
	if (error) {
		fail(options.state, -error);
		return 1;
	}
	samples = malloc((size_t)cpus.count * options.count * sizeof(*samples));
	if (!samples) {
		fail("memory for the samples", ENOMEM);
		idle_restore(&before);
		return 1;
	}
	/* Touched now: a page fault in the loop would be measured with it. */
	memset(samples, 1, (size_t)cpus.count * options.count * sizeof(*samples));
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		if (!cpus.has[cpu])
			continue;
		if (!before.cpus.has[cpu]) {
			tell(cpu, options.state, "absent");
			continue;
		}
		error = measure(cpu, &options, samples + taken);
		if (error) {
			fail("recording wakes", -error);
		} else {
			tell(cpu, options.state, "measured");
			taken += options.count;
		}
	}
	idle_restore(&before);
	if (!error && taken) {
		error = save(options.out, samples, taken);
		if (error)
			fail(options.out, -error);
	}
	free(samples);
	return error || !taken ? 1 : 0;
}
