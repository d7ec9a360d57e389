// SPDX-License-Identifier: BSD-3-Clause
/*
 * What it costs a CPU that its caches, or its branch predictor, have lost what was in them. Nothing
 * sleeps here: lines are displaced by others, or flushed by their address, and branches are trained
 * the other way. So the loss is real in a simulator whose caches outlive every sleep.
 *
 *	cold-caches [--cpus LIST] [--repetitions N] [--first-kib N] [--second-kib N]
 *
 * One JSON line for each repetition: the CPU, what was lost, how it was gone through, how many
 *lines or branches, and the counter's ticks for a pass before and after the loss.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counter.h"
#include "cpulist.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "random.h"

#define OUT_FILE "/out/losses.jsonl"
#define LINE_BYTES 64
#define TRAINING 16
#define BRANCHES 512

static const char usage[] =
	"usage: cold-caches [--cpus LIST] [--repetitions N] [--first-kib N] [--second-kib N]\n";

static const char *cpus_asked = "";
/* A working set that fits into the first level, and one that fits into the second only. */
static uint64_t repetitions = 5, first_kib = 16, second_kib = 256;

static const struct option_to options[] = {
	{.name = "cpus", .text = &cpus_asked},
	{.name = "repetitions", .number = &repetitions, .least = 2, .most = 1000},
	{.name = "first-kib", .number = &first_kib, .least = 1, .most = 1 << 16},
	{.name = "second-kib", .number = &second_kib, .least = 1, .most = 1 << 16},
	{0},
};

struct line {
	struct line *next;
	uint64_t value;
	char rest[LINE_BYTES - sizeof(struct line *) - sizeof(uint64_t)];
};

static struct line *lines, *others;
static uint8_t taken[2][BRANCHES];
static FILE *out;

