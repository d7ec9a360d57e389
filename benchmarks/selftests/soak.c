// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whether every sleep ends. On each CPU one thread sleeps for random times, ended by its timer or
 * before that by a thread on another CPU, with one idle state allowed at a time, until that state
 * was entered often enough. A CPU that misses its wake-up stays behind for good and is named.
 *
 *   soak [COUNT [STATE [SEED]]]	entries per CPU (100), idle state (all behind WFI), seed (1)
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cpulist.h"
#include "sysfs.h"
#include "tap.h"

#define STATE_FILE "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s"

#define SHORTEST_US 20
#define LONGEST_US 2000
/* Reading a counter costs more than a sleep: look at it this seldom. */
#define ROUNDS_PER_LOOK 32
/* No sleep is that long, and a lost one is longer. */
#define LOST_NS 5000000000LL

struct sleeper {
	pthread_t thread;
	int cpu;
	uint64_t random;
	_Atomic uint32_t called;
	_Atomic int64_t alive_ns;
	_Atomic bool done;
	int64_t entries, ended_by_others, latest_ns;
};

static struct sleeper sleepers[CPULIST_MAX];
static int sleeper_count;
static int state_under_test;
static int64_t entries_wanted;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* xorshift64*: repeatable, and good enough to hit every phase of a sleep. */
static uint32_t next_random(struct sleeper *self)
{
	self->random ^= self->random >> 12;
	self->random ^= self->random << 25;
	self->random ^= self->random >> 27;
	return (self->random * 0x2545F4914F6CDD1DULL) >> 32;
}

static int64_t entries_of(int cpu)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), STATE_FILE, cpu, state_under_test, "usage");
	return read_text(path, text, sizeof(text)) ? -1 : atoll(text);
}

/* False when the CPU has no such state. */
static bool allow(int cpu, int state, bool allowed)
{
	char path[96];

	snprintf(path, sizeof(path), STATE_FILE, cpu, state, "disable");
	return write_text(path, allowed ? "0" : "1") == 0;
}

static void allow_only(int cpu, int wanted)
{
	for (int state = 0; allow(cpu, state, state == wanted); state++)
		;
}

static void call_another(struct sleeper *self)
{
	struct sleeper *other = &sleepers[next_random(self) % sleeper_count];

	if (other == self)
		return;
	atomic_fetch_add(&other->called, 1);
	syscall(SYS_futex, &other->called, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void sleep_once(struct sleeper *self)
{
	uint32_t seen = atomic_load(&self->called);
	int64_t length = (SHORTEST_US + next_random(self) % (LONGEST_US - SHORTEST_US)) * 1000LL;
	int64_t due = now_ns() + length;
	struct timespec until = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
	int64_t late;

	if (syscall(SYS_futex, &self->called, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, NULL,
		    FUTEX_BITSET_MATCH_ANY) == 0) {
		self->ended_by_others++;
		return;
	}
	late = now_ns() - due;
	if (late > self->latest_ns)
		self->latest_ns = late;
}

static void *run(void *data)
{
	struct sleeper *self = data;
	int64_t first = entries_of(self->cpu);

	for (unsigned int round = 1; self->entries < entries_wanted; round++) {
		sleep_once(self);
		atomic_store(&self->alive_ns, now_ns());
		if (next_random(self) % 4 == 0)
			call_another(self);
		if (round % ROUNDS_PER_LOOK == 0)
			self->entries = entries_of(self->cpu) - first;
	}
	atomic_store(&self->done, true);
	return NULL;
}

static void prepare(struct sleeper *self, int cpu, uint64_t seed)
{
	memset(self, 0, sizeof(*self));
	self->cpu = cpu;
	self->random = (seed << 16 | (uint64_t)cpu) * 0x9E3779B97F4A7C15ULL | 1;
	atomic_store(&self->alive_ns, now_ns());
}

static bool start(struct sleeper *self)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int error;

	CPU_ZERO(&set);
	CPU_SET(self->cpu, &set);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	error = pthread_create(&self->thread, &attributes, run, self);
	pthread_attr_destroy(&attributes);
	return error == 0;
}

/* The first sleeper that was silent for too long; NULL when all are done. */
static struct sleeper *watch(void)
{
	for (;;) {
		bool all_done = true;

		for (int i = 0; i < sleeper_count; i++) {
			if (atomic_load(&sleepers[i].done))
				continue;
			all_done = false;
			if (now_ns() - atomic_load(&sleepers[i].alive_ns) > LOST_NS)
				return &sleepers[i];
		}
		if (all_done)
			return NULL;
		usleep(100000);
	}
}

static void soak(const struct cpulist *online, int state, uint64_t seed)
{
	struct sleeper *lost;

	state_under_test = state;
	sleeper_count = 0;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!online->has[cpu])
			continue;
		allow_only(cpu, state);
		prepare(&sleepers[sleeper_count++], cpu, seed);
	}
	for (int i = 0; i < sleeper_count; i++)
		if (!start(&sleepers[i]))
			tap_bail("cannot start a thread on CPU %d", sleepers[i].cpu);
	lost = watch();
	if (lost) {
		tap_ok(false, "state %d: CPU %d is lost after %lld entries", state, lost->cpu,
		       (long long)lost->entries);
		tap_bail("a lost CPU does not come back");
	}
	for (int i = 0; i < sleeper_count; i++) {
		struct sleeper *self = &sleepers[i];

		pthread_join(self->thread, NULL);
		tap_ok(true, "state %d: CPU %d woke from %lld entries", state, self->cpu,
		       (long long)self->entries);
		tap_note(
			"%lld sleeps were ended by another CPU, the latest timer came %lld us late",
			(long long)self->ended_by_others, (long long)self->latest_ns / 1000);
		allow_only(self->cpu, 0);
	}
}

static long argument(int argc, char **argv, int index, long otherwise)
{
	char *end;
	long value;

	if (argc <= index)
		return otherwise;
	value = strtol(argv[index], &end, 10);
	if (end == argv[index] || *end || value < 0) {
		fprintf(stderr, "usage: soak [COUNT [STATE [SEED]]]\n");
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	int only = argument(argc, argv, 2, -1);
	uint64_t seed = argument(argc, argv, 3, 1);
	struct cpulist online;
	int states = 0;

	entries_wanted = argument(argc, argv, 1, 100);
	if (cpulist_read(&online, "online"))
		tap_bail("cannot list the CPUs");
	for (int cpu = 0; cpu < CPULIST_MAX && !states; cpu++)
		if (online.has[cpu])
			while (allow(cpu, states, true))
				states++;
	if (only >= states)
		tap_bail("there is no idle state %d", only);
	for (int state = 1; state < states; state++)
		if (only < 0 || state == only)
			soak(&online, state, seed);
	return tap_finish();
}
