// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what is between a frequency and a level of the energy controller,
 * on the model that QEMU has for it: the mapping, the checks, and what the
 * controller does with requests that overlap.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/processor.h>
#include <linux/sched/clock.h>
#include <linux/string.h>

#include "energy_ctrl.h"

#define LATENCY_NS	1000
#define NEVER_NS	U32_MAX

/* As a controller on gem5 reports 850, 640 and 450 MHz: periods of 1176, 1563 and 2222 ps. */
static const struct energy_ctrl_point rounded[] = {
	{ .hz = 850340000, .uv = 1000000 },
	{ .hz = 639795000, .uv = 891999 },
	{ .hz = 450045000, .uv = 819000 },
};

static const struct energy_ctrl_point nominal[] = {
	{ .hz = 850000000, .uv = 1000000 },
	{ .hz = 640000000, .uv = 892000 },
	{ .hz = 450000000, .uv = 819000 },
};

static struct energy_ctrl *make(struct kunit *test, u32 latency_ns)
{
	struct device *dev = kunit_device_register(test, "energy-ctrl-test");
	struct energy_ctrl *ctrl;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	ctrl = energy_ctrl_model(dev, 2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctrl);
	KUNIT_ASSERT_EQ(test, 0, ctrl->ops->describe(ctrl, 7, rounded, 3, latency_ns));
	KUNIT_ASSERT_EQ(test, 0, ctrl->ops->describe(ctrl, 3, nominal, 2, latency_ns));

	return ctrl;
}

static u32 settled(struct energy_ctrl *ctrl, u32 domain)
{
	u64 until = local_clock() + 2 * LATENCY_NS;

	while (local_clock() < until)
		cpu_relax();

	return energy_ctrl_level(ctrl, domain);
}

static void energy_ctrl_test_mirror(struct kunit *test)
{
	unsigned int index;

	for (index = 0; index < 3; index++) {
		KUNIT_EXPECT_EQ(test, energy_ctrl_mirror(3, index), 2 - index);
		KUNIT_EXPECT_EQ(test, energy_ctrl_mirror(3, energy_ctrl_mirror(3, index)), index);
	}
	KUNIT_EXPECT_EQ(test, energy_ctrl_mirror(1, 0), 0);
	/* A level that does not exist is taken for the slowest. */
	KUNIT_EXPECT_EQ(test, energy_ctrl_mirror(3, 3), 0);
}

static void energy_ctrl_test_level_for(struct kunit *test)
{
	static const struct {
		unsigned int khz;
		u32 level;
	} cases[] = {
		{ 0, 2 }, { 449999, 2 }, { 450000, 2 }, { 450001, 1 }, { 640000, 1 },
		{ 640001, 0 }, { 850000, 0 }, { 850001, 0 }, { UINT_MAX, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ(test, energy_ctrl_level_for(nominal, 3, cases[i].khz),
				cases[i].level);
	KUNIT_EXPECT_EQ(test, energy_ctrl_level_for(nominal, 1, 0), 0);
}

static void energy_ctrl_test_agrees(struct kunit *test)
{
	struct energy_ctrl *ctrl = make(test, LATENCY_NS);

	KUNIT_EXPECT_EQ(test, energy_ctrl_check(ctrl, 0), 0);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check(ctrl, 2), 0);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, nominal, 3, LATENCY_NS), 0);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 3, nominal, 2, LATENCY_NS), 0);
}

