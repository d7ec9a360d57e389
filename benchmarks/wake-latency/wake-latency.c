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
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "lull_wake.h"
#include "options.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"

/* The first ones find cold caches and page tables, which is another question. */
#define WARM_UP 3
#define MAX_COUNT 1000000
#define MAX_US 10000000

static const char usage[] =
	"usage: wake-latency --state C1|C2|C3|C4 [--cpus LIST] [--count N] [--min-us N] "
	"[--span-us N] [--seed N] [--out FILE]\n";

static const char *state_name, *cpus_asked = "", *out = "/out/wake.bin";
static uint64_t count = 1000, min_us, span_us = 1000, first_seed = 1;

static const struct option_to options[] = {
	{.name = "state", .text = &state_name},
	{.name = "cpus", .text = &cpus_asked},
	{.name = "count", .number = &count, .least = 1, .most = MAX_COUNT},
	{.name = "min-us", .number = &min_us, .most = MAX_US},
	{.name = "span-us", .number = &span_us, .most = MAX_US},
	{.name = "seed", .number = &first_seed, .most = UINT64_MAX},
	{.name = "out", .text = &out},
	{0},
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

static void fail(const char *what, int error)
{
	fprintf(stderr, "wake-latency: %s: %s\n", what, strerror(error));
}

/* The first CPU of each cluster: those after it are of the same kind. */
static int first_of_each_cluster(struct cpulist *list)
{
	struct cpulist online, cluster;
	char path[96], text[256];
	int error = cpulist_read(&online, "online");

	*list = (struct cpulist){0};
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		if (!online.has[cpu])
			continue;
		list->has[cpu] = true;
		list->count++;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/cluster_cpus_list", cpu);
		error = read_text(path, text, sizeof(text));
		if (!error)
			error = cpulist_parse(&cluster, text);
		for (int other = 0; !error && other < CPULIST_MAX; other++)
			online.has[other] &= !cluster.has[other];
	}
	return error;
}

static int sleep_once(int recorder, uint64_t delay_ns, struct lull_wake_record *record)
{
	const struct lull_wake_request request = {.delay_ns = delay_ns};

	if (write(recorder, &request, sizeof(request)) != (ssize_t)sizeof(request) ||
	    read(recorder, record, sizeof(*record)) != (ssize_t)sizeof(*record))
		return errno ? -errno : -EIO;
	return 0;
}

static int measure(int recorder, int cpu, struct sample *samples)
{
	int error, state = idle_find(cpu, state_name);
	uint64_t seed = first_seed + ((uint64_t)cpu << 32);
	uint64_t shortest, span = span_us * 1000 + 1;
	struct lull_wake_record unused;

	error = pin_to_cpu(cpu);
	if (!error)
		error = idle_number(cpu, state, "residency", &shortest);
	if (error)
		return error;
	if (shortest < min_us)
		shortest = min_us;
	shortest *= 1000;
	for (int i = 0; !error && i < WARM_UP; i++)
		error = sleep_once(recorder, shortest, &unused);
	for (uint64_t i = 0; !error && i < count; i++) {
		struct sample *sample = &samples[i];

		sample->delay_ns = shortest + next_random(&seed) % span;
		error = sleep_once(recorder, sample->delay_ns, &sample->record);
		sample->cpu = (uint32_t)cpu;
		sample->state = (uint32_t)state;
	}
	return error;
}

static int write_all(int fd, const void *data, size_t length)
{
	const char *from = data;

	while (length > 0) {
		ssize_t done = write(fd, from, length);

		if (done < 0)
			return -errno;
		from += done;
		length -= (size_t)done;
	}
	return 0;
}

static int save(const struct sample *samples, size_t taken)
{
	const struct header header = {
		.magic = "LULLWAKE",
		.version = 1,
		.sample_size = sizeof(*samples),
		.count = taken,
		.frequency = counter_frequency(),
	};
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, &header, sizeof(header));
	if (!error)
		error = write_all(fd, samples, taken * sizeof(*samples));
	close(fd);
	return error;
}

static void tell(int cpu, const char *what)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", cpu);
	jsonl_string(&line, "state", state_name);
	jsonl_string(&line, "result", what);
	jsonl_end(&line);
}

static int measure_all(int recorder, const struct cpulist *cpus, const struct cpulist *able,
		       struct sample *samples, size_t *taken)
{
	int error = 0;

	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		if (!cpus->has[cpu])
			continue;
		if (!able->has[cpu]) {
			tell(cpu, "absent");
			continue;
		}
		error = measure(recorder, cpu, samples + *taken);
		if (error)
			continue;
		tell(cpu, "measured");
		*taken += count;
	}
	return error;
}

int main(int argc, char **argv)
{
	struct idle_setting setting;
	struct sample *samples;
	struct cpulist cpus;
	size_t size, taken = 0;
	int error, recorder;

	(void)argc;
	options_parse(argv, options, usage);
	if (!state_name) {
		fputs(usage, stderr);
		return 2;
	}
	error = *cpus_asked ? cpulist_parse(&cpus, cpus_asked) : first_of_each_cluster(&cpus);
	if (error || !cpus.count) {
		fail("the list of CPUs", error ? -error : EINVAL);
		return 2;
	}

	/* All pages at once: a page fault in the loop would be measured with it. */
	size = (size_t)cpus.count * count * sizeof(*samples);
	samples = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (samples == MAP_FAILED) {
		fail("memory for the samples", errno);
		return 1;
	}
	/* Once, and while no CPU sleeps deeply: it interrupts all of them, and waits. */
	recorder = open(LULL_WAKE_PATH, O_RDWR | O_CLOEXEC);
	if (recorder < 0) {
		fail(LULL_WAKE_PATH, errno);
		return 1;
	}
	error = idle_only(state_name, &setting);
	if (error) {
		fail(state_name, -error);
		return 1;
	}
	error = measure_all(recorder, &cpus, &setting.cpus, samples, &taken);
	idle_restore(&setting);
	if (error)
		fail("recording wakes", -error);
	else if (taken && (error = save(samples, taken)))
		fail(out, -error);
	return error || !taken;
}
