// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "waeas_load.h"
#include "waeas_load_reference.h"

#define MS	1000000ULL
#define WINDOW	(20 * MS)
#define HALF	(LULL_WAEAS_ONE / 2)

/* The work of five windows in ms, oldest first; then the time is that of a sixth. */
static struct lull_waeas_load lull_waeas_history(const unsigned int *ms, bool idle_counts)
{
	struct lull_waeas_load load = {};
	u64 i;

	for (i = 0; i < LULL_WAEAS_WINDOWS; i++)
		lull_waeas_add(&load, (i + 1) * WINDOW, (i + 1) * WINDOW + ms[i] * MS, WINDOW,
			       LULL_WAEAS_ONE, idle_counts);
	return load;
}

/* As a share of a window: what LULL_WAEAS_ONE is 20 ms of. */
static void lull_waeas_expect(struct kunit *test, const unsigned int *ms, unsigned int alpha,
			      unsigned int us)
{
	struct lull_waeas_load load = lull_waeas_history(ms, false);
	unsigned int exact = us * LULL_WAEAS_ONE / 20000;
	unsigned int is = lull_waeas_predict(&load, 6 * WINDOW, WINDOW, alpha, false);

	KUNIT_EXPECT_LE(test, is, exact);
	KUNIT_EXPECT_GE(test, is + LULL_WAEAS_WINDOWS, exact);
}

static void lull_waeas_mean_or_last(struct kunit *test)
{
	static const unsigned int falls[] = { 6, 5, 4, 3, 2 }, grows[] = { 1, 2, 3, 4, 10 };

	lull_waeas_expect(test, falls, 0, 4000);
	lull_waeas_expect(test, grows, 0, 10000);
}

/* By hand: (6 + 5) / 2, then five times half of the next and half of what was. */
static void lull_waeas_smoothed_or_last(struct kunit *test)
{
	static const unsigned int falls[] = { 6, 5, 4, 3, 2 }, grows[] = { 1, 2, 3, 4, 10 };

	lull_waeas_expect(test, falls, HALF, 2921);
	lull_waeas_expect(test, grows, HALF, 10000);
	/* With a weight of almost one it is the last. */
	lull_waeas_expect(test, falls, LULL_WAEAS_ONE - 1, 2000);
}

static void lull_waeas_splits_at_the_edge(struct kunit *test)
{
	struct lull_waeas_load load = {};

	lull_waeas_add(&load, 15 * MS, 25 * MS, WINDOW, LULL_WAEAS_ONE, false);
	KUNIT_EXPECT_EQ(test, load.number, 1);
	KUNIT_EXPECT_EQ(test, load.ns[0], 5 * MS);
	KUNIT_EXPECT_EQ(test, load.current_ns, 5 * MS);
}

static void lull_waeas_goes_by_speed(struct kunit *test)
{
	struct lull_waeas_load load = {};

	lull_waeas_add(&load, 0, 8 * MS, WINDOW, HALF / 2, false);
	KUNIT_EXPECT_EQ(test, load.current_ns, 2 * MS);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&load, 9 * MS, WINDOW, HALF, false),
			LULL_WAEAS_ONE / 10);
}

/* The work of a CPU that is at its fastest now, and has changed its speed as @speeds say. */
static struct lull_waeas_load lull_waeas_worked(const struct lull_waeas_speeds *speeds,
						unsigned int start_ms, unsigned int end_ms)
{
	struct lull_waeas_load load = {};

	lull_waeas_add_changing(&load, speeds, start_ms * MS, end_ms * MS, WINDOW, LULL_WAEAS_ONE,
				false);
	return load;
}

/* By hand, here and below: 4 ms at half the speed, then 6 ms. */
static void lull_waeas_speed_changes_meanwhile(struct kunit *test)
{
	struct lull_waeas_speeds speeds = {};

	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 0, 10).current_ns, 10 * MS);
	lull_waeas_change(&speeds, 4 * MS, HALF);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 0, 10).current_ns, 8 * MS);
}

