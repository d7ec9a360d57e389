// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of which CPUs a load needs, on a machine made up here: CPUs 0 to 3 are
 * small, 4 to 7 are large, 2 is not to be had.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "hotplug_governor.h"

#define LULL_TEST_COUNT 7

/* The CPUs that are wanted, of loads and tasks on CPU 0 and, if not 0, CPU 4. */
static unsigned long lull_test_choose(struct kunit *test, unsigned long small,
				      unsigned long large, unsigned int running,
				      unsigned int crowd, unsigned int peak)
{
	static const unsigned int numbers[LULL_TEST_COUNT] = { 0, 1, 3, 4, 5, 6, 7 };
	struct lull_governor_cpu cpus[LULL_TEST_COUNT] = {};
	struct cpumask *wish = kunit_kzalloc(test, sizeof(*wish), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, wish);
	for (i = 0; i < LULL_TEST_COUNT; i++) {
		cpus[i].cpu = numbers[i];
		cpus[i].capacity = numbers[i] < 4 ? 400 : 1000;
	}
	cpus[0].util = small;
	cpus[0].running = running;
	cpus[3].util = large;
	cpus[3].running = large ? 1 : 0;
	lull_governor_choose(cpus, LULL_TEST_COUNT, 80, crowd, peak, wish);
	return cpumask_bits(wish)[0];
}

static void lull_test_idle_needs_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 0, 0, 0, 0, 0), 0x01);
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 320, 0, 1, 1, 1), 0x01);
}

static void lull_test_use_needs_more(struct kunit *test)
{
	/* Two tasks, together more than 80 % of a small CPU. */
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 321, 0, 2, 1, 2), 0x03);
	/* More than two could use: there were two tasks at most. */
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 700, 0, 2, 1, 2), 0x03);
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 700, 0, 3, 1, 3), 0x0b);
	/* All small ones, and one large. */
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 1200, 0, 9, 1, 9), 0x1b);
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 9999, 0, 9, 1, 9), 0xfb);
}

static void lull_test_waiting_needs_more(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 10, 0, 3, 3, 3), 0x0b);
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 10, 0, 99, 99, 99), 0xfb);
}

static void lull_test_one_task_needs_a_large_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 321, 0, 1, 1, 1), 0x11);
	/* It is there, and stays. */
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 0, 500, 0, 1, 1), 0x11);
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 0, 320, 0, 1, 1), 0x01);
	/* None is large enough: one of the largest. */
	KUNIT_EXPECT_EQ(test, lull_test_choose(test, 0, 1000, 0, 1, 1), 0x11);
}

static void lull_test_decay(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lull_governor_decay(1024, 0), 1024UL);
	KUNIT_EXPECT_EQ(test, lull_governor_decay(1024, 16 * NSEC_PER_MSEC), 768UL);
	KUNIT_EXPECT_EQ(test, lull_governor_decay(1024, 32 * NSEC_PER_MSEC), 512UL);
	KUNIT_EXPECT_EQ(test, lull_governor_decay(1024, 64 * NSEC_PER_MSEC), 256UL);
	KUNIT_EXPECT_EQ(test, lull_governor_decay(1024, 10ULL * NSEC_PER_SEC), 0UL);
	KUNIT_EXPECT_EQ(test, lull_governor_decay(0, 5), 0UL);
}

static struct kunit_case lull_governor_cases[] = {
	KUNIT_CASE(lull_test_idle_needs_one),
	KUNIT_CASE(lull_test_use_needs_more),
	KUNIT_CASE(lull_test_waiting_needs_more),
	KUNIT_CASE(lull_test_one_task_needs_a_large_one),
	KUNIT_CASE(lull_test_decay),
	{}
};

static struct kunit_suite lull_governor_suite = {
	.name = "lull-hotplug-governor",
	.test_cases = lull_governor_cases,
};

kunit_test_suite(lull_governor_suite);
