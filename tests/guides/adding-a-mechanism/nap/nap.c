// SPDX-License-Identifier: GPL-2.0-only
/* Counts how often a CPU goes into an idle state that is deep enough. */
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "idle.h"
#include "lull.h"

static atomic_t nap_count;
static unsigned int nap_depth = 2;

static void nap_enter(unsigned int cpu, unsigned int depth)
{
	if (depth >= READ_ONCE(nap_depth))
		atomic_inc(&nap_count);
}

static struct lull_idle_watcher nap_watcher = { .enter = nap_enter };

static int nap_enable(struct lull_system *system)
{
	return lull_idle_watch(&nap_watcher);
}

static int nap_disable(struct lull_system *system)
{
	lull_idle_unwatch(&nap_watcher);
	return 0;
}

static struct lull_system nap_system = {
	.name = "nap",
	.enable = nap_enable,
	.disable = nap_disable,
};

static ssize_t depth_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(nap_depth));
}

static ssize_t depth_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	unsigned int depth;

	if (kstrtouint(buf, 10, &depth) || depth < 1 || depth > 4)
		return -EINVAL;
	WRITE_ONCE(nap_depth, depth);

	return count;
}

static struct kobj_attribute depth_attr = __ATTR_RW(depth);

static ssize_t sleeps_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&nap_count));
}

static struct kobj_attribute sleeps_attr = __ATTR_RO(sleeps);

static const struct attribute *nap_attrs[] = { &depth_attr.attr, &sleeps_attr.attr, NULL };

static int __init nap_init(void)
{
	int error = lull_register_system(&nap_system);

	if (error)
		return error;
	error = sysfs_create_files(nap_system.kobj, nap_attrs);
	if (error)
		lull_unregister_system(&nap_system);

	return error;
}
late_initcall(nap_init);
