// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of which CPUs may leave, on a machine made up here: CPUs 0 to 7 are
 * online, 7 is isolated, 8 is offline.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/string.h>

#include "hotplug_mask.h"

struct lull_test_masks {
	struct lull_pseudo_state state;
	struct lull_pseudo_change change;
	struct cpumask wish;
};

static void lull_test_set(struct cpumask *mask, unsigned long bits)
{
	cpumask_clear(mask);
	cpumask_bits(mask)[0] = bits;
}

static struct lull_test_masks *lull_test_make(struct kunit *test, unsigned long out)
{
	struct lull_test_masks *masks = kunit_kzalloc(test, sizeof(*masks), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, masks);
	lull_test_set(&masks->state.out, out);
	lull_test_set(&masks->state.online, 0xff);
	lull_test_set(&masks->state.home, 0x17f);
	/* What an error must leave alone. */
	lull_test_set(&masks->change.down, 0xdead);
	lull_test_set(&masks->change.up, 0xdead);
	return masks;
}

static int lull_test_plan(struct lull_test_masks *masks, unsigned long wish)
{
	lull_test_set(&masks->wish, wish);
	return lull_pseudo_plan(&masks->state, &masks->wish, &masks->change);
}

static void lull_expect_change(struct kunit *test, struct lull_test_masks *masks,
			       unsigned long down, unsigned long up)
{
	KUNIT_EXPECT_EQ(test, cpumask_bits(&masks->change.down)[0], down);
	KUNIT_EXPECT_EQ(test, cpumask_bits(&masks->change.up)[0], up);
}

static void lull_test_down_and_up(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0x0c);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x18), 0);
	lull_expect_change(test, masks, 0x10, 0x04);
}

static void lull_test_nothing(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0x0c);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x0c), 0);
	lull_expect_change(test, masks, 0, 0);
}

static void lull_test_all_but_one(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0xfe), 0);
	lull_expect_change(test, masks, 0xfe, 0);
	/* The boot CPU is like any other. */
	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0xfd), 0);
	lull_expect_change(test, masks, 0xfd, 0);
}

static void lull_test_last(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0x7e);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0xff), -EBUSY);
	/* An isolated CPU cannot have the others' work. */
	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x7f), -EBUSY);
	lull_expect_change(test, masks, 0xdead, 0xdead);
	/* Another comes back with the same write. */
	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x7d), 0);
	lull_expect_change(test, masks, 0x01, 0x02);
}

static void lull_test_offline(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x102), -ENODEV);
	lull_expect_change(test, masks, 0xdead, 0xdead);
}

/* A CPU that went offline while it was out stays out, and may come back. */
static void lull_test_offline_while_out(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0x100);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x102), 0);
	lull_expect_change(test, masks, 0x02, 0);
	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0), 0);
	lull_expect_change(test, masks, 0, 0x100);
}

/* Suspend may leave only CPUs that are out: those still come back. */
static void lull_test_up_when_none_is_left(struct kunit *test)
{
	struct lull_test_masks *masks = lull_test_make(test, 0xff);

	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0xff), 0);
	lull_expect_change(test, masks, 0, 0);
	KUNIT_EXPECT_EQ(test, lull_test_plan(masks, 0x7f), 0);
	lull_expect_change(test, masks, 0, 0x80);
}

static void lull_test_parse(struct kunit *test)
{
	static const char * const bad[] = {
		"x", "0-", "-1", "1-0", "0x1", "1 2", "all", "N", "0-3:1/2", "0,99999",
		"99999999999", "0\n1", "0\n\n", "\n0", "-", "0--1",
	};
	struct cpumask *mask = kunit_kzalloc(test, sizeof(*mask), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, mask);
	KUNIT_EXPECT_EQ(test, lull_pseudo_parse("0\n", mask), 0);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(mask, cpumask_of(0)));
	KUNIT_EXPECT_EQ(test, lull_pseudo_parse("\n", mask), 0);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(mask));
	KUNIT_EXPECT_EQ(test, lull_pseudo_parse("", mask), 0);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(mask));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, lull_pseudo_parse(bad[i], mask), -EINVAL, "%s", bad[i]);
}

static struct kunit_case lull_hotplug_cases[] = {
	KUNIT_CASE(lull_test_down_and_up),
	KUNIT_CASE(lull_test_nothing),
	KUNIT_CASE(lull_test_all_but_one),
	KUNIT_CASE(lull_test_last),
	KUNIT_CASE(lull_test_offline),
	KUNIT_CASE(lull_test_offline_while_out),
	KUNIT_CASE(lull_test_up_when_none_is_left),
	KUNIT_CASE(lull_test_parse),
	{}
};

static struct kunit_suite lull_hotplug_suite = {
	.name = "lull-hotplug",
	.test_cases = lull_hotplug_cases,
};

kunit_test_suite(lull_hotplug_suite);
