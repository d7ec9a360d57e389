// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/jiffies.h>

#include "waeas_choose.h"

#define PREV	2
/* Jiffies wrap five minutes after boot. */
#define NOW	((unsigned long)-1)

/* The best of some CPUs that suffice, looked at from the first to the last, or the other way. */
static int lull_waeas_best(const struct lull_waeas_idle *idles, int count, bool backwards)
{
	struct lull_waeas_idle best = { .cpu = -1 };
	int i;

	for (i = 0; i < count; i++) {
		const struct lull_waeas_idle *idle = &idles[backwards ? count - 1 - i : i];

		if (lull_waeas_is_better(idle, &best, PREV))
			best = *idle;
	}

	return best.cpu;
}

static void lull_waeas_expect_best(struct kunit *test, const struct lull_waeas_idle *idles,
				   int count, int cpu)
{
	KUNIT_EXPECT_EQ(test, lull_waeas_best(idles, count, false), cpu);
	KUNIT_EXPECT_EQ(test, lull_waeas_best(idles, count, true), cpu);
}

/* All else speaks for another one. */
static void lull_waeas_least_capacity_first(struct kunit *test)
{
	static const struct lull_waeas_idle idles[] = {
		{ .cpu = PREV, .capacity = 1024, .exit_ns = 1, .left_ns = 0 },
		{ .cpu = 3, .capacity = 446, .exit_ns = 900, .left_ns = 5000 },
		{ .cpu = 4, .capacity = 447, .exit_ns = 1, .left_ns = 0 },
	};

	lull_waeas_expect_best(test, idles, ARRAY_SIZE(idles), 3);
}

static void lull_waeas_then_the_lightest_state(struct kunit *test)
{
	static const struct lull_waeas_idle idles[] = {
		{ .cpu = PREV, .capacity = 446, .exit_ns = 11, .left_ns = 0 },
		{ .cpu = 3, .capacity = 446, .exit_ns = 10, .left_ns = 5000 },
		{ .cpu = 4, .capacity = 1024, .exit_ns = 1, .left_ns = 0 },
	};

	lull_waeas_expect_best(test, idles, ARRAY_SIZE(idles), 3);
}

static void lull_waeas_then_the_sleep_that_paid_off(struct kunit *test)
{
	static const struct lull_waeas_idle idles[] = {
		{ .cpu = PREV, .capacity = 446, .exit_ns = 10, .left_ns = 1 },
		{ .cpu = 3, .capacity = 446, .exit_ns = 10, .left_ns = 0 },
		{ .cpu = 4, .capacity = 446, .exit_ns = 11, .left_ns = 0 },
	};

	lull_waeas_expect_best(test, idles, ARRAY_SIZE(idles), 3);
}

static void lull_waeas_equals_stay_where_they_were(struct kunit *test)
{
	static const struct lull_waeas_idle idles[] = {
		{ .cpu = 1, .capacity = 446 },
		{ .cpu = PREV, .capacity = 446 },
		{ .cpu = 3, .capacity = 446 },
	};

	lull_waeas_expect_best(test, idles, ARRAY_SIZE(idles), PREV);
	/* Who was nowhere of these goes to the first. */
	KUNIT_EXPECT_EQ(test, lull_waeas_best(&idles[2], 1, false), 3);
	KUNIT_EXPECT_FALSE(test, lull_waeas_is_better(&idles[2], &idles[0], PREV));
}

static void lull_waeas_recalls_the_last_place(struct kunit *test)
{
	struct lull_waeas_partner partners[LULL_WAEAS_PARTNERS] = {};

	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 7, NOW), -1);
	lull_waeas_remember(partners, 7, 5, NOW);
	lull_waeas_remember(partners, 8, 4, NOW);
	lull_waeas_remember(partners, 7, 6, NOW + 1);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 7, NOW + 1), 6);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 8, NOW + 1), 4);
	/* It did not take a second place. */
	KUNIT_EXPECT_EQ(test, partners[2].pid, 0);
}

static void lull_waeas_forgets_after_half_a_second(struct kunit *test)
{
	struct lull_waeas_partner partners[LULL_WAEAS_PARTNERS] = {};

	lull_waeas_remember(partners, 7, 0, NOW);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 7, NOW + HZ / 2), 0);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 7, NOW + HZ / 2 + 1), -1);
	/* Woken again, it is known again. */
	lull_waeas_remember(partners, 7, 3, NOW + HZ);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 7, NOW + HZ), 3);
}

static void lull_waeas_forgets_the_oldest_of_five(struct kunit *test)
{
	struct lull_waeas_partner partners[LULL_WAEAS_PARTNERS] = {};
	int i;

	for (i = 0; i < LULL_WAEAS_PARTNERS; i++)
		lull_waeas_remember(partners, 10 + i, i, NOW + i);
	/* The first one is the newest from now on, and the second the oldest. */
	lull_waeas_remember(partners, 10, 7, NOW + LULL_WAEAS_PARTNERS);
	lull_waeas_remember(partners, 20, 6, NOW + LULL_WAEAS_PARTNERS + 1);

	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 11, NOW + 9), -1);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 20, NOW + 9), 6);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 10, NOW + 9), 7);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 12, NOW + 9), 2);
	KUNIT_EXPECT_EQ(test, lull_waeas_recall(partners, 13, NOW + 9), 3);
}

static struct kunit_case lull_waeas_choose_cases[] = {
	KUNIT_CASE(lull_waeas_least_capacity_first),
	KUNIT_CASE(lull_waeas_then_the_lightest_state),
	KUNIT_CASE(lull_waeas_then_the_sleep_that_paid_off),
	KUNIT_CASE(lull_waeas_equals_stay_where_they_were),
	KUNIT_CASE(lull_waeas_recalls_the_last_place),
	KUNIT_CASE(lull_waeas_forgets_after_half_a_second),
	KUNIT_CASE(lull_waeas_forgets_the_oldest_of_five),
	{}
};

static struct kunit_suite lull_waeas_choose_suite = {
	.name = "lull-waeas-choose",
	.test_cases = lull_waeas_choose_cases,
};

kunit_test_suite(lull_waeas_choose_suite);
