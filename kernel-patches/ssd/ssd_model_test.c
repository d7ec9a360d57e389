// SPDX-License-Identifier: GPL-2.0-only
/* Tests of when a drive has done its requests. */
#include <kunit/test.h>

#include "ssd_model.h"

static const struct lull_ssd_model lull_test_drive = {
	.ns = { 1000, 100 },
	.ns_per_kib = { 10, 20 },
	.flush_ns = 5000,
	.channels = 2,
	.depth = 4,
};

static void lull_test_alone(struct kunit *test)
{
	struct lull_ssd_state state = {};

	KUNIT_EXPECT_EQ(test, lull_ssd_done(&lull_test_drive, &state, LULL_SSD_READ, 4096, 50),
			50 + 1000 + 40);
	KUNIT_EXPECT_EQ(test, lull_ssd_done(&lull_test_drive, &state, LULL_SSD_WRITE, 512, 9000),
			9000 + 100 + 10);
	KUNIT_EXPECT_EQ(test, lull_ssd_done(&lull_test_drive, &state, LULL_SSD_FLUSH, 0, 20000),
			25000);
}

/* Two at a time, and then one after the other on the link. */
static void lull_test_together(struct kunit *test)
{
	struct lull_ssd_state state = {};
	u64 done[3];
	int i;

	for (i = 0; i < 3; i++)
		done[i] = lull_ssd_done(&lull_test_drive, &state, LULL_SSD_READ, 4096, 0);
	KUNIT_EXPECT_EQ(test, done[0], 1040);
	KUNIT_EXPECT_EQ(test, done[1], 1080);
	KUNIT_EXPECT_EQ(test, done[2], 2040);
}

static void lull_test_flush_is_last(struct kunit *test)
{
	struct lull_ssd_state state = {};

	lull_ssd_done(&lull_test_drive, &state, LULL_SSD_READ, 4096, 0);
	KUNIT_EXPECT_EQ(test, lull_ssd_done(&lull_test_drive, &state, LULL_SSD_FLUSH, 0, 10), 6040);
}

static void lull_test_spread(struct kunit *test)
{
	struct lull_ssd_model drive = lull_test_drive;
	struct lull_ssd_state state = { .random = 7 }, again = { .random = 7 };
	u64 least = U64_MAX, most = 0, sum = 0, now = 0;
	int i;

	drive.jitter_permille = 100;
	for (i = 0; i < 1000; i++, now += 10000) {
		u64 took = lull_ssd_done(&drive, &state, LULL_SSD_READ, 0, now) - now;

		KUNIT_EXPECT_EQ(test, lull_ssd_done(&drive, &again, LULL_SSD_READ, 0, now) - now,
				took);
		least = min(least, took);
		most = max(most, took);
		sum += took;
	}
	KUNIT_EXPECT_GE(test, least, 900);
	KUNIT_EXPECT_LE(test, least, 905);
	KUNIT_EXPECT_LE(test, most, 1100);
	KUNIT_EXPECT_GE(test, most, 1095);
	KUNIT_EXPECT_GE(test, sum / 1000, 990);
	KUNIT_EXPECT_LE(test, sum / 1000, 1010);
}

static void lull_test_valid(struct kunit *test)
{
	struct lull_ssd_model drive = lull_test_drive;

	KUNIT_EXPECT_TRUE(test, lull_ssd_valid(&drive));
	drive.channels = 0;
	KUNIT_EXPECT_FALSE(test, lull_ssd_valid(&drive));
	drive.channels = LULL_SSD_CHANNELS + 1;
	KUNIT_EXPECT_FALSE(test, lull_ssd_valid(&drive));
	drive = lull_test_drive;
	drive.depth = 0;
	KUNIT_EXPECT_FALSE(test, lull_ssd_valid(&drive));
	drive = lull_test_drive;
	drive.jitter_permille = 1001;
	KUNIT_EXPECT_FALSE(test, lull_ssd_valid(&drive));
}

static struct kunit_case lull_ssd_cases[] = {
	KUNIT_CASE(lull_test_alone),
	KUNIT_CASE(lull_test_together),
	KUNIT_CASE(lull_test_flush_is_last),
	KUNIT_CASE(lull_test_spread),
	KUNIT_CASE(lull_test_valid),
	{}
};

static struct kunit_suite lull_ssd_suite = {
	.name = "lull-ssd",
	.test_cases = lull_ssd_cases,
};

kunit_test_suite(lull_ssd_suite);
