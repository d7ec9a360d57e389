// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the arithmetic of plans, with times in made-up units. */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>

#include "plan.h"

static struct lull_plan *lull_test_plan(struct kunit *test)
{
	struct lull_plan *plan = kunit_kzalloc(test, sizeof(*plan), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, plan);
	return plan;
}

static void lull_test_add(struct kunit *test, struct lull_plan *plan, u64 start, u64 end, u32 bound)
{
	struct lull_window *window = kunit_kzalloc(test, sizeof(*window), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, window);
	*window = (struct lull_window){ .start = start, .end = end, .bound_ns = bound };
	KUNIT_ASSERT_EQ(test, lull_plan_add(plan, window), 0);
}

static void lull_expect_inside(struct kunit *test, const struct lull_plan *plan, u64 now,
			       u32 bound, u64 until)
{
	struct lull_outlook outlook;

	lull_plan_look(plan, now, &outlook);
	KUNIT_EXPECT_TRUE(test, outlook.inside);
	KUNIT_EXPECT_EQ(test, outlook.bound_ns, bound);
	KUNIT_EXPECT_EQ(test, outlook.until, until);
}

static void lull_expect_before(struct kunit *test, const struct lull_plan *plan, u64 now,
			       u64 until, u32 next_bound, u64 next_until)
{
	struct lull_outlook outlook;

	lull_plan_look(plan, now, &outlook);
	KUNIT_EXPECT_FALSE(test, outlook.inside);
	KUNIT_EXPECT_EQ(test, outlook.until, until);
	KUNIT_EXPECT_EQ(test, outlook.next_bound_ns, next_bound);
	KUNIT_EXPECT_EQ(test, outlook.next_until, next_until);
}

static void lull_test_order(struct kunit *test)
{
	struct lull_plan *plan = lull_test_plan(test);
	unsigned int i;

	lull_test_add(test, plan, 30, 40, 1);
	lull_test_add(test, plan, 10, 60, 1);
	lull_test_add(test, plan, 20, 25, 1);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, plan->windows[i]->start, 10 * (i + 1));

	KUNIT_EXPECT_TRUE(test, lull_plan_remove(plan, plan->windows[1]));
	KUNIT_EXPECT_EQ(test, plan->count, 2);
	KUNIT_EXPECT_EQ(test, plan->windows[1]->start, 30);
	KUNIT_EXPECT_FALSE(test, lull_plan_remove(plan, NULL));
}

static void lull_test_full(struct kunit *test)
{
	struct lull_window window = { .start = 5, .end = 6 };
	struct lull_plan *plan = lull_test_plan(test);
	int i;

	for (i = 0; i < LULL_PLAN_MOST; i++)
		lull_test_add(test, plan, i, i + 1, 0);
	KUNIT_EXPECT_EQ(test, lull_plan_add(plan, &window), -ENOSPC);
	KUNIT_EXPECT_EQ(test, plan->count, LULL_PLAN_MOST);
}

static void lull_test_over(struct kunit *test)
{
	struct lull_plan *plan = lull_test_plan(test);

	KUNIT_EXPECT_NULL(test, lull_plan_over(plan, 100));
	lull_test_add(test, plan, 10, 60, 0);
	lull_test_add(test, plan, 20, 30, 0);
	KUNIT_EXPECT_NULL(test, lull_plan_over(plan, 29));
	KUNIT_EXPECT_PTR_EQ(test, lull_plan_over(plan, 30), plan->windows[1]);
	KUNIT_EXPECT_PTR_EQ(test, lull_plan_over(plan, 60), plan->windows[0]);
}

static void lull_test_one_window(struct kunit *test)
{
	struct lull_plan *plan = lull_test_plan(test);

	lull_expect_before(test, plan, 0, U64_MAX, U32_MAX, U64_MAX);
	lull_test_add(test, plan, 100, 200, 5);
	lull_expect_before(test, plan, 99, 100, 5, 200);
	lull_expect_inside(test, plan, 100, 5, 200);
	lull_expect_inside(test, plan, 199, 5, 200);
}

static void lull_test_merged(struct kunit *test)
{
	struct lull_plan *plan = lull_test_plan(test);
	struct lull_window *over;

	lull_test_add(test, plan, 100, 200, 5);
	/* Overlaps; follows at once; is a lighter wish in the middle; leaves a gap. */
	lull_test_add(test, plan, 150, 300, 5);
	lull_test_add(test, plan, 300, 400, 5);
	lull_test_add(test, plan, 120, 130, 9);
	lull_test_add(test, plan, 401, 500, 5);
	lull_expect_before(test, plan, 0, 100, 5, 400);
	lull_expect_inside(test, plan, 125, 5, 400);
	while ((over = lull_plan_over(plan, 400)))
		lull_plan_remove(plan, over);
	lull_expect_before(test, plan, 400, 401, 5, 500);
}

static void lull_test_bounds(struct kunit *test)
{
	struct lull_plan *plan = lull_test_plan(test);

	lull_test_add(test, plan, 100, 300, 9);
	lull_test_add(test, plan, 150, 200, 5);
	/* A lower bound begins, holds, and ends while the other one goes on. */
	lull_expect_before(test, plan, 0, 100, 9, 150);
	lull_expect_inside(test, plan, 100, 9, 150);
	lull_expect_inside(test, plan, 150, 5, 200);
	lull_expect_inside(test, plan, 200, 9, 300);
}

static void lull_test_choose(struct kunit *test)
{
	struct lull_plan_state states[] = {
		{ .usable = true, .exit_ns = 1, .residency_ns = 1 },
		{ .usable = true, .exit_ns = 10, .residency_ns = 40 },
		{ .usable = true, .exit_ns = 100, .residency_ns = 400 },
	};
	const u64 never = U64_MAX;

	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, never), 2);
	/* The window comes too soon to be worth it: 400 asleep and 100 to leave. */
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, 500), 2);
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, 499), 1);
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, 49), 0);
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, 0), 0);
	/* A timer comes first. */
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, 399, never), 1);
	/* In a window. */
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, 99, never, never), 1);
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, 0, never, never), 0);
	states[2].usable = false;
	KUNIT_EXPECT_EQ(test, lull_plan_choose(states, 3, U32_MAX, never, never), 1);
}

static void lull_test_learn(struct kunit *test)
{
	struct lull_learned learned = {};
	int i;

	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 77);
	lull_learn(&learned, 10);
	lull_learn(&learned, 12);
	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 77);
	lull_learn(&learned, 11);
	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 11);
	/* One outlier does not count, and two are none. Eight samples later they are forgotten. */
	lull_learn(&learned, 5000);
	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 12);
	lull_learn(&learned, U64_MAX);
	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 5000);
	for (i = 0; i < 100; i++)
		lull_learn(&learned, 20 + i % 2);
	KUNIT_EXPECT_EQ(test, lull_learned_ns(&learned, 77), 21);
}

static struct kunit_case lull_plan_cases[] = {
	KUNIT_CASE(lull_test_order),
	KUNIT_CASE(lull_test_full),
	KUNIT_CASE(lull_test_over),
	KUNIT_CASE(lull_test_one_window),
	KUNIT_CASE(lull_test_merged),
	KUNIT_CASE(lull_test_bounds),
	KUNIT_CASE(lull_test_choose),
	KUNIT_CASE(lull_test_learn),
	{}
};

static struct kunit_suite lull_plan_suite = {
	.name = "lull-anticipation",
	.test_cases = lull_plan_cases,
};

kunit_test_suite(lull_plan_suite);