/* 2 ms at a quarter, 4 ms at half, 4 ms at full speed. */
static void lull_waeas_speed_changes_twice(struct kunit *test)
{
	struct lull_waeas_speeds speeds = {};

	lull_waeas_change(&speeds, 2 * MS, HALF / 2);
	lull_waeas_change(&speeds, 6 * MS, HALF);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 0, 10).current_ns, 13 * MS / 2);
}

/* Of a window, and of the work itself. */
static void lull_waeas_speed_changes_at_an_edge(struct kunit *test)
{
	struct lull_waeas_speeds speeds = {};
	struct lull_waeas_load load;

	lull_waeas_change(&speeds, 20 * MS, HALF);
	load = lull_waeas_worked(&speeds, 15, 25);
	KUNIT_EXPECT_EQ(test, load.ns[0], 5 * MS / 2);
	KUNIT_EXPECT_EQ(test, load.current_ns, 5 * MS);
	KUNIT_EXPECT_EQ(test, load.number, 1);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 20, 26).current_ns, 6 * MS);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 14, 20).current_ns, 3 * MS);
}

/* One change before the work, and one after it. The speed between them counts. */
static void lull_waeas_speed_changes_before_and_after(struct kunit *test)
{
	struct lull_waeas_speeds speeds = {};

	lull_waeas_change(&speeds, 1 * MS, HALF / 2);
	lull_waeas_change(&speeds, 9 * MS, HALF);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 2, 8).current_ns, 3 * MS);
}

/*
 * After each of six ms the speed grows by an eighth, and then to all. The last four changes are
 * known, so the first 3 ms count at three eighths: 9, 4, 5, 6 and 16 eighths of a ms.
 */
static void lull_waeas_speed_changes_too_often(struct kunit *test)
{
	struct lull_waeas_speeds speeds = {};
	unsigned int i;

	for (i = 1; i <= LULL_WAEAS_CHANGES + 2; i++)
		lull_waeas_change(&speeds, i * MS, i * LULL_WAEAS_ONE / 8);
	KUNIT_EXPECT_EQ(test, lull_waeas_worked(&speeds, 0, 8).current_ns, 5 * MS);
}

static void lull_waeas_sleep_of_a_task_is_no_window(struct kunit *test)
{
	static const unsigned int same[] = { 4, 4, 4, 4, 4 };
	struct lull_waeas_load task = lull_waeas_history(same, false);
	struct lull_waeas_load cpu = lull_waeas_history(same, true);

	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&task, 60 * WINDOW, WINDOW, HALF, false),
			4 * LULL_WAEAS_ONE / 20);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 60 * WINDOW, WINDOW, HALF, true), 0);
	KUNIT_EXPECT_GT(test, lull_waeas_predict(&cpu, 8 * WINDOW, WINDOW, HALF, true), 0);
}

static void lull_waeas_never_more_than_all(struct kunit *test)
{
	struct lull_waeas_load load = {}, task = {}, cpu = {};

	lull_waeas_add(&load, 0, 100 * WINDOW, WINDOW, LULL_WAEAS_ONE, true);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&load, 100 * WINDOW, WINDOW, HALF, true),
			LULL_WAEAS_ONE);
	/* Nor in a first window, to which two tasks have brought 15 ms each. */
	lull_waeas_add(&task, 0, 15 * MS, WINDOW, LULL_WAEAS_ONE, false);
	lull_waeas_join(&cpu, &task, 16 * MS, WINDOW);
	lull_waeas_join(&cpu, &task, 16 * MS, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 17 * MS, WINDOW, HALF, true),
			LULL_WAEAS_ONE);
}

/* Half of each window, which is ten of the short ones and a fifth of a long one. */
static void lull_waeas_other_windows_begin_anew(struct kunit *test)
{
	static const unsigned int half[] = { 10, 10, 10, 10, 10 };
	static const u64 windows[] = { WINDOW / 20, WINDOW / 2, WINDOW * 5 };
	struct lull_waeas_load task, cpu;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		task = lull_waeas_history(half, false);
		cpu = lull_waeas_history(half, true);
		KUNIT_EXPECT_EQ(test, lull_waeas_predict(&task, 6 * WINDOW, windows[i], HALF,
							 false), 0);
		KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 6 * WINDOW, windows[i], HALF,
							 true), 0);
		/* A tenth of the first window of the new length. */
		lull_waeas_add(&task, 10 * WINDOW, 10 * WINDOW + windows[i] / 10, windows[i],
			       LULL_WAEAS_ONE, false);
		KUNIT_EXPECT_EQ(test, lull_waeas_predict(&task, 11 * WINDOW, windows[i], HALF,
							 false), LULL_WAEAS_ONE / 10);
	}
}

