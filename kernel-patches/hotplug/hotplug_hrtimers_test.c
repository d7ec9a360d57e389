// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of moving pending timers, on the machine itself: from this CPU to another
 * one, as this CPU does before it sleeps.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "hotplug_sched.h"

#define LULL_TEST_FAR (10 * NSEC_PER_SEC)

static struct hrtimer_sleeper *lull_test_sleeper(struct kunit *test, clockid_t clock)
{
	struct hrtimer_sleeper *sleeper = kunit_kzalloc(test, sizeof(*sleeper), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sleeper);
	hrtimer_init_sleeper(sleeper, clock, HRTIMER_MODE_REL);
	return sleeper;
}

/* Here, whatever get_nohz_timer_target() would say. Interrupts are off. */
static void lull_test_start(struct hrtimer_sleeper *sleeper, u64 ns)
{
	hrtimer_start_range_ns(&sleeper->timer, ns_to_ktime(ns), 0,
			       HRTIMER_MODE_REL_PINNED | (sleeper->timer.is_hard ?
							  HRTIMER_MODE_HARD : 0));
}

static unsigned int lull_test_cpu_of(const struct hrtimer_sleeper *sleeper)
{
	return sleeper->timer.base->cpu_base->cpu;
}

static enum hrtimer_restart lull_test_nothing(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* Sleepers of each clock leave; what is the kernel's, and a task that is bound, stay. */
static void lull_test_who_moves(struct kunit *test)
{
	struct hrtimer_sleeper *mono = lull_test_sleeper(test, CLOCK_MONOTONIC);
	struct hrtimer_sleeper *real = lull_test_sleeper(test, CLOCK_REALTIME);
	struct hrtimer_sleeper *bound = lull_test_sleeper(test, CLOCK_MONOTONIC);
	struct hrtimer_sleeper *own = lull_test_sleeper(test, CLOCK_MONOTONIC);
	unsigned int other, here, cpus[4];
	unsigned long flags;

	own->timer.function = lull_test_nothing;

	local_irq_save(flags);
	here = smp_processor_id();
	other = cpumask_any_but(cpu_online_mask, here);
	bound->task = this_cpu_ksoftirqd();
	if (other < nr_cpu_ids) {
		lull_test_start(mono, LULL_TEST_FAR);
		lull_test_start(real, LULL_TEST_FAR);
		lull_test_start(bound, LULL_TEST_FAR);
		lull_test_start(own, LULL_TEST_FAR);
		lull_hrtimers_move(other);
		cpus[0] = lull_test_cpu_of(mono);
		cpus[1] = lull_test_cpu_of(real);
		cpus[2] = lull_test_cpu_of(bound);
		cpus[3] = lull_test_cpu_of(own);
	}
	local_irq_restore(flags);

	if (other >= nr_cpu_ids)
		kunit_skip(test, "one CPU");
	KUNIT_EXPECT_EQ(test, cpus[0], other);
	KUNIT_EXPECT_EQ(test, cpus[1], other);
	KUNIT_EXPECT_EQ(test, cpus[2], here);
	KUNIT_EXPECT_EQ(test, cpus[3], here);
	/* All are queued, wherever they are. */
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&mono->timer), 1);
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&real->timer), 1);
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&bound->timer), 1);
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&own->timer), 1);
}

/* What was moved fires in time, in whatever order it was started. */
static void lull_test_moved_timers_fire(struct kunit *test)
{
	static const unsigned int ms[] = { 30, 10, 40, 20 };
	struct hrtimer_sleeper *sleepers[ARRAY_SIZE(ms)];
	unsigned long flags;
	unsigned int other;
	int i;

	for (i = 0; i < ARRAY_SIZE(ms); i++)
		sleepers[i] = lull_test_sleeper(test, CLOCK_MONOTONIC);

	local_irq_save(flags);
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (other < nr_cpu_ids) {
		for (i = 0; i < ARRAY_SIZE(ms); i++)
			lull_test_start(sleepers[i], ms[i] * NSEC_PER_MSEC);
		lull_hrtimers_move(other);
	}
	local_irq_restore(flags);

	if (other >= nr_cpu_ids)
		kunit_skip(test, "one CPU");
	/* Nothing else makes the other CPU look at its timers for longer than a tick. */
	msleep(200);
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		KUNIT_EXPECT_NULL(test, READ_ONCE(sleepers[i]->task));
		KUNIT_EXPECT_EQ(test, hrtimer_cancel(&sleepers[i]->timer), 0);
	}
}

/* Very many do not keep interrupts off for long: some stay for the next time. */
static void lull_test_few_at_once(struct kunit *test)
{
	struct hrtimer_sleeper *sleepers[LULL_HRTIMERS_AT_ONCE + 10];
	unsigned int other, i, moved[2] = {}, times;
	unsigned long flags;

	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		sleepers[i] = lull_test_sleeper(test, CLOCK_MONOTONIC);

	local_irq_save(flags);
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (other < nr_cpu_ids) {
		for (i = 0; i < ARRAY_SIZE(sleepers); i++)
			lull_test_start(sleepers[i], LULL_TEST_FAR);
		for (times = 0; times < ARRAY_SIZE(moved); times++) {
			lull_hrtimers_move(other);
			for (i = 0; i < ARRAY_SIZE(sleepers); i++)
				moved[times] += lull_test_cpu_of(sleepers[i]) == other;
		}
	}
	local_irq_restore(flags);

	if (other >= nr_cpu_ids)
		kunit_skip(test, "one CPU");
	/* Those of others may have been before them. */
	KUNIT_EXPECT_LE(test, moved[0], LULL_HRTIMERS_AT_ONCE);
	KUNIT_EXPECT_GT(test, moved[1], moved[0]);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		KUNIT_EXPECT_EQ(test, hrtimer_cancel(&sleepers[i]->timer), 1);
}

static struct kunit_case lull_hrtimers_cases[] = {
	KUNIT_CASE(lull_test_who_moves),
	KUNIT_CASE(lull_test_moved_timers_fire),
	KUNIT_CASE(lull_test_few_at_once),
	{}
};

static struct kunit_suite lull_hrtimers_suite = {
	.name = "lull-hotplug-hrtimers",
	.test_cases = lull_hrtimers_cases,
};

kunit_test_suite(lull_hrtimers_suite);
