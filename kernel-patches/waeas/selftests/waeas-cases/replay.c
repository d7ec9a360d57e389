// SPDX-License-Identifier: BSD-3-Clause
/*
 * A load that every kernel places in the same way, on four little CPUs and two big ones.
 *
 * Two kernels differ in how many instructions a wake-up takes, and so in when things happen. Here
 * nothing follows from that. All wakes at times of the clock, and nobody is born or ends. What each
 * CPU does differs by so much that it does not matter when exactly the kernel last looked.
 *
 * Two tasks may run anywhere. When one of them wakes, another task works where it was, and there is
 * not room for both. So the kernel has to decide:
 *
 *   phase                0  1  2  3  4  5  6  7
 *   light one, goes to   0  1  2  3  0  1  0  1
 *   heavy one, goes to   4  5  4  5  4  5  4  5
 *
 * In phases 0 to 4, energy decides: the light one goes to the little CPU with the most room, and
 * the heavy one to the other big CPU. After that the kernel looks for any idle CPU, and begins with
 * the one where the task was before.
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
#define LITTLES 4
#define CPUS 6
/* Phases before the first, from which the kernel knows how much each task needs. */
#define LEARN CPUS

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
	{"play-light", 0, {97300 * US, 106300 * US}},
	/* Too much for a little CPU. */
	{"play-heavy", 4, {153300 * US, 183300 * US}},
};

#define WANDERERS (int)(sizeof(wanderers) / sizeof(*wanderers))

/* While a wanderer wakes, and until soon after that. A simulated CPU that works lets others wait,
 * and then the kernel sees less or more work than there is. So few work at a time.
 */
static const struct work on_little = {74000 * US, 98000 * US}, on_big = {114000 * US, 156000 * US};
/* What a task of a little CPU does while the kernel learns. The kernel expects as much of it later
 * on. Alone, neither it nor the one of a big CPU takes 80 % of a CPU, where over-utilised begins.
 * With a wanderer it would.
 */
static const struct work learn = {20000 * US, 62000 * US};
/* What a CPU did is looked at only now and then while it sleeps, and when it wakes. So the little
 * CPU with the most room does something, and the kernel sees how little it is.
 */
static const struct work hardly = {6000 * US, 6300 * US};
/* On the two other little CPUs. This has to count when the light one wakes, whether it was looked
 * at or not. If it were less than what the light one needs, the kernel would take all CPUs to have
 * the same room.
 */
static const struct work before = {18000 * US, 54000 * US}, after_that = {55000 * US, 77000 * US};
/* In the first phase the light one is alone on its CPU and stays. Then one other little CPU works
 * for a short time and has room, so that packing would take the light one there.
 */
static const struct work briefly = {95000 * US, 98000 * US};
/* Of two tasks that take turns on the last CPU. Where a tick finds two tasks, Linux balances all
 * CPUs. Only then it sees that no CPU is over-utilised any more. New tasks may have over-utilised
 * one. So may kernel threads, because some wait until a task wakes their CPU.
 */
static const struct work in_turn = {79000 * US, 90000 * US};
#define TURNS 2
/* Makes a big CPU over-utilised until the light one has woken. If this went on while the light one
 * works, Linux might balance and move it. When the heavy one wakes, Linux expects as much of
 * on_big.
 */
static const struct work over = {2000 * US, 98000 * US};

static void do_work(int phase, struct work work)
{
	uint64_t begin = phase < 0 ? BEGIN - (unsigned int)-phase * PHASE
				   : BEGIN + (unsigned int)phase * PHASE;

	clock_sleep_until(begin + work.begin);
	while (clock_ns() < begin + work.end)
		;
}

/* Whether a CPU is one that works while a wanderer wakes: the one where the wanderer was. */
static bool is_busy(int cpu, int phase)
{
	/* At first one by one. */
	if (phase < 0)
		return cpu == phase + LEARN;
	if (cpu >= LITTLES)
		return cpu == LITTLES + (phase + 1) % 2;
	if (phase >= OVER)
		return cpu == (phase - OVER) % 2;
	/* Each only once, because the kernel forgets a part of what it learned. */
	return cpu == phase - 1;
}

/* A CPU's own tasks. The kernel remembers the work of each: one does much, the other little. */
static void stay_and_do_much(int cpu)
{
	for (int phase = -LEARN; phase < PHASES; phase++) {
		if (!is_busy(cpu, phase))
			continue;
		if (cpu >= LITTLES && phase >= OVER)
			do_work(phase, over);
		if (cpu >= LITTLES)
			do_work(phase, on_big);
		else
			do_work(phase, phase < 0 ? learn : on_little);
	}
}

static void stay_and_do_little(int cpu)
{
	if (cpu >= LITTLES)
		return;
	if (cpu == LITTLES - 1)
		do_work(0, briefly);
	for (int phase = 1; phase < OVER; phase++) {
		if (cpu == phase % LITTLES)
			do_work(phase, hardly);
		else if (!is_busy(cpu, phase))
			do_work(phase, cpu == (phase + 1) % LITTLES ? before : after_that);
	}
}

static void take_turns(void)
{
	for (int phase = -LEARN; phase < OVER; phase++)
		do_work(phase, in_turn);
}

static void wander(const struct wanderer *own, const cpu_set_t *all)
{
	prctl(PR_SET_NAME, own->name);
	for (int phase = -LEARN; phase < PHASES; phase++) {
		if (phase == 0 && sched_setaffinity(0, sizeof(*all), all))
			_exit(1);
		if (phase >= 0 || !is_busy(own->cpu, phase))
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
	bool turns = !own && cpu == CPUS;

	if (pin_to_cpu(turns ? CPUS - 1 : cpu))
		_exit(1);
	/* The kernel expects much of a new task. It forgets a quarter of that each time. */
	for (int i = 0; i < 40; i++)
		clock_sleep(2 * MS);
	if (own)
		wander(own, all);
	else if (turns)
		take_turns();
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
	/* Linux remembers where a task was born, and prefers that CPU later on if it is idle. */
	error = pin_to_cpu(0);
	if (error)
		return fail("CPU 0", error);
	for (int i = 0; i < WANDERERS + 2 * CPUS + TURNS; i++) {
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
