// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wall clock: a counter that no system's switch touches. Every read() of
 * /dev/lull-clock returns its 64 bits, to anybody: it is a time and nothing
 * else. There is no mmap(): a page of an SP804 in the hands of a program would
 * let it end the simulation (sp804.h). A program that cannot afford a system
 * call has CLOCK_MONOTONIC, which events carry too.
 */
#include <kunit/visibility.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "sp804.h"
#include "wall_clock.h"

/* On QEMU there are no registers, and the count is computed. */
struct lull_clock {
	struct lull_sp804 timer;
	ktime_t zero;
};

static struct lull_clock *lull_clock;

/*
 * The 64 bits of a count of which the counter has some 32. gem5's SP804 never
 * rests at 0: a round has 2^32 - 1 ticks. The kernel's clock is far more than
 * good enough to tell in which round we are.
 */
VISIBLE_IF_KUNIT u64 lull_clock_extend(u32 counted, u64 expected)
{
	const u64 round = U32_MAX;
	u64 rounds = 0;

	if (expected > counted)
		rounds = div64_u64(expected - counted + round / 2, round);

	return counted + rounds * round;
}

/**
 * lull_clock_read - read the wall clock
 *
 * Context: any.
 * Return: the reading; all 0 but @at on a machine without a wall clock.
 */
struct lull_clock_reading lull_clock_read(void)
{
	/* Pairs with the release in lull_clock_probe(). */
	const struct lull_clock *clock = smp_load_acquire(&lull_clock);
	struct lull_clock_reading reading = { .at = ktime_get() };
	u64 expected;

	if (!clock)
		return reading;

	reading.hz = clock->timer.hz;
	expected = lull_sp804_to_ticks(&clock->timer,
				       ktime_to_ns(ktime_sub(reading.at, clock->zero)));
	reading.count = clock->timer.base ?
			lull_clock_extend(lull_sp804_counted(&clock->timer), expected) : expected;
	return reading;
}

/**
 * lull_clock_count_at - what the wall clock showed when something happened
 * @reading: a reading taken afterwards
 * @earlier: when it happened
 *
 * Return: the count, right to one tick; 0 without a wall clock.
 */
u64 lull_clock_count_at(const struct lull_clock_reading *reading, ktime_t earlier)
{
	s64 ns = ktime_to_ns(ktime_sub(reading->at, earlier));
	u64 ticks;

	if (ns <= 0)
		return reading->count;
	ticks = mul_u64_u64_div_u64(ns, reading->hz, NSEC_PER_SEC);
	return reading->count - min(ticks, reading->count);
}

/**
 * lull_clock_hz - the rate of the wall clock
 *
 * Return: the rate, 0 on a machine without one.
 */
u32 lull_clock_hz(void)
{
	/* Pairs with the release in lull_clock_probe(). */
	const struct lull_clock *clock = smp_load_acquire(&lull_clock);

	return clock ? clock->timer.hz : 0;
}

static ssize_t lull_clock_file_read(struct file *file, char __user *to, size_t size,
				    loff_t *position)
{
	u64 count = lull_clock_read().count;

	if (size < sizeof(count))
		return -EINVAL;
	if (copy_to_user(to, &count, sizeof(count)))
		return -EFAULT;
	return sizeof(count);
}

static const struct file_operations lull_clock_file_operations = {
	.owner = THIS_MODULE,
	.read = lull_clock_file_read,
	.llseek = noop_llseek,
};

static struct miscdevice lull_clock_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lull-clock",
	.mode = 0444,
	.fops = &lull_clock_file_operations,
};

/**
 * lull_clock_probe - start the wall clock
 * @device: an SP804, or its stand-in, which has no registers
 *
 * Return: 0, -EEXIST for a second one, or what is wrong with the device.
 */
int lull_clock_probe(struct platform_device *device)
{
	struct lull_clock *clock;
	int error;

	if (lull_clock)
		return -EEXIST;
	clock = devm_kzalloc(&device->dev, sizeof(*clock), GFP_KERNEL);
	if (!clock)
		return -ENOMEM;

	error = lull_sp804_get(device, &clock->timer);
	if (error)
		return error;
	if (clock->timer.base)
		lull_sp804_run(&clock->timer);
	clock->zero = ktime_get();

	error = misc_register(&lull_clock_device);
	if (error)
		return error;

	/* Pairs with the acquires above. */
	smp_store_release(&lull_clock, clock);
	return 0;
}
