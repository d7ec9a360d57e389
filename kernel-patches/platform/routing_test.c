// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what routing decides, and of what it reads from its user. They need
 * no particular machine: a CPU here is a bit in a mask.
 */
#include <kunit/test.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>

#include "routing.h"

/* CPUs 0 to 3, of which 3 is the shadow. */
#define SHADOW 3

static void lull_route_cpus_of(struct cpumask *mask, unsigned long bits)
{
	unsigned int cpu;

	cpumask_clear(mask);
	for (cpu = 0; cpu <= SHADOW; cpu++)
		if (bits & BIT(cpu))
			cpumask_set_cpu(cpu, mask);
}

static void lull_route_test_owner(struct kunit *test)
{
	static const struct {
		int consumer;
		int home;
		unsigned long wish;
		unsigned long online;
		int owner;
	} cases[] = {
		{ .consumer = -1, .home = 0, .wish = 0x7, .online = 0xf, .owner = 0 },
		{ .consumer = 2, .home = 0, .wish = 0x7, .online = 0xf, .owner = 2 },
		/* A consumer need not be where the user wants the interrupt. */
		{ .consumer = 2, .home = 0, .wish = 0x1, .online = 0xf, .owner = 2 },
		{ .consumer = 2, .home = 0, .wish = 0x7, .online = 0xb, .owner = 0 },
		/* Home went offline and genirq has not chosen another yet. */
		{ .consumer = -1, .home = 1, .wish = 0x6, .online = 0xd, .owner = 2 },
		{ .consumer = 1, .home = 1, .wish = 0x2, .online = 0xd, .owner = 0 },
		/* Never programmed. */
		{ .consumer = -1, .home = -1, .wish = 0x6, .online = 0xf, .owner = 1 },
		{ .consumer = -1, .home = -1, .wish = 0x0, .online = 0xc, .owner = 2 },
	};
	struct cpumask *wish = kunit_kzalloc(test, cpumask_size(), GFP_KERNEL);
	struct cpumask *online = kunit_kzalloc(test, cpumask_size(), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, wish);
	KUNIT_ASSERT_NOT_NULL(test, online);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		lull_route_cpus_of(wish, cases[i].wish);
		lull_route_cpus_of(online, cases[i].online);
		KUNIT_EXPECT_EQ_MSG(test, lull_route_owner(cases[i].consumer, cases[i].home,
							   wish, online),
				    cases[i].owner, "case %d", i);
	}
}

static void lull_route_test_target(struct kunit *test)
{
	static const struct {
		enum lull_route_policy policy;
		unsigned int threshold;
		unsigned int depth;
		bool keep;
		int shadow;
		unsigned long online;
		int target;
		enum lull_route_reason reason;
	} cases[] = {
		{ LULL_ROUTE_NONE, 2, 0, false, SHADOW, 0xf, 1, LULL_ROUTE_BY_NONE },
		{ LULL_ROUTE_NONE, 2, 4, false, SHADOW, 0xf, 1, LULL_ROUTE_BY_NONE },
		{ LULL_ROUTE_ASLEEP, 2, 0, false, SHADOW, 0xf, 1, LULL_ROUTE_BY_AWAKE },
		{ LULL_ROUTE_ASLEEP, 2, 1, false, SHADOW, 0xf, 1, LULL_ROUTE_BY_AWAKE },
		{ LULL_ROUTE_ASLEEP, 2, 2, false, SHADOW, 0xf, SHADOW, LULL_ROUTE_BY_SLEEP },
		{ LULL_ROUTE_ASLEEP, 2, 4, false, SHADOW, 0xf, SHADOW, LULL_ROUTE_BY_SLEEP },
		{ LULL_ROUTE_ASLEEP, 4, 3, false, SHADOW, 0xf, 1, LULL_ROUTE_BY_AWAKE },
		{ LULL_ROUTE_ASLEEP, 4, 4, false, SHADOW, 0xf, SHADOW, LULL_ROUTE_BY_SLEEP },
		/* Left with its consumer, whatever that does. */
		{ LULL_ROUTE_NONE, 2, 4, true, SHADOW, 0xf, 1, LULL_ROUTE_BY_NONE },
		{ LULL_ROUTE_ASLEEP, 2, 1, true, SHADOW, 0xf, 1, LULL_ROUTE_BY_AWAKE },
		{ LULL_ROUTE_ASLEEP, 2, 4, true, SHADOW, 0xf, 1, LULL_ROUTE_BY_WANTED },
		{ LULL_ROUTE_ASLEEP, 2, 4, true, SHADOW, 0x7, 1, LULL_ROUTE_BY_OFFLINE },
		/* But the other policy asks nobody. */
		{ LULL_ROUTE_ALWAYS, 2, 4, true, SHADOW, 0xf, SHADOW, LULL_ROUTE_BY_ALWAYS },
		{ LULL_ROUTE_ASLEEP, 2, 4, false, SHADOW, 0x7, 1, LULL_ROUTE_BY_OFFLINE },
		{ LULL_ROUTE_ASLEEP, 2, 4, false, -1, 0xf, 1, LULL_ROUTE_BY_OFFLINE },
		{ LULL_ROUTE_ALWAYS, 2, 0, false, SHADOW, 0xf, SHADOW, LULL_ROUTE_BY_ALWAYS },
		{ LULL_ROUTE_ALWAYS, 2, 0, false, SHADOW, 0x7, 1, LULL_ROUTE_BY_OFFLINE },
		{ LULL_ROUTE_ALWAYS, 2, 0, false, -1, 0xf, 1, LULL_ROUTE_BY_OFFLINE },
	};
	struct cpumask *online = kunit_kzalloc(test, cpumask_size(), GFP_KERNEL);
	enum lull_route_reason reason;
	int i, target;

	KUNIT_ASSERT_NOT_NULL(test, online);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		lull_route_cpus_of(online, cases[i].online);
		target = lull_route_target(cases[i].policy, cases[i].threshold, 1,
					   cases[i].depth, cases[i].keep, cases[i].shadow,
					   online, &reason);
		KUNIT_EXPECT_EQ_MSG(test, target, cases[i].target, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, reason, cases[i].reason, "case %d", i);
	}
}

