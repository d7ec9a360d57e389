// SPDX-License-Identifier: GPL-2.0-only
/* Tests of probes that are registered all or none, with trace points that are made up here. */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/panic.h>
#include <linux/rcupdate.h>

#include "probes.h"

static int lull_refuse(void)
{
	return -ENOMEM;
}

static void lull_test_probe(void *unused)
{
}

static struct tracepoint lull_point = { .name = "lull_point" };
static struct tracepoint lull_bad_point = { .name = "lull_bad_point", .regfunc = lull_refuse };
static struct tracepoint lull_last_point = { .name = "lull_last_point" };

static bool lull_has_probe(const struct tracepoint *point)
{
	return rcu_access_pointer(point->funcs);
}

static void lull_probes_come_and_go(struct kunit *test)
{
	static const struct lull_trace_probe probes[] = {
		{ &lull_point, lull_test_probe },
		{ &lull_last_point, lull_test_probe },
	};

	KUNIT_ASSERT_EQ(test, lull_register_probes(probes, ARRAY_SIZE(probes)), 0);
	KUNIT_EXPECT_TRUE(test, lull_has_probe(&lull_point));
	KUNIT_EXPECT_TRUE(test, lull_has_probe(&lull_last_point));
	lull_unregister_probes(probes, ARRAY_SIZE(probes));
	KUNIT_EXPECT_FALSE(test, lull_has_probe(&lull_point));
	KUNIT_EXPECT_FALSE(test, lull_has_probe(&lull_last_point));
}

/* A warning of those that were never there would taint the kernel. */
static void lull_probes_fail_together(struct kunit *test)
{
	static const struct lull_trace_probe probes[] = {
		{ &lull_point, lull_test_probe },
		{ &lull_bad_point, lull_test_probe },
		{ &lull_last_point, lull_test_probe },
	};
	bool warned = test_taint(TAINT_WARN);

	KUNIT_EXPECT_EQ(test, lull_register_probes(probes, ARRAY_SIZE(probes)), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, lull_has_probe(&lull_point));
	KUNIT_EXPECT_FALSE(test, lull_has_probe(&lull_bad_point));
	KUNIT_EXPECT_FALSE(test, lull_has_probe(&lull_last_point));
	KUNIT_EXPECT_EQ(test, test_taint(TAINT_WARN), warned);
}

static struct kunit_case lull_probes_cases[] = {
	KUNIT_CASE(lull_probes_come_and_go),
	KUNIT_CASE(lull_probes_fail_together),
	{}
};

static struct kunit_suite lull_probes_suite = {
	.name = "lull-probes",
	.test_cases = lull_probes_cases,
};

kunit_test_suite(lull_probes_suite);