static void lull_waeas_work_moves_with_its_task(struct kunit *test)
{
	struct lull_waeas_load task = {}, from = {}, to = {};

	lull_waeas_add(&task, 0, 4 * MS, WINDOW, LULL_WAEAS_ONE, false);
	lull_waeas_add(&from, 0, 4 * MS, WINDOW, LULL_WAEAS_ONE, true);
	/* In the same window, on a CPU of half the speed. */
	lull_waeas_add(&task, 4 * MS, 10 * MS, WINDOW, HALF, false);
	lull_waeas_add(&to, 4 * MS, 10 * MS, WINDOW, HALF, true);
	KUNIT_EXPECT_EQ(test, task.current_ns, 7 * MS);
	KUNIT_EXPECT_EQ(test, from.current_ns, 4 * MS);
	KUNIT_EXPECT_EQ(test, to.current_ns, 3 * MS);
}

/* A CPU worked for two tasks, 4 ms and 6 ms in each of five windows, and the second one left. */
static void lull_waeas_leaves_what_is_of_others(struct kunit *test)
{
	static const unsigned int own[] = { 4, 4, 4, 4, 4 };
	static const unsigned int both[] = { 10, 10, 10, 10, 10 };
	struct lull_waeas_load task = lull_waeas_history(own, false);
	struct lull_waeas_load cpu = lull_waeas_history(both, true);
	unsigned int i;

	lull_waeas_leave(&cpu, &task, 6 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 6 * WINDOW, WINDOW, 0, true),
			6 * LULL_WAEAS_ONE / 20);
	for (i = 0; i < LULL_WAEAS_WINDOWS; i++)
		KUNIT_EXPECT_EQ(test, cpu.ns[i], 6 * MS);
	/* It comes back. */
	lull_waeas_join(&cpu, &task, 6 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 6 * WINDOW, WINDOW, 0, true),
			10 * LULL_WAEAS_ONE / 20);
}

/* A task that slept longer than a CPU remembers has no part in the CPU's load any more. */
static void lull_waeas_leaves_nothing_that_is_forgotten(struct kunit *test)
{
	static const unsigned int own[] = { 4, 4, 4, 4, 4 };
	struct lull_waeas_load task = lull_waeas_history(own, false);
	struct lull_waeas_load cpu = lull_waeas_history(own, true);
	u64 i;

	for (i = 20; i < 25; i++)
		lull_waeas_add(&cpu, i * WINDOW, i * WINDOW + 3 * MS, WINDOW, LULL_WAEAS_ONE,
			       true);
	lull_waeas_leave(&cpu, &task, 25 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 25 * WINDOW, WINDOW, 0, true),
			3 * LULL_WAEAS_ONE / 20);
}

/* Of a task that slept three windows, the CPU remembers two and a part of the mean. */
static void lull_waeas_leaves_the_rest_of_a_sleep(struct kunit *test)
{
	static const unsigned int own[] = { 5, 5, 5, 5, 5 };
	struct lull_waeas_load task = lull_waeas_history(own, false);
	struct lull_waeas_load cpu = lull_waeas_history(own, true);

	lull_waeas_add(&cpu, 8 * WINDOW, 8 * WINDOW + 2 * MS, WINDOW, LULL_WAEAS_ONE, true);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 9 * WINDOW, WINDOW, 0, true),
			12 * LULL_WAEAS_ONE / 5 / 20);
	lull_waeas_leave(&cpu, &task, 9 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 9 * WINDOW, WINDOW, 0, true),
			2 * LULL_WAEAS_ONE / 20);
}

