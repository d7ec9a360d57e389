// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of staged bursts. What they do is in bursts_sched.c.
 *
 *   /sys/kernel/lull/bursts/spread   1: a burst's tasks are spread over idle CPUs
 *   /sys/kernel/lull/bursts/eager    1: a CPU without work takes a burst's waiting tasks
 */
#include <linux/init.h>
#include <linux/sysfs.h>

#include "bursts.h"
#include "lull.h"

#define CREATE_TRACE_POINTS
#include "bursts_trace.h"

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

static ssize_t spread_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(lull_bursts_spread));
}

static ssize_t spread_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	return lull_store_bool(&lull_bursts_spread, buf, count);
}

static struct kobj_attribute spread_attr = __ATTR_RW(spread);

static ssize_t eager_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(lull_bursts_pulls));
}

static ssize_t eager_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	return lull_store_bool(&lull_bursts_pulls, buf, count);
}

static struct kobj_attribute eager_attr = __ATTR_RW(eager);

static const struct attribute *const lull_bursts_attrs[] = {
	&spread_attr.attr,
	&eager_attr.attr,
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
