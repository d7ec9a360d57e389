// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of staged bursts, and what a thread says of those whom it wakes. What becomes of
 * both is in bursts_sched.c.
 *
 *   /sys/kernel/lull/bursts/spread   1: a burst's tasks are spread over idle CPUs
 *   /sys/kernel/lull/bursts/eager    1: a CPU without work takes a burst's waiting tasks
 */
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/once.h>
#include <linux/sysfs.h>

#include "bursts.h"
#include "lull.h"

#define CREATE_TRACE_POINTS
#include "bursts_trace.h"

/**
 * lull_bursts_set_deadline - prctl(PR_SET_BURST_DEADLINE)
 * @us: how long those are held at most whom the calling thread wakes from now on; 0 for no such
 *	time
 * @arg3: 0, and so are the others
 * @arg4: as @arg3
 * @arg5: as @arg3
 *
 * Whose stage heeds it is not known here. So any thread may say what it likes, and a stage has its
 * own least deadline.
 *
 * Return: 0, or -EINVAL.
 */
int lull_bursts_set_deadline(unsigned long us, unsigned long arg3, unsigned long arg4,
			     unsigned long arg5)
{
	if (us > BURST_DEADLINE_MOST_US || arg3 || arg4 || arg5)
		return -EINVAL;

	/* Before the deadline is there. Later calls do not wait for the locks of static keys. */
	if (us)
		DO_ONCE_SLEEPABLE(static_key_enable, &lull_bursts_used_key.key);
	/* Read by this thread only. */
	current->bursts_deadline_us = us;
	return 0;
}

static int lull_bursts_enable(struct lull_system *system)
{
	lull_bursts_start();
	return 0;
}

static int lull_bursts_disable(struct lull_system *system)
{
	lull_bursts_stop();
	return 0;
}

static struct lull_system lull_bursts_system = {
	.name = "bursts",
	.enable = lull_bursts_enable,
	.disable = lull_bursts_disable,
};

static LULL_NUMBER(spread, lull_bursts_spread, 0, 1);
static LULL_NUMBER(eager, lull_bursts_pulls, 0, 1);

static const struct attribute *const lull_bursts_attrs[] = {
	&lull_number_spread.attr.attr,
	&lull_number_eager.attr.attr,
	NULL
};

static int __init lull_bursts_init(void)
{
	int error = lull_bursts_add_files();

	if (error)
		return error;
	error = lull_register_system(&lull_bursts_system);
	if (error)
		return error;
	error = sysfs_create_files(lull_bursts_system.kobj, lull_bursts_attrs);
	if (error)
		lull_unregister_system(&lull_bursts_system);

	return error;
}
device_initcall(lull_bursts_init);