/* The work of each window goes to where it is counted in that window, and never below 0. */
static void lull_waeas_moves_window_by_window(struct kunit *test)
{
	static const unsigned int own[] = { 1, 2, 3, 4, 5 };
	struct lull_waeas_load task = lull_waeas_history(own, false), to = {};
	struct lull_waeas_load from = to;

	lull_waeas_join(&to, &task, 7 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, to.number, 7);
	KUNIT_EXPECT_EQ(test, to.current_ns, 0);
	KUNIT_EXPECT_EQ(test, to.ns[0], 0);
	KUNIT_EXPECT_EQ(test, to.ns[1], 5 * MS);
	KUNIT_EXPECT_EQ(test, to.ns[4], 2 * MS);
	lull_waeas_leave(&from, &task, 7 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&from, 7 * WINDOW, WINDOW, 0, true), 0);
	/* Windows of another length have nothing in common. */
	lull_waeas_join(&from, &task, 7 * WINDOW, WINDOW / 2);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&from, 7 * WINDOW, WINDOW / 2, 0, true), 0);
}

/*
 * At 22 ms a task leaves a CPU, and so begins the CPU's second window. Only later the CPU counts
 * what another task did from 10 ms on: 10 ms in the first window and 5 ms in the second one.
 */
static void lull_waeas_counts_in_the_window_of_the_work(struct kunit *test)
{
	struct lull_waeas_load gone = {}, task = {}, cpu = {};

	lull_waeas_add(&gone, 0, 4 * MS, WINDOW, LULL_WAEAS_ONE, false);
	lull_waeas_add(&cpu, 0, 4 * MS, WINDOW, LULL_WAEAS_ONE, true);
	lull_waeas_leave(&cpu, &gone, 22 * MS, WINDOW);
	lull_waeas_add(&task, 10 * MS, 25 * MS, WINDOW, LULL_WAEAS_ONE, false);
	lull_waeas_add(&cpu, 10 * MS, 25 * MS, WINDOW, LULL_WAEAS_ONE, true);
	KUNIT_EXPECT_EQ(test, cpu.ns[0], 10 * MS);
	KUNIT_EXPECT_EQ(test, cpu.current_ns, 5 * MS);
	/* When the other task leaves, nothing is left. */
	lull_waeas_leave(&cpu, &task, 26 * MS, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 26 * MS, WINDOW, 0, true), 0);
}

/* A new task needs what it was given, is no part of a CPU's load, and soon goes by its own work. */
static void lull_waeas_begins_with_a_demand(struct kunit *test)
{
	static const unsigned int both[] = { 10, 10, 10, 10, 10 };
	struct lull_waeas_load task, cpu = lull_waeas_history(both, true);
	u64 i;

	for (i = 0; i <= LULL_WAEAS_ONE; i++) {
		lull_waeas_begin(&task, i, 6 * WINDOW, WINDOW);
		KUNIT_EXPECT_EQ(test, i,
				lull_waeas_predict(&task, 6 * WINDOW, WINDOW, HALF, false));
	}
	lull_waeas_leave(&cpu, &task, 6 * WINDOW, WINDOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&cpu, 6 * WINDOW, WINDOW, 0, true),
			LULL_WAEAS_ONE / 2);
	for (i = 6; i < 11; i++)
		lull_waeas_add(&task, i * WINDOW, i * WINDOW + 5 * MS, WINDOW, LULL_WAEAS_ONE,
			       false);
	KUNIT_EXPECT_EQ(test, lull_waeas_predict(&task, 11 * WINDOW, WINDOW, 0, false),
			LULL_WAEAS_ONE / 4);
}

