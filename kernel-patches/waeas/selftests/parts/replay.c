// SPDX-License-Identifier: BSD-3-Clause
/*
 * A load that every kernel places in the same way, on four little CPUs and two big ones.
 *
 * Two kernels differ in how many instructions a wake-up takes, and so in when things happen. Here
 * nothing follows from that. All wakes at times of the clock, far from ticks and from each other,
 * and nobody is born or ends. Two tasks may run anywhere. When one of them wakes, another task
 * works where it was, so that there is something to decide.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "pin.h"
#include "replay.h"
#include "sysfs.h"

#define US 1000ULL
#define MS 1000000ULL
/* Of the clock. By then a machine has done all that it does after boot. */
#define BEGIN (10000 * MS)
#define PHASE (200 * MS)
#define PHASES 8
/* From this phase on, a big CPU is over-utilised, and energy does not decide any more. */
#define OVER 5
/* Phases before the first, from which the kernel knows how much each task needs. */
#define LEARN 6
#define LITTLES 4
#define CPUS 6

/* From the begin of a phase on; ticks come every 4 ms. */
struct work {
	uint64_t begin, end;
};

static const struct wanderer {
	const char *name;
	/* Where it is at first. */
	int cpu;
	struct work work;
} wanderers[] = {
	{"play-light", 0, {97300 * US, 109300 * US}},
	/* Too much for a little CPU. */
	{"play-heavy", 4, {153300 * US, 183300 * US}},
};

#define WANDERERS (int)(sizeof(wanderers) / sizeof(*wanderers))

/* While a wanderer wakes. */
static const struct work on_little = {80000 * US, 113000 * US}, on_big = {125000 * US, 185000 * US};
/* Before the light one wakes: on all other little CPUs but one, and on that one for so short that
 * the kernel sees how little it does. What a CPU does is not looked at while it sleeps.
 */
static const struct work before = {21000 * US, 57000 * US}, hardly = {61000 * US, 61300 * US};
/* Of the big CPU that is over-utilised. */
static const struct work over = {5000 * US, 190000 * US};

static void do_work(int phase, struct work work)
{
	uint64_t begin = phase < 0 ? BEGIN - (unsigned int)-phase * PHASE
				   : BEGIN + (unsigned int)phase * PHASE;

	clock_sleep_until(begin + work.begin);
	while (clock_ns() < begin + work.end)
		;
}

/* Whether a CPU is the one that works while a wanderer wakes. */
static bool is_busy(int cpu, int phase)
{
	/* Two at a time, because balance is looked at only then: new tasks may have over-utilised
	 * the machine.
	 */
	if (phase < 0)
		return cpu / 2 == (phase + LEARN) % 3;
	if (phase >= OVER)
		return cpu == CPUS - 1 || cpu == phase - OVER;
	return cpu < LITTLES ? cpu == (phase + LITTLES - 1) % LITTLES : (cpu + phase) % 2;
}

/* A CPU's own tasks. The kernel remembers the work of each: one does much, the other little. */
static void stay_and_do_much(int cpu)
{
	for (int phase = -LEARN; phase < PHASES; phase++)
		if (is_busy(cpu, phase))
			do_work(phase, cpu < LITTLES ? on_little : phase >= OVER ? over : on_big);
}

static void stay_and_do_little(int cpu)
{
	for (int phase = 0; phase < OVER; phase++)
		if (cpu < LITTLES && !is_busy(cpu, phase))
			do_work(phase, cpu == phase % LITTLES ? hardly : before);
}

static void wander(const struct wanderer *own, const cpu_set_t *all)
{
	prctl(PR_SET_NAME, own->name);
	for (int phase = -LEARN / 2; phase < PHASES; phase++) {
		if (phase == 0 && sched_setaffinity(0, sizeof(*all), all))
			_exit(1);
		do_work(phase, own->work);
	}
	prctl(PR_SET_NAME, "played");
}

/* Time is what counts here, so work does not depend on the frequency. */
static int at_full_speed(void)
{
	char path[128], text[32];
	int error = 0;

	for (int cpu = 0; cpu < CPUS && !error; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
		error = read_text(path, text, sizeof(text));
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_min_freq", cpu);
		error = error ?: write_text(path, text);
	}
	return error;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "waeas: replay: %s: %s\n", what, strerror(-error));
	return 1;
}

static void play(int number, const cpu_set_t *all)
{
	const struct wanderer *own = number < WANDERERS ? &wanderers[number] : NULL;
	int cpu = own ? own->cpu : (number - WANDERERS) / 2;

	if (pin_to_cpu(cpu))
		_exit(1);
	/* The kernel expects much of a new task. It forgets a quarter of that each time. */
	for (int i = 0; i < 40; i++)
		clock_sleep(2 * MS);
	if (own)
		wander(own, all);
	else if (number % 2)
		stay_and_do_much(cpu);
	else
		stay_and_do_little(cpu);
	/* Nobody ends while others play. */
	clock_sleep_until(BEGIN + (PHASES + 1) * PHASE);
}

int replay(void)
{
	int status, failed = 0, error = at_full_speed();
	cpu_set_t all;

	if (error)
		return fail("frequencies", error);
	if (sched_getaffinity(0, sizeof(all), &all))
		return fail("affinity", -errno);
	for (int i = 0; i < WANDERERS + 2 * CPUS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return fail("no process", -errno);
		if (!pid) {
			play(i, &all);
			_exit(0);
		}
	}
	if (clock_ns() > BEGIN - (LEARN + 1) * PHASE)
		return fail("the machine has been on for too long", -ETIME);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
