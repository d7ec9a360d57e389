// SPDX-License-Identifier: GPL-2.0-only
/*
 * What machine this is, and the run-time switch of every lull system:
 *
 *   /sys/kernel/lull/engine             gem5, qemu or unknown
 *   /sys/kernel/lull/platform           the platform's name or unknown
 *   /sys/kernel/lull/<system>/enabled   0 or 1, 0 after boot
 */
#define pr_fmt(fmt) "lull: " fmt

#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "lull.h"

static struct kobject *lull_kobj;
struct dentry *lull_debugfs;

/* Protects the list and every system's state; held across the callbacks. */
static DEFINE_MUTEX(lull_lock);
static LIST_HEAD(lull_systems);

VISIBLE_IF_KUNIT const char *lull_machine_string(const struct device_node *node,
						 const char *property)
{
	const char *value;

	if (of_property_read_string(node, property, &value))
		return "unknown";

	return value;
}

static ssize_t lull_machine_show(char *buf, const char *property)
{
	struct device_node *node = of_find_node_by_path("/lull");
	ssize_t length = sysfs_emit(buf, "%s\n", lull_machine_string(node, property));

	of_node_put(node);
	return length;
}

static ssize_t engine_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return lull_machine_show(buf, "engine");
}

static struct kobj_attribute engine_attr = __ATTR_RO(engine);

static ssize_t platform_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return lull_machine_show(buf, "platform");
}

static struct kobj_attribute platform_attr = __ATTR_RO(platform);

static const struct attribute *const lull_attrs[] = {
	&engine_attr.attr,
	&platform_attr.attr,
#ifdef CONFIG_LULL_IDLE
	&lull_cstates_attr.attr,
#endif
	NULL
};

static int lull_switch(struct lull_system *system, bool enable)
{
	int error;

	lockdep_assert_held(&lull_lock);

	if (!system->registered)
		return -ENODEV;
	if (system->enabled == enable)
		return 0;

	error = enable ? system->enable(system) : system->disable(system);
	if (error)
		return error;

	WRITE_ONCE(system->enabled, enable);
	return 0;
}

/**
 * lull_set_enabled - turn a system on or off
 * @system: the system
 * @enable: on or off; what it already is costs nothing
 *
 * Return: 0, the callback's error, or -ENODEV if it is not registered.
 */
int lull_set_enabled(struct lull_system *system, bool enable)
{
	int error;

	mutex_lock(&lull_lock);
	error = lull_switch(system, enable);
	mutex_unlock(&lull_lock);

	return error;
}

/**
 * lull_store_bool - what is written to a file of sysfs that takes 0 and 1
 * @value: takes it; may be read at any time
 * @buf: the text
 * @count: its length
 *
 * Return: what the file's store() is to return.
 */
ssize_t lull_store_bool(bool *value, const char *buf, size_t count)
{
	unsigned int is;

	if (kstrtouint(buf, 10, &is) || is > 1)
		return -EINVAL;
	WRITE_ONCE(*value, is);

	return count;
}

/* The show() of a struct lull_number. */
ssize_t lull_number_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_number *number = container_of(attr, struct lull_number, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*number->value));
}

/* The store() of a struct lull_number. */
ssize_t lull_number_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct lull_number *number = container_of(attr, struct lull_number, attr);
	unsigned int value;

	if (kstrtouint(buf, 10, &value) || value < number->least || value > number->most)
		return -EINVAL;
	WRITE_ONCE(*number->value, value);
	if (number->then)
		number->then();

	return count;
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_system *system = container_of(attr, struct lull_system, switch_attr);

	return sysfs_emit(buf, "%d\n", lull_enabled(system));
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	struct lull_system *system = container_of(attr, struct lull_system, switch_attr);
	bool enable;
	int error = lull_store_bool(&enable, buf, count);

	if (error < 0)
		return error;
	error = lull_set_enabled(system, enable);

	return error ? error : count;
}

static bool lull_name_taken(const char *name)
{
	const struct attribute *const *attr;
	struct lull_system *system;

	lockdep_assert_held(&lull_lock);

	for (attr = lull_attrs; *attr; attr++)
		if (!strcmp((*attr)->name, name))
			return true;

	list_for_each_entry(system, &lull_systems, node)
		if (!strcmp(system->name, name))
			return true;

	return false;
}

static int lull_add_directory(struct lull_system *system)
{
	const struct kobj_attribute switch_attr = __ATTR_RW(enabled);
	int error;

	system->switch_attr = switch_attr;
	sysfs_attr_init(&system->switch_attr.attr);

	system->kobj = kobject_create_and_add(system->name, lull_kobj);
	if (!system->kobj)
		return -ENOMEM;

	error = sysfs_create_file(system->kobj, &system->switch_attr.attr);
	if (error) {
		kobject_put(system->kobj);
		system->kobj = NULL;
	}

	return error;
}

/**
 * lull_register_system - give a system its switch, in the off position
 * @system: the system; it belongs to the registry until unregistered
 *
 * Context: process context, from device_initcall() on.
 * Return: 0, -EINVAL for no name, a name that is no directory name or a
 * missing callback, -EEXIST for a name in use, -ENODEV before the registry
 * exists, or sysfs' own error.
 */
int lull_register_system(struct lull_system *system)
{
	int error;

	if (!system->name || !*system->name || strchr(system->name, '/') ||
	    !system->enable || !system->disable)
		return -EINVAL;
	if (!lull_kobj)
		return -ENODEV;

	mutex_lock(&lull_lock);
	error = -EEXIST;
	if (lull_name_taken(system->name))
		goto out;

	system->enabled = false;
	error = lull_add_directory(system);
	if (error)
		goto out;

	list_add_tail(&system->node, &lull_systems);
	system->registered = true;
out:
	mutex_unlock(&lull_lock);
	return error;
}

/**
 * lull_unregister_system - turn a system off and take its switch away
 * @system: the system; it is the caller's again when this returns 0
 *
 * Return: 0, -ENODEV if it is not registered, or the error of disable(),
 * in which case it stays registered and on.
 */
int lull_unregister_system(struct lull_system *system)
{
	int error;

	mutex_lock(&lull_lock);
	error = lull_switch(system, false);
	if (!error)
		system->registered = false;
	mutex_unlock(&lull_lock);
	if (error)
		return error;

	/* Waits for writers, which wait for the lock. The name stays taken. */
	kobject_del(system->kobj);
	kobject_put(system->kobj);
	system->kobj = NULL;

	mutex_lock(&lull_lock);
	list_del(&system->node);
	mutex_unlock(&lull_lock);

	return 0;
}

static int __init lull_init(void)
{
	struct device_node *node;
	struct kobject *kobj;
	int error;

	lull_debugfs = debugfs_create_dir("lull", NULL);
	kobj = kobject_create_and_add("lull", kernel_kobj);
	if (!kobj)
		return -ENOMEM;

	error = sysfs_create_files(kobj, lull_attrs);
	if (error) {
		kobject_put(kobj);
		return error;
	}
	lull_kobj = kobj;

	node = of_find_node_by_path("/lull");
	pr_info("engine %s, platform %s\n", lull_machine_string(node, "engine"),
		lull_machine_string(node, "platform"));
	of_node_put(node);

	return 0;
}
subsys_initcall(lull_init);