/* The bound is what the deepest state takes that is not deeper than wished. */
static void lull_route_test_rest(struct kunit *test)
{
	struct cpuidle_driver *drv = kunit_kzalloc(test, sizeof(*drv), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, drv);
	drv->state_count = 3;
	drv->states[0] = (struct cpuidle_state){ .desc = "WFI", .exit_latency_ns = 1000 };
	drv->states[1] = (struct cpuidle_state){ .desc = "C2", .exit_latency_ns = 10000 };
	drv->states[2] = (struct cpuidle_state){ .desc = "C4", .exit_latency_ns = 500000 };

	KUNIT_EXPECT_EQ(test, lull_route_rest_of(drv, 1), 1000);
	KUNIT_EXPECT_EQ(test, lull_route_rest_of(drv, 2), 10000);
	KUNIT_EXPECT_EQ(test, lull_route_rest_of(drv, 3), 10000);
	KUNIT_EXPECT_EQ(test, lull_route_rest_of(drv, 4), 500000);
}

static void lull_route_test_parse(struct kunit *test)
{
	static const struct {
		const char *text;
		struct lull_route_request request;
	} cases[] = {
		{ "34\n", { .number = 34, .consumer = -1 } },
		{ " 34 ", { .number = 34, .consumer = -1 } },
		{ "hwirq:34", { .number = 34, .is_hwirq = true, .consumer = -1 } },
		{ "-34", { .number = 34, .unmark = true, .consumer = -1 } },
		{ "-hwirq:34",
		  { .number = 34, .unmark = true, .is_hwirq = true, .consumer = -1 } },
		{ "34 consumer=2\n", { .number = 34, .has_consumer = true, .consumer = 2 } },
		{ "34  consumer=auto",
		  { .number = 34, .has_consumer = true, .consumer = -1 } },
	};
	struct lull_route_request request;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct lull_route_request *expected = &cases[i].request;

		KUNIT_EXPECT_EQ_MSG(test, lull_route_parse(cases[i].text, &request), 0, "%s",
				    cases[i].text);
		KUNIT_EXPECT_EQ(test, request.number, expected->number);
		KUNIT_EXPECT_EQ(test, request.is_hwirq, expected->is_hwirq);
		KUNIT_EXPECT_EQ(test, request.unmark, expected->unmark);
		KUNIT_EXPECT_EQ(test, request.has_consumer, expected->has_consumer);
		KUNIT_EXPECT_EQ(test, request.consumer, expected->consumer);
	}
}

static void lull_route_test_malformed(struct kunit *test)
{
	static const char * const texts[] = {
		"", "\n", "-", "hwirq:", "rtc", "34 35", "34\n35", "--34", "+34 x", "0x22", "34,35",
		"4294967296", "34 consumer=", "34 consumer=-1", "34 consumer=none",
		"34 consumer=1 2", "34 consumer=4294967295", "-34 consumer=1", "34 cpu=1",
		"34 consumer=000000000000000000000000000000000000000000000000000000000001",
	};
	struct lull_route_request request;
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, lull_route_parse(texts[i], &request), -EINVAL,
				    "\"%s\"", texts[i]);
}

static struct kunit_case lull_route_test_cases[] = {
	KUNIT_CASE(lull_route_test_owner),
	KUNIT_CASE(lull_route_test_target),
	KUNIT_CASE(lull_route_test_rest),
	KUNIT_CASE(lull_route_test_parse),
	KUNIT_CASE(lull_route_test_malformed),
	{}
};

static struct kunit_suite lull_route_test_suite = {
	.name = "lull-routing",
	.test_cases = lull_route_test_cases,
};

kunit_test_suite(lull_route_test_suite);
