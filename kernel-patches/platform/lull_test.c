// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the registry through its own interface and through the switch that
 * sysfs calls. They need no particular machine.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kernfs.h>
#include <linux/kthread.h>
#include <linux/of.h>

#include "lull.h"

struct lull_probe {
	struct lull_system system;
	int enable_error;
	int disable_error;
	int enabled_times;
	int disabled_times;
	atomic_t inside;
	int overlaps;
};

static struct lull_probe *to_probe(struct lull_system *system)
{
	return container_of(system, struct lull_probe, system);
}

/* Sleeps, so that whoever is let in at the same time gets in. */
static void lull_probe_inside(struct lull_probe *probe)
{
	if (atomic_inc_return(&probe->inside) != 1)
		probe->overlaps++;
	fsleep(50);
	atomic_dec(&probe->inside);
}

static int lull_probe_enable(struct lull_system *system)
{
	struct lull_probe *probe = to_probe(system);

	lull_probe_inside(probe);
	if (probe->enable_error)
		return probe->enable_error;
	probe->enabled_times++;
	return 0;
}

static int lull_probe_disable(struct lull_system *system)
{
	struct lull_probe *probe = to_probe(system);

	lull_probe_inside(probe);
	if (probe->disable_error)
		return probe->disable_error;
	probe->disabled_times++;
	return 0;
}

static struct lull_probe *lull_probe_make(struct kunit *test, const char *name)
{
	struct lull_probe *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, probe);
	probe->system.name = name;
	probe->system.enable = lull_probe_enable;
	probe->system.disable = lull_probe_disable;
	return probe;
}

static void lull_probe_remove(void *data)
{
	struct lull_probe *probe = data;

	probe->disable_error = 0;
	lull_unregister_system(&probe->system);
}

/* Leaves no system behind, however the test ends. */
static struct lull_probe *lull_probe_register(struct kunit *test, const char *name)
{
	struct lull_probe *probe = lull_probe_make(test, name);

	KUNIT_ASSERT_EQ(test, lull_register_system(&probe->system), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, lull_probe_remove, probe), 0);
	return probe;
}

static ssize_t lull_probe_write(struct lull_probe *probe, const char *text)
{
	struct kobj_attribute *attr = &probe->system.switch_attr;

	return attr->store(probe->system.kobj, attr, text, strlen(text));
}

static void lull_expect_read(struct kunit *test, struct lull_probe *probe, const char *text)
{
	struct kobj_attribute *attr = &probe->system.switch_attr;
	char *page = kunit_kzalloc(test, PAGE_SIZE * 2, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	page = PTR_ALIGN(page, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, attr->show(probe->system.kobj, attr, page), strlen(text));
	KUNIT_EXPECT_STREQ(test, page, text);
}

static void lull_test_register(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-register");
	struct kernfs_node *file;

	KUNIT_EXPECT_FALSE(test, lull_enabled(&probe->system));
	KUNIT_EXPECT_EQ(test, probe->enabled_times, 0);
	KUNIT_EXPECT_STREQ(test, kobject_name(probe->system.kobj), "test-register");
	KUNIT_EXPECT_STREQ(test, kobject_name(probe->system.kobj->parent), "lull");

	file = kernfs_find_and_get(probe->system.kobj->sd, "enabled");
	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_EXPECT_EQ(test, file->mode & 0777, 0644);
	kernfs_put(file);
	lull_expect_read(test, probe, "0\n");
}

static void lull_test_malformed(struct kunit *test)
{
	static const char * const names[] = { NULL, "", "a/b" };
	struct lull_probe *probe;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		probe = lull_probe_make(test, names[i]);
		KUNIT_EXPECT_EQ(test, lull_register_system(&probe->system), -EINVAL);
	}

	probe = lull_probe_make(test, "test-malformed");
	probe->system.enable = NULL;
	KUNIT_EXPECT_EQ(test, lull_register_system(&probe->system), -EINVAL);

	probe = lull_probe_make(test, "test-malformed");
	probe->system.disable = NULL;
	KUNIT_EXPECT_EQ(test, lull_register_system(&probe->system), -EINVAL);
}

static void lull_test_switch(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-switch");

	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "1\n"), 2);
	KUNIT_EXPECT_TRUE(test, lull_enabled(&probe->system));
	lull_expect_read(test, probe, "1\n");

	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "1\n"), 2);
	KUNIT_EXPECT_EQ(test, probe->enabled_times, 1);

	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "on\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "10\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "perhaps\n"), -EINVAL);
	KUNIT_EXPECT_TRUE(test, lull_enabled(&probe->system));

	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "0\n"), 2);
	KUNIT_EXPECT_FALSE(test, lull_enabled(&probe->system));
	lull_expect_read(test, probe, "0\n");
	KUNIT_EXPECT_EQ(test, probe->disabled_times, 1);

	KUNIT_EXPECT_EQ(test, lull_set_enabled(&probe->system, false), 0);
	KUNIT_EXPECT_EQ(test, probe->disabled_times, 1);
}

static void lull_test_enable_fails(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-enable-fails");

	probe->enable_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "1\n"), -EBUSY);
	KUNIT_EXPECT_FALSE(test, lull_enabled(&probe->system));

	probe->enable_error = 0;
	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "1\n"), 2);
	KUNIT_EXPECT_TRUE(test, lull_enabled(&probe->system));
}

