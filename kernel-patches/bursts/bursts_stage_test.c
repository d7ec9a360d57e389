// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/limits.h>

#include "bursts_stage.h"

#define MS	1000000ULL

static struct lull_stage lull_stage_of(u64 period, u64 bound, unsigned int parallel)
{
	return (struct lull_stage){
		.period_ns = period,
		.bound_ns = bound,
		.parallel = parallel,
		.last = U64_MAX,
	};
}

static void lull_stage_nothing_is_due(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 0, 1);

	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1), U64_MAX);
}

static void lull_stage_goes_by_multiples_of_the_period(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 400 * MS, 1);

	lull_stage_hold(&stage, 1030 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1030 * MS), 1250 * MS);
	lull_stage_hold(&stage, 1249 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1249 * MS), 1250 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1250 * MS), 1430 * MS);
}

static void lull_stage_bound_comes_first(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 100 * MS, 1);

	lull_stage_hold(&stage, 1030 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1030 * MS), 1130 * MS);
	/* A later one cannot put off the first. */
	lull_stage_hold(&stage, 1050 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1050 * MS), 1130 * MS);
	/* One with less time makes it earlier, and one with more does not. */
	lull_stage_hold(&stage, 1060 * MS, 10 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1060 * MS), 1070 * MS);
	lull_stage_hold(&stage, 1061 * MS, 900 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1061 * MS), 1070 * MS);
}

static void lull_stage_waits_for_enough(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 600 * MS, 3);

	lull_stage_hold(&stage, 1030 * MS, 0);
	lull_stage_hold(&stage, 1040 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1040 * MS), 1630 * MS);
	lull_stage_hold(&stage, 1300 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1300 * MS), 1500 * MS);
}

static void lull_stage_without_a_bound_waits_a_period(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 0, 4);

	lull_stage_hold(&stage, 1030 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1030 * MS), 1280 * MS);
}

static void lull_stage_that_ends_is_due(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 0, 4);

	lull_stage_hold(&stage, 1030 * MS, 0);
	stage.period_ns = 0;
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1031 * MS), 1031 * MS);
	lull_stage_empty(&stage);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1031 * MS), U64_MAX);
}

static void lull_stage_heeds_a_deadline(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 0, 1);

	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 0, 20 * MS), 0);
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 90 * MS, 20 * MS), 90 * MS);
	stage.least_ns = 10 * MS;
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 90 * MS, 0), 90 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 0, 20 * MS), 20 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 90 * MS, 20 * MS), 20 * MS);
	/* The bound holds on. */
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 15 * MS, 20 * MS), 15 * MS);
	/* A shorter one than the least is the least. */
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 0, 1), 10 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_limit(&stage, 5 * MS, 1), 5 * MS);
}

static void lull_stage_goes_by_the_first_deadline(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 600 * MS, 3);

	stage.least_ns = 10 * MS;
	lull_stage_hold(&stage, 1030 * MS, lull_stage_limit(&stage, 0, 0));
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1030 * MS), 1630 * MS);
	/* Though they are too few for a burst. */
	lull_stage_hold(&stage, 1040 * MS, lull_stage_limit(&stage, 0, 90 * MS));
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1040 * MS), 1130 * MS);
	/* A deadline that ends later puts nothing off. */
	lull_stage_hold(&stage, 1050 * MS, lull_stage_limit(&stage, 0, 300 * MS));
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1050 * MS), 1130 * MS);
	/* What was held before has none. */
	lull_stage_empty(&stage);
	lull_stage_hold(&stage, 1140 * MS, lull_stage_limit(&stage, 0, 0));
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1140 * MS), 1740 * MS);
}

static void lull_stage_is_hurried(struct kunit *test)
{
	struct lull_stage stage = lull_stage_of(250 * MS, 600 * MS, 2);

	stage.least_ns = 10 * MS;
	/* Nothing is held that could be. */
	lull_stage_hurry(&stage, 1000 * MS, 20 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1000 * MS), U64_MAX);
	lull_stage_hold(&stage, 1030 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1030 * MS), 1630 * MS);
	lull_stage_hurry(&stage, 1040 * MS, 0);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1040 * MS), 1630 * MS);
	lull_stage_hurry(&stage, 1040 * MS, 20 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1040 * MS), 1060 * MS);
	lull_stage_hurry(&stage, 1041 * MS, 90 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1041 * MS), 1060 * MS);
	stage.least_ns = 0;
	lull_stage_hurry(&stage, 1042 * MS, 1 * MS);
	KUNIT_EXPECT_EQ(test, lull_stage_due(&stage, 1042 * MS), 1060 * MS);
}

static struct kunit_case lull_stage_cases[] = {
	KUNIT_CASE(lull_stage_nothing_is_due),
	KUNIT_CASE(lull_stage_goes_by_multiples_of_the_period),
	KUNIT_CASE(lull_stage_bound_comes_first),
	KUNIT_CASE(lull_stage_waits_for_enough),
	KUNIT_CASE(lull_stage_without_a_bound_waits_a_period),
	KUNIT_CASE(lull_stage_that_ends_is_due),
	KUNIT_CASE(lull_stage_heeds_a_deadline),
	KUNIT_CASE(lull_stage_goes_by_the_first_deadline),
	KUNIT_CASE(lull_stage_is_hurried),
	{}
};

static struct kunit_suite lull_stage_suite = {
	.name = "lull-bursts-stage",
	.test_cases = lull_stage_cases,
};

kunit_test_suite(lull_stage_suite);