static void energy_ctrl_test_differs(struct kunit *test)
{
	struct energy_ctrl *ctrl = make(test, LATENCY_NS);
	struct energy_ctrl_point points[3];
	int i;

	KUNIT_EXPECT_EQ(test, energy_ctrl_check(ctrl, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check(ctrl, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 0, nominal, 3, LATENCY_NS), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, nominal, 2, LATENCY_NS), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 3, nominal, 3, LATENCY_NS), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, nominal, 3, LATENCY_NS + 1),
			-EINVAL);

	for (i = 0; i < 3; i++) {
		/* Periods that are two picoseconds off, and voltages that are 2 uV off. */
		memcpy(points, nominal, sizeof(points));
		points[i].hz += points[i].hz / 1000 * points[i].hz / 1000000000 * 2;
		KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, points, 3, LATENCY_NS),
				-EINVAL);
		memcpy(points, rounded, sizeof(points));
		points[i].uv += 2;
		KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, points, 3, LATENCY_NS),
				-EINVAL);
		memcpy(points, nominal, sizeof(points));
		points[i].hz = 0;
		KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(ctrl, 7, points, 3, LATENCY_NS),
				-EINVAL);
	}
}

static void energy_ctrl_test_change(struct kunit *test)
{
	struct energy_ctrl *ctrl = make(test, LATENCY_NS);
	u32 level;

	KUNIT_EXPECT_EQ(test, energy_ctrl_level(ctrl, 7), 0);
	for (level = 3; level-- > 0;) {
		energy_ctrl_request(ctrl, 7, level);
		KUNIT_EXPECT_EQ(test, settled(ctrl, 7), level);
	}
	KUNIT_EXPECT_EQ(test, energy_ctrl_level(ctrl, 3), 0);

	/* A level that does not exist changes nothing. */
	energy_ctrl_request(ctrl, 7, 3);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 7), 0);
}

static void energy_ctrl_test_overlap(struct kunit *test)
{
	struct energy_ctrl *ctrl = make(test, LATENCY_NS);

	/* Each domain changes by itself. */
	energy_ctrl_request(ctrl, 7, 2);
	energy_ctrl_request(ctrl, 3, 1);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 7), 2);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 3), 1);

	/* The last of several requests is what counts. */
	energy_ctrl_request(ctrl, 7, 0);
	energy_ctrl_request(ctrl, 7, 1);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 7), 1);
}

static void energy_ctrl_test_under_way(struct kunit *test)
{
	struct energy_ctrl *ctrl = make(test, NEVER_NS);

	energy_ctrl_request(ctrl, 7, 2);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 7), 0);

	/* Back to the level that it never left: nothing is under way any more. */
	energy_ctrl_request(ctrl, 7, 0);
	KUNIT_EXPECT_EQ(test, settled(ctrl, 7), 0);
}

/* A controller that gem5 was told not to enable reads as zero everywhere. */
static u32 read_zero(struct energy_ctrl *ctrl, enum energy_ctrl_register reg)
{
	return 0;
}

static void write_nothing(struct energy_ctrl *ctrl, enum energy_ctrl_register reg, u32 value)
{
}

static void energy_ctrl_test_off(struct kunit *test)
{
	static const struct energy_ctrl_ops off = { .read = read_zero, .write = write_nothing };
	struct device *dev = kunit_device_register(test, "energy-ctrl-test");
	struct energy_ctrl ctrl;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	energy_ctrl_init(&ctrl, dev, &off);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check(&ctrl, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, energy_ctrl_check_domain(&ctrl, 0, nominal, 3, 0), -EINVAL);
}

static struct kunit_case energy_ctrl_test_cases[] = {
	KUNIT_CASE(energy_ctrl_test_mirror),
	KUNIT_CASE(energy_ctrl_test_level_for),
	KUNIT_CASE(energy_ctrl_test_agrees),
	KUNIT_CASE(energy_ctrl_test_differs),
	KUNIT_CASE(energy_ctrl_test_off),
	KUNIT_CASE(energy_ctrl_test_change),
	KUNIT_CASE(energy_ctrl_test_overlap),
	KUNIT_CASE(energy_ctrl_test_under_way),
	{}
};

static struct kunit_suite energy_ctrl_test_suite = {
	.name = "lull-energy-ctrl",
	.test_cases = energy_ctrl_test_cases,
};

kunit_test_suite(energy_ctrl_test_suite);