__attribute__((noreturn)) static void fail(const char *what, int error)
{
	fprintf(stderr, "cold-caches: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static struct line *pages(uint64_t kib)
{
	void *found = mmap(NULL, kib * 1024, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (found == MAP_FAILED)
		fail("memory", errno);
	return found;
}

/* One cycle through all lines, in no order that a prefetcher could guess. */
static void chain(uint64_t count)
{
	uint64_t seed = 1, *order = malloc(count * sizeof(*order));

	if (!order)
		fail("memory", ENOMEM);
	for (uint64_t i = 0; i < count; i++)
		order[i] = i;
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t other = next_random(&seed) % (i + 1), swapped = order[i];

		order[i] = order[other];
		order[other] = swapped;
	}
	for (uint64_t i = 0; i < count; i++)
		lines[order[i]].next = &lines[order[(i + 1) % count]];
	free(order);
}

/* As a program that goes over an array: the next address is known before this line is there. */
static void in_order(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += lines[i].value;
	__asm__ volatile("" ::"r"(sum));
}

/* As one that follows pointers: it is not. */
static void along_chain(uint64_t count)
{
	const struct line *at = lines;

	for (uint64_t i = 0; i < count; i++)
		at = at->next;
	__asm__ volatile("" ::"r"(at));
}

static void write_all(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		lines[i].value++;
}

/* The first level loses the lines to others, which are as many as fill it several times. */
static void displace(uint64_t count)
{
	volatile struct line *other = others;

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < 8 * count; i++)
			other[i].value++;
}

/* No cache has them any more. */
static void flush(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		__asm__ volatile("dc civac, %0" ::"r"(&lines[i]) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

static uint64_t timed(void (*pass)(uint64_t), uint64_t count)
{
	uint64_t begin = counter_now();

	pass(count);
	/* A load whose value nobody waits for is a part of the pass too. */
	__asm__ volatile("dsb sy" ::: "memory");
	return counter_now() - begin;
}

static void print(int cpu, const char *lost, const char *way, uint64_t count, uint64_t before,
		  uint64_t after)
{
	struct jsonl line;

	jsonl_begin(&line, out);
	jsonl_int(&line, "cpu", cpu);
	jsonl_string(&line, "lost", lost);
	jsonl_string(&line, "way", way);
	jsonl_int(&line, "count", (int64_t)count);
	jsonl_int(&line, "before", (int64_t)before);
	jsonl_int(&line, "after", (int64_t)after);
	jsonl_int(&line, "hz", (int64_t)counter_frequency());
	jsonl_end(&line);
}

static void lose(int cpu, const char *lost, void (*forget)(uint64_t), uint64_t kib)
{
	static const struct {
		const char *name;
		void (*pass)(uint64_t);
	} ways[] = {{"in order", in_order}, {"along a chain", along_chain}};
	uint64_t count = kib * 1024 / LINE_BYTES;

	chain(count);
	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
		for (uint64_t i = 0; i < repetitions; i++) {
			uint64_t before, after;

			write_all(count);
			for (int pass = 0; pass < TRAINING / 4; pass++)
				ways[way].pass(count);
			before = timed(ways[way].pass, count);
			forget(count);
			after = timed(ways[way].pass, count);
			print(cpu, lost, ways[way].name, count, before, after);
		}
}

/* Writing back what is dirty, beside going over what is not there. */
static void write_back(int cpu, uint64_t kib)
{
	uint64_t count = kib * 1024 / LINE_BYTES;

	for (uint64_t i = 0; i < repetitions; i++) {
		uint64_t before, after;

		flush(count);
		before = timed(flush, count);
		write_all(count);
		after = timed(flush, count);
		print(cpu, "dirty lines", "by address", count, before, after);
	}
}

#define BRANCH "ldrb %w0, [%1], #1\n\tcbz %w0, 1f\n\tadd %2, %2, #1\n1:\n\t"
#define BRANCH_8 BRANCH BRANCH BRANCH BRANCH BRANCH BRANCH BRANCH BRANCH
#define BRANCH_64 BRANCH_8 BRANCH_8 BRANCH_8 BRANCH_8 BRANCH_8 BRANCH_8 BRANCH_8 BRANCH_8
#define BRANCH_512 BRANCH_64 BRANCH_64 BRANCH_64 BRANCH_64 BRANCH_64 BRANCH_64 BRANCH_64 BRANCH_64

/* Branches at places of their own, each of which goes as its byte says. */
static __attribute__((noinline)) void branch(const uint8_t *way)
{
	uint64_t byte, sum = 0;

	__asm__ volatile(BRANCH_512 : "=&r"(byte), "+r"(way), "+r"(sum)::"memory");
}

static void branch_as_trained(uint64_t count)
{
	(void)count;
	branch(taken[0]);
}

/* Predictors go by what came before as well, so that not each branch is wrong then. */
static void mislead(int cpu)
{
	uint64_t seed = 2;

	for (int i = 0; i < BRANCHES; i++) {
		taken[0][i] = next_random(&seed) & 1;
		taken[1][i] = !taken[0][i];
	}
	for (uint64_t i = 0; i < repetitions; i++) {
		uint64_t before, after;

		for (int pass = 0; pass < TRAINING; pass++)
			branch(taken[0]);
		before = timed(branch_as_trained, BRANCHES);
		for (int pass = 0; pass < TRAINING; pass++)
			branch(taken[1]);
		after = timed(branch_as_trained, BRANCHES);
		print(cpu, "predictions", "trained otherwise", BRANCHES, before, after);
	}
}

int main(int argc, char **argv)
{
	struct cpulist cpus;
	uint64_t largest;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	error = *cpus_asked ? cpulist_parse(&cpus, cpus_asked) : cpulist_read(&cpus, "online");
	if (error)
		fail("the list of CPUs", error);
	largest = first_kib > second_kib ? first_kib : second_kib;
	lines = pages(largest);
	others = pages(8 * first_kib);
	out = fopen(OUT_FILE, "w");
	if (!out)
		fail(OUT_FILE, errno);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!cpus.has[cpu])
			continue;
		error = pin_to_cpu(cpu);
		if (error)
			fail("the CPU", error);
		lose(cpu, "first level", displace, first_kib);
		lose(cpu, "all levels", flush, second_kib);
		write_back(cpu, second_kib);
		mislead(cpu);
	}
	error = jsonl_finish(out);
	if (error)
		fail(OUT_FILE, -error);
	return 0;
}
