// SPDX-License-Identifier: GPL-2.0-only
/* Tests of predictions. */
#include <kunit/test.h>
#include <linux/limits.h>

#include "predict.h"

static void lull_test_line(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	s64 ns_per_kib;
	u64 ns;
	u32 i;

	KUNIT_EXPECT_FALSE(test, lull_line_predict(&line, 8, &prediction));
	/* 90 us, and 2 us for each KiB: of 1, 2, 4, 8 and 16 KiB. */
	for (i = 0; i < 200; i++)
		lull_line_learn(&line, 2 << i % 5, 90000 + (1000 << i % 5) * 2, true);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 64, &prediction));
	KUNIT_EXPECT_GE(test, prediction.ns, 90000 + 64000 - 100);
	KUNIT_EXPECT_LE(test, prediction.ns, 90000 + 64000 + 100);
	KUNIT_EXPECT_LE(test, prediction.error_ns, 100);
	lull_line_shape(&line, &ns, &ns_per_kib);
	KUNIT_EXPECT_GE(test, ns, 89900);
	KUNIT_EXPECT_LE(test, ns, 90100);
	KUNIT_EXPECT_GE(test, ns_per_kib, 1990);
	KUNIT_EXPECT_LE(test, ns_per_kib, 2010);
}

/* All of one size: there is no slope, and none is needed. */
static void lull_test_one_size(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	s64 ns_per_kib;
	u64 ns;
	int i;

	for (i = 0; i < 100; i++)
		lull_line_learn(&line, 8, 100000 + i % 3 * 1000, true);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_GE(test, prediction.ns, 100800);
	KUNIT_EXPECT_LE(test, prediction.ns, 101200);
	lull_line_shape(&line, &ns, &ns_per_kib);
	KUNIT_EXPECT_EQ(test, ns_per_kib, 0);
}

static void lull_test_outlier(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	int i;

	for (i = 0; i < 100; i++)
		lull_line_learn(&line, 8, i % 20 == 19 ? 20000000 : 100000 + i % 2 * 100, true);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_GE(test, prediction.ns, 100000);
	KUNIT_EXPECT_LE(test, prediction.ns, 101000);
}

/* A device that has become slower is believed after a few requests. */
static void lull_test_change(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	int i;

	for (i = 0; i < 100; i++)
		lull_line_learn(&line, 8, 100000, true);
	for (i = 0; i < LULL_LINE_OUTLIERS + LULL_LINE_LEAST; i++)
		lull_line_learn(&line, 8, 500000, true);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 500000);
}

/*
 * Some latencies contain what a CPU took to wake, until that is known. They make a line of
 * their own, which is forgotten as soon as there are enough exact ones. Later ones do not
 * count, unless they are shorter than what is expected.
 */
static void lull_test_exact(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	int i;

	for (i = 0; i < LULL_LINE_LEAST; i++)
		lull_line_learn(&line, 8, 180000, false);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 180000);
	for (i = 0; i < LULL_LINE_LEAST; i++) {
		KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
		KUNIT_EXPECT_GT(test, prediction.ns, 100000);
		lull_line_learn(&line, 8, 100000, true);
	}
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 100000);
	KUNIT_EXPECT_EQ(test, prediction.error_ns, 0);
	for (i = 0; i < 100; i++)
		lull_line_learn(&line, 8, 180000, false);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 100000);
	for (i = 0; i < 100; i++)
		lull_line_learn(&line, 8, 90000, false);
	KUNIT_ASSERT_TRUE(test, lull_line_predict(&line, 8, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 90000);
}

/* Latencies without rule are not predicted, and the greatest numbers overflow nothing. */
static void lull_test_chaos(struct kunit *test)
{
	struct lull_prediction prediction;
	struct lull_line line = {};
	unsigned int predicted = 0;
	u64 random = 1;
	int i;

	for (i = 0; i < 1000; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		lull_line_learn(&line, 8, 20000 + (random >> 33) % 2000000, true);
		predicted += lull_line_predict(&line, 8, &prediction);
	}
	KUNIT_EXPECT_LE(test, predicted, 100);

	for (i = 0; i < 1000; i++) {
		lull_line_learn(&line, i % 2 ? U32_MAX : 0, i % 3 ? U64_MAX : 0, true);
		if (lull_line_predict(&line, U32_MAX, &prediction))
			KUNIT_EXPECT_LE(test, prediction.ns, LULL_LINE_NS);
	}
}

static void lull_test_history(struct kunit *test)
{
	struct lull_history history = {};
	struct lull_prediction prediction;
	int i;

	lull_history_learn(&history, 900000);
	lull_history_learn(&history, 540000);
	KUNIT_EXPECT_FALSE(test, lull_history_predict(&history, &prediction));
	/* The first one took longer, as K-means does. */
	for (i = 0; i < 4; i++)
		lull_history_learn(&history, 515000 + i * 10000);
	KUNIT_ASSERT_TRUE(test, lull_history_predict(&history, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, 540000);
	for (i = 0; i < 1000; i++)
		lull_history_learn(&history, i % 2 ? 100000 : 2000000);
	KUNIT_EXPECT_FALSE(test, lull_history_predict(&history, &prediction));
	for (i = 0; i < LULL_HISTORY_SAMPLES; i++)
		lull_history_learn(&history, U64_MAX);
	KUNIT_ASSERT_TRUE(test, lull_history_predict(&history, &prediction));
	KUNIT_EXPECT_EQ(test, prediction.ns, U32_MAX);
	KUNIT_EXPECT_EQ(test, prediction.error_ns, 0);
}

static struct kunit_case lull_predict_cases[] = {
	KUNIT_CASE(lull_test_line),
	KUNIT_CASE(lull_test_one_size),
	KUNIT_CASE(lull_test_outlier),
	KUNIT_CASE(lull_test_change),
	KUNIT_CASE(lull_test_exact),
	KUNIT_CASE(lull_test_chaos),
	KUNIT_CASE(lull_test_history),
	{}
};

static struct kunit_suite lull_predict_suite = {
	.name = "lull-predict",
	.test_cases = lull_predict_cases,
};

kunit_test_suite(lull_predict_suite);
