/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_H
#define _LULL_H

#include <linux/compiler.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct device_node;

/* How names are shown, with a backslash: what others chose, on one line. */
#define LULL_ESCAPES (ESCAPE_NAP | ESCAPE_OCTAL | ESCAPE_APPEND)

/**
 * struct lull_system - one mechanism with one run-time switch
 * @name: its directory under /sys/kernel/lull
 * @enable: turns it on; 0 or a negative errno, which leaves it off
 * @disable: turns it off; 0 or a negative errno, which leaves it on
 * @kobj: its directory while registered, for files of its own
 *
 * The callbacks may sleep and never run concurrently, with themselves or with
 * those of another system. They must not call the registry. The rest is the
 * registry's own.
 */
struct lull_system {
	const char *name;
	int (*enable)(struct lull_system *system);
	int (*disable)(struct lull_system *system);
	struct kobject *kobj;

	/* private: */
	struct kobj_attribute switch_attr;
	struct list_head node;
	bool registered;
	bool enabled;
};

/**
 * struct lull_number - a file of sysfs with a number in a range
 * @attr: the file
 * @value: the number; may be read at any time
 * @least: the smallest that it may be
 * @most: and the largest
 * @then: comes after each change, or NULL
 */
struct lull_number {
	struct kobj_attribute attr;
	unsigned int *value;
	unsigned int least;
	unsigned int most;
	void (*then)(void);
};

/* The file @_name of a variable. Another number, or text that is none, is -EINVAL. */
#define LULL_NUMBER_THEN(_name, _variable, _least, _most, _then)			\
	struct lull_number lull_number_##_name = {					\
		.attr = __ATTR(_name, 0644, lull_number_show, lull_number_store),	\
		.value = &(_variable),							\
		.least = _least,							\
		.most = _most,								\
		.then = _then,								\
	}

#define LULL_NUMBER(_name, _variable, _least, _most)					\
	LULL_NUMBER_THEN(_name, _variable, _least, _most, NULL)

/* /sys/kernel/debug/lull, from subsys_initcall() on. */
extern struct dentry *lull_debugfs;

/* /sys/kernel/lull/cstates */
extern struct kobj_attribute lull_cstates_attr;

int lull_register_system(struct lull_system *system);
int lull_unregister_system(struct lull_system *system);
int lull_set_enabled(struct lull_system *system, bool enable);
ssize_t lull_store_bool(bool *value, const char *buf, size_t count);
ssize_t lull_number_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
ssize_t lull_number_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count);

/**
 * lull_enabled - whether a system is on; takes no lock, for hot paths
 * @system: the system, registered or not
 *
 * Return: true between a successful enable() and the next disable().
 */
static inline bool lull_enabled(const struct lull_system *system)
{
	return READ_ONCE(system->enabled);
}

#if IS_ENABLED(CONFIG_KUNIT)
const char *lull_machine_string(const struct device_node *node, const char *property);
#endif

#endif /* _LULL_H */