static u32 lull_waeas_draw(u32 *state, u32 below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static unsigned int lull_waeas_draw_speed(u32 *state)
{
	return 64 + lull_waeas_draw(state, LULL_WAEAS_ONE - 63);
}

/* As tests/waeas_load.py draws it, which has computed the reference in floating point. */
static unsigned int lull_waeas_drawn(u32 seed, bool changes)
{
	static const u32 windows_us[] = { 1000, 20000, 100000 };
	u32 us = windows_us[seed % ARRAY_SIZE(windows_us)], state = seed;
	u32 alpha = seed % 4 ? lull_waeas_draw(&state, LULL_WAEAS_ONE) : 0;
	bool idle_counts = lull_waeas_draw(&state, 2);
	u32 pieces = 1 + lull_waeas_draw(&state, 40);
	struct lull_waeas_speeds speeds = {};
	struct lull_waeas_load load = {};
	u32 speed = LULL_WAEAS_ONE, more;
	u64 start, at, time = 0;

	while (pieces--) {
		start = time + lull_waeas_draw(&state, us);
		time = start + 1 + lull_waeas_draw(&state, us * 2);
		lull_waeas_change(&speeds, start * 1000, speed);
		speed = lull_waeas_draw_speed(&state);
		more = changes ? lull_waeas_draw(&state, LULL_WAEAS_CHANGES + 1) : 0;
		for (at = start; more; more--) {
			at += lull_waeas_draw(&state, time - at);
			lull_waeas_change(&speeds, at * 1000, speed);
			speed = lull_waeas_draw_speed(&state);
		}
		lull_waeas_add_changing(&load, &speeds, start * 1000, time * 1000, us * 1000ULL,
					speed, idle_counts);
	}
	time += lull_waeas_draw(&state, us * 3);
	return lull_waeas_predict(&load, time * 1000, us * 1000ULL, alpha, idle_counts);
}

static void lull_waeas_compare(struct kunit *test, const unsigned int *reference, u32 loads,
			       bool changes)
{
	unsigned int is, exact;
	u32 seed;

	for (seed = 0; seed < loads; seed++) {
		is = 1000 * lull_waeas_drawn(seed, changes);
		exact = reference[seed];
		KUNIT_EXPECT_LE_MSG(test, is, exact + 1, "load %u", seed);
		KUNIT_EXPECT_GT_MSG(test, is + 1010, exact, "load %u", seed);
	}
}

static void lull_waeas_as_floating_point(struct kunit *test)
{
	lull_waeas_compare(test, lull_waeas_reference, ARRAY_SIZE(lull_waeas_reference), false);
}

/* The speed changes up to four times while a task works. */
static void lull_waeas_changing_as_floating_point(struct kunit *test)
{
	lull_waeas_compare(test, lull_waeas_changing_reference,
			   ARRAY_SIZE(lull_waeas_changing_reference), true);
}

static struct kunit_case lull_waeas_cases[] = {
	KUNIT_CASE(lull_waeas_mean_or_last),
	KUNIT_CASE(lull_waeas_smoothed_or_last),
	KUNIT_CASE(lull_waeas_splits_at_the_edge),
	KUNIT_CASE(lull_waeas_goes_by_speed),
	KUNIT_CASE(lull_waeas_speed_changes_meanwhile),
	KUNIT_CASE(lull_waeas_speed_changes_twice),
	KUNIT_CASE(lull_waeas_speed_changes_at_an_edge),
	KUNIT_CASE(lull_waeas_speed_changes_before_and_after),
	KUNIT_CASE(lull_waeas_speed_changes_too_often),
	KUNIT_CASE(lull_waeas_sleep_of_a_task_is_no_window),
	KUNIT_CASE(lull_waeas_never_more_than_all),
	KUNIT_CASE(lull_waeas_other_windows_begin_anew),
	KUNIT_CASE(lull_waeas_work_moves_with_its_task),
	KUNIT_CASE(lull_waeas_leaves_what_is_of_others),
	KUNIT_CASE(lull_waeas_leaves_nothing_that_is_forgotten),
	KUNIT_CASE(lull_waeas_leaves_the_rest_of_a_sleep),
	KUNIT_CASE(lull_waeas_moves_window_by_window),
	KUNIT_CASE(lull_waeas_counts_in_the_window_of_the_work),
	KUNIT_CASE(lull_waeas_begins_with_a_demand),
	KUNIT_CASE(lull_waeas_as_floating_point),
	KUNIT_CASE(lull_waeas_changing_as_floating_point),
	{}
};

static struct kunit_suite lull_waeas_suite = {
	.name = "lull-waeas-load",
	.test_cases = lull_waeas_cases,
};

kunit_test_suite(lull_waeas_suite);