static void lull_test_disable_fails(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-disable-fails");

	KUNIT_ASSERT_EQ(test, lull_set_enabled(&probe->system, true), 0);
	probe->disable_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, lull_probe_write(probe, "0\n"), -EBUSY);
	KUNIT_EXPECT_TRUE(test, lull_enabled(&probe->system));

	KUNIT_EXPECT_EQ(test, lull_unregister_system(&probe->system), -EBUSY);
	KUNIT_EXPECT_TRUE(test, lull_enabled(&probe->system));
	lull_expect_read(test, probe, "1\n");
}

static void lull_test_duplicate(struct kunit *test)
{
	static const char * const files[] = { "engine", "platform" };
	struct lull_probe *first = lull_probe_register(test, "test-duplicate");
	struct lull_probe *second = lull_probe_make(test, "test-duplicate");
	int i;

	KUNIT_EXPECT_EQ(test, lull_register_system(&first->system), -EEXIST);
	KUNIT_EXPECT_EQ(test, lull_register_system(&second->system), -EEXIST);
	KUNIT_EXPECT_EQ(test, lull_set_enabled(&second->system, true), -ENODEV);
	KUNIT_EXPECT_EQ(test, lull_unregister_system(&second->system), -ENODEV);
	KUNIT_EXPECT_EQ(test, lull_set_enabled(&first->system, true), 0);

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		second = lull_probe_make(test, files[i]);
		KUNIT_EXPECT_EQ(test, lull_register_system(&second->system), -EEXIST);
	}
}

static void lull_test_unregister(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-unregister");
	struct kobject *parent = kobject_get(probe->system.kobj->parent);

	KUNIT_ASSERT_EQ(test, lull_set_enabled(&probe->system, true), 0);
	KUNIT_EXPECT_EQ(test, lull_unregister_system(&probe->system), 0);
	KUNIT_EXPECT_EQ(test, probe->disabled_times, 1);
	KUNIT_EXPECT_FALSE(test, lull_enabled(&probe->system));
	KUNIT_EXPECT_NULL(test, kernfs_find_and_get(parent->sd, "test-unregister"));
	KUNIT_EXPECT_EQ(test, lull_unregister_system(&probe->system), -ENODEV);
	KUNIT_EXPECT_EQ(test, lull_set_enabled(&probe->system, true), -ENODEV);
	kobject_put(parent);

	KUNIT_EXPECT_EQ(test, lull_register_system(&probe->system), 0);
	KUNIT_EXPECT_FALSE(test, lull_enabled(&probe->system));
}

#define LULL_FLIPS 200

struct lull_flipper {
	struct lull_probe *probe;
	struct completion done;
	int unexpected;
};

static int lull_flip(void *data)
{
	struct lull_flipper *flipper = data;
	int i, error;

	for (i = 0; i < LULL_FLIPS; i++) {
		error = lull_set_enabled(&flipper->probe->system, i & 1);
		if (error && error != -ENODEV)
			flipper->unexpected++;
	}
	complete(&flipper->done);
	return 0;
}

static void lull_test_race(struct kunit *test)
{
	struct lull_probe *probe = lull_probe_register(test, "test-race");
	struct lull_flipper *flippers;
	struct task_struct *task;
	int i, started = 0;

	flippers = kunit_kcalloc(test, 4, sizeof(*flippers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, flippers);
	for (i = 0; i < 4; i++) {
		flippers[i].probe = probe;
		init_completion(&flippers[i].done);
		task = kthread_run(lull_flip, &flippers[i], "lull-flip/%d", i);
		if (IS_ERR(task))
			break;
		started++;
	}
	KUNIT_EXPECT_EQ(test, started, 4);

	/* The name comes and goes under the flippers. */
	for (i = 0; i < LULL_FLIPS / 10; i++) {
		KUNIT_EXPECT_EQ(test, lull_unregister_system(&probe->system), 0);
		KUNIT_EXPECT_EQ(test, lull_register_system(&probe->system), 0);
	}

	for (i = 0; i < started; i++) {
		wait_for_completion(&flippers[i].done);
		KUNIT_EXPECT_EQ(test, flippers[i].unexpected, 0);
	}
	KUNIT_EXPECT_EQ(test, probe->overlaps, 0);
	KUNIT_EXPECT_EQ(test, probe->enabled_times - probe->disabled_times,
			lull_enabled(&probe->system));
}

static void lull_test_machine(struct kunit *test)
{
	struct property engine = { .name = "engine", .value = "gem5", .length = 5 };
	struct device_node node = { .name = "lull", .properties = &engine };

	KUNIT_EXPECT_STREQ(test, lull_machine_string(&node, "engine"), "gem5");
	KUNIT_EXPECT_STREQ(test, lull_machine_string(&node, "platform"), "unknown");
	KUNIT_EXPECT_STREQ(test, lull_machine_string(NULL, "engine"), "unknown");
}

static struct kunit_case lull_test_cases[] = {
	KUNIT_CASE(lull_test_register),
	KUNIT_CASE(lull_test_malformed),
	KUNIT_CASE(lull_test_switch),
	KUNIT_CASE(lull_test_enable_fails),
	KUNIT_CASE(lull_test_disable_fails),
	KUNIT_CASE(lull_test_duplicate),
	KUNIT_CASE(lull_test_unregister),
	KUNIT_CASE(lull_test_race),
	KUNIT_CASE(lull_test_machine),
	{}
};

static struct kunit_suite lull_test_suite = {
	.name = "lull",
	.test_cases = lull_test_cases,
};

kunit_test_suite(lull_test_suite);
