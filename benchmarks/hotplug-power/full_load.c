// SPDX-License-Identifier: BSD-3-Clause
#include "full_load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64
#define LINE 64
#define STEPS_OF_A_UNIT 10000
#define LINES_OF_A_UNIT 1024
#define BLOCK 16384
#define DEVICE_NS 100000

struct worker {
	pthread_t thread;
	char *memory;
	FILE *file;
	/* Of its own line, so that no worker slows down another. */
	_Alignas(LINE) _Atomic uint64_t units;
};

static struct worker workers[MOST_THREADS];
static size_t started, bytes;
static atomic_bool stopping;

static bool do_arithmetic(struct worker *own)
{
	uint64_t value = 1;

	(void)own;
	for (int i = 0; i < STEPS_OF_A_UNIT; i++)
		value = value * 6364136223846793005ULL + (uint64_t)i;
	__asm__ volatile("" ::"r"(value));
	return true;
}

static bool do_memory(struct worker *own)
{
	size_t at = own->units * LINES_OF_A_UNIT * LINE % bytes;

	for (int i = 0; i < LINES_OF_A_UNIT; i++, at = (at + LINE) % bytes)
		(*(volatile uint64_t *)(own->memory + at))++;
	return true;
}

static bool do_io(struct worker *own)
{
	const struct timespec answer = {.tv_nsec = DEVICE_NS};
	int fd = fileno(own->file);

	if (pwrite(fd, own->memory, BLOCK, 0) != BLOCK || pread(fd, own->memory, BLOCK, 0) != BLOCK)
		return false;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &answer, NULL);
	return true;
}

static const struct kind {
	const char *name;
	bool (*unit)(struct worker *own);
} kinds[] = {{"none", NULL}, {"cpu", do_arithmetic}, {"memory", do_memory}, {"io", do_io}}, *kind;

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool full_load_is_kind(const char *name)
{
	return kind_of(name) != NULL;
}

static void *run(void *argument)
{
	struct worker *own = argument;

	while (!stopping && kind->unit(own))
		own->units++;
	return NULL;
}

static int start(struct worker *own)
{
	own->memory = malloc(bytes);
	own->file = tmpfile();
	if (!own->memory || !own->file)
		return -ENOMEM;
	memset(own->memory, 1, bytes);
	return -pthread_create(&own->thread, NULL, run, own);
}

int full_load_start(const char *name, uint64_t threads, uint64_t kib)
{
	int error = 0;

	kind = kind_of(name);
	if (!kind || threads > MOST_THREADS)
		return -EINVAL;
	bytes = kind->unit == do_memory ? kib * 1024 : BLOCK;
	while (kind->unit && !error && started < threads) {
		error = start(&workers[started]);
		started += !error;
	}
	return error;
}

uint64_t full_load_units(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < started; i++)
		sum += workers[i].units;
	return sum;
}

void full_load_stop(void)
{
	stopping = true;
	while (started) {
		struct worker *own = &workers[--started];

		pthread_join(own->thread, NULL);
		free(own->memory);
		fclose(own->file);
	}
}
