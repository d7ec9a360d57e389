// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of WAEAS. What they do is in waeas_sched.c.
 *
 *   /sys/kernel/lull/waeas/tracking, placement, frequency, inherit, window_us, alpha   loads
 *   /sys/kernel/lull/waeas/select, pack, pack_percent, pack_apart, associate, balance   the parts
 *   /sys/kernel/lull/waeas/latency_sensitive   root's: "+PID" or "-PID"
 *   /sys/kernel/lull/waeas/stats               root's: decisions since boot
 */
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "lull.h"
#include "waeas.h"

/* For the static keys, which follow from the switch and the settings. */
static DEFINE_MUTEX(lull_waeas_lock);
static bool lull_waeas_on;

static void lull_waeas_flip(struct static_key_false *key, bool is_used)
{
	if (lull_waeas_on && is_used)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/* Comes after each change of a setting: a part that is off costs nothing. */
static void lull_waeas_follow(void)
{
	bool tracks, chooses, associates;

	guard(mutex)(&lull_waeas_lock);
	/* Before the others: no task gets a load that its child would keep. */
	if (lull_waeas_on)
		static_branch_enable(&lull_waeas_used_key);
	tracks = READ_ONCE(lull_waeas.tracking) != LULL_WAEAS_PELT;
	associates = READ_ONCE(lull_waeas.associate);
	chooses = READ_ONCE(lull_waeas.select) || READ_ONCE(lull_waeas.pack) || associates;
	if (lull_waeas_on && tracks && !static_key_enabled(&lull_waeas_track_key)) {
		WRITE_ONCE(lull_waeas_era, lull_waeas_era + 1);
		lull_waeas_forget_speeds();
	}
	lull_waeas_flip(&lull_waeas_track_key, tracks);
	lull_waeas_flip(&lull_waeas_place_key, tracks && READ_ONCE(lull_waeas.placement));
	lull_waeas_flip(&lull_waeas_choose_key, chooses);
	lull_waeas_flip(&lull_waeas_associate_key, associates);
	lull_waeas_flip(&lull_waeas_balance_key, READ_ONCE(lull_waeas.balance));
}

static void lull_waeas_turn(bool on)
{
	scoped_guard(mutex, &lull_waeas_lock)
		lull_waeas_on = on;
	lull_waeas_follow();
}

static int lull_waeas_enable(struct lull_system *system)
{
	lull_waeas_turn(true);
	return 0;
}

static int lull_waeas_disable(struct lull_system *system)
{
	lull_waeas_turn(false);
	return 0;
}

static struct lull_system lull_waeas_system = {
	.name = "waeas",
	.enable = lull_waeas_enable,
	.disable = lull_waeas_disable,
};

static LULL_NUMBER(frequency, lull_waeas.frequency, 0, 1);
static LULL_NUMBER(inherit, lull_waeas.inherit, 0, 1);
static LULL_NUMBER(window_us, lull_waeas.window_us, 1000, 100000);
static LULL_NUMBER(alpha, lull_waeas.alpha, 1, 1023);
static LULL_NUMBER(pack_percent, lull_waeas.pack_percent, 1, 100);
static LULL_NUMBER(pack_apart, lull_waeas.pack_apart, 0, 1);
static LULL_NUMBER_THEN(placement, lull_waeas.placement, 0, 1, lull_waeas_follow);
static LULL_NUMBER_THEN(select, lull_waeas.select, 0, 1, lull_waeas_follow);
static LULL_NUMBER_THEN(pack, lull_waeas.pack, 0, 1, lull_waeas_follow);
static LULL_NUMBER_THEN(associate, lull_waeas.associate, 0, 1, lull_waeas_follow);
static LULL_NUMBER_THEN(balance, lull_waeas.balance, 0, 1, lull_waeas_follow);

static const char * const lull_waeas_trackings[] = {
	[LULL_WAEAS_PELT] = "pelt",
	[LULL_WAEAS_WALT] = "walt",
	[LULL_WAEAS_BES] = "bes",
};

static ssize_t tracking_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", lull_waeas_trackings[READ_ONCE(lull_waeas.tracking)]);
}

static ssize_t tracking_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	int tracking = sysfs_match_string(lull_waeas_trackings, buf);

	if (tracking < 0)
		return -EINVAL;
	WRITE_ONCE(lull_waeas.tracking, tracking);
	lull_waeas_follow();

	return count;
}

static struct kobj_attribute tracking_attr = __ATTR_RW(tracking);

static ssize_t latency_sensitive_store(struct kobject *kobj, struct kobj_attribute *attr,
				       const char *buf, size_t count)
{
	int error, pid;

	/* kstrtoint() takes a sign of its own. */
	if ((buf[0] != '+' && buf[0] != '-') || !isdigit(buf[1]))
		return -EINVAL;
	if (kstrtoint(buf + 1, 10, &pid) || !pid)
		return -EINVAL;
	error = lull_waeas_mark(pid, buf[0] == '+');

	return error ?: count;
}

static struct kobj_attribute latency_sensitive_attr = __ATTR_WO(latency_sensitive);

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_waeas_counts sum = {};

	lull_waeas_sum(&sum);
	return sysfs_emit(buf, "selected %llu\npacked %llu\nreturned %llu\nlocal %llu\n",
			  sum.selected, sum.packed, sum.returned, sum.local);
}

static struct kobj_attribute stats_attr = __ATTR_RO_MODE(stats, 0400);

static const struct attribute *const lull_waeas_attrs[] = {
	&tracking_attr.attr,
	&lull_number_placement.attr.attr,
	&lull_number_frequency.attr.attr,
	&lull_number_inherit.attr.attr,
	&lull_number_window_us.attr.attr,
	&lull_number_alpha.attr.attr,
	&lull_number_select.attr.attr,
	&lull_number_pack.attr.attr,
	&lull_number_pack_percent.attr.attr,
	&lull_number_pack_apart.attr.attr,
	&lull_number_associate.attr.attr,
	&lull_number_balance.attr.attr,
	&latency_sensitive_attr.attr,
	&stats_attr.attr,
	NULL
};

static int __init lull_waeas_init(void)
{
	int error = lull_register_system(&lull_waeas_system);

	if (error)
		return error;
	error = sysfs_create_files(lull_waeas_system.kobj, lull_waeas_attrs);
	if (!error)
		error = lull_waeas_add_files();
	if (error)
		lull_unregister_system(&lull_waeas_system);

	return error;
}
device_initcall(lull_waeas_init);
