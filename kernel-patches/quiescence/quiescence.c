// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of quiescence. What they do is in quiescence_sched.c.
 *
 *   /sys/kernel/lull/quiescence/hold                 big or all
 *   /sys/kernel/lull/quiescence/bound_ms, least_us   how long tasks are held
 *   /sys/kernel/lull/quiescence/ahead                whether a CPU is awake when a wait ends
 *   /sys/kernel/lull/quiescence/stats                root's: counts since boot
 *   /sys/kernel/debug/lull/quiescence/path           root's: who is on the path; what is remembered
 */
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "lull.h"
#include "quiescence.h"

#define CREATE_TRACE_POINTS
#include "quiescence_trace.h"

static int lull_quiet_enable(struct lull_system *system)
{
	return lull_quiet_start();
}

static int lull_quiet_disable(struct lull_system *system)
{
	lull_quiet_stop();
	return 0;
}

static struct lull_system lull_quiet_system = {
	.name = "quiescence",
	.enable = lull_quiet_enable,
	.disable = lull_quiet_disable,
};

static const char * const lull_quiet_holds[] = {
	[LULL_QUIET_BIG] = "big",
	[LULL_QUIET_ALL] = "all",
};

static ssize_t hold_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", lull_quiet_holds[lull_quiet_get_hold()]);
}

static ssize_t hold_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	int error, hold = sysfs_match_string(lull_quiet_holds, buf);

	if (hold < 0)
		return -EINVAL;
	error = lull_quiet_set_hold(hold);

	return error ?: count;
}

static struct kobj_attribute hold_attr = __ATTR_RW(hold);

static ssize_t ahead_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", lull_quiet_get_plans());
}

static ssize_t ahead_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	bool plans;
	ssize_t done = lull_store_bool(&plans, buf, count);
	int error;

	if (done < 0)
		return done;
	error = lull_quiet_set_plans(plans);

	return error ?: done;
}

static struct kobj_attribute ahead_attr = __ATTR_RW(ahead);

static LULL_NUMBER(bound_ms, lull_quiet_bound_ms, 1, 10000);
static LULL_NUMBER(least_us, lull_quiet_least_us, 0, 1000000);

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_quiet_counts counts;
	int length;

	lull_quiet_count(&counts);
	length = sysfs_emit(buf, "actions %llu\njoined %llu\nevicted %llu\nlost %llu\n",
			    counts.actions, counts.joined, counts.evicted, counts.lost);
	length += sysfs_emit_at(buf, length, "waits %llu\nunknown %llu\nbrief %llu\nrefused %llu\n",
				counts.waits, counts.unknown, counts.brief, counts.refused);
	length += sysfs_emit_at(buf, length, "holds %llu\nby_path %llu\nby_deadline %llu\n",
				counts.holds, counts.by_path, counts.by_deadline);
	length += sysfs_emit_at(buf, length, "tasks %llu\nmistaken %llu\n", counts.tasks,
				counts.mistaken);
	length += sysfs_emit_at(buf, length, "planned %llu\nunsure %llu\ndeclined %llu\n",
				counts.planned, counts.unsure, counts.declined);
	length += sysfs_emit_at(buf, length,
				"plan_hits %llu\nplan_early %llu\nplan_misses %llu\nplan_dropped %llu\n",
				counts.plan_hits, counts.plan_early, counts.plan_misses,
				counts.plan_dropped);
	length += sysfs_emit_at(buf, length, "held_sum_us %llu\nheld_most_us %llu\n",
				div_u64(counts.held_ns, NSEC_PER_USEC),
				div_u64(counts.most_ns, NSEC_PER_USEC));
	return length;
}

static struct kobj_attribute stats_attr = __ATTR_RO_MODE(stats, 0400);

static const struct attribute *const lull_quiet_attrs[] = {
	&hold_attr.attr,
	&ahead_attr.attr,
	&lull_number_bound_ms.attr.attr,
	&lull_number_least_us.attr.attr,
	&stats_attr.attr,
	NULL
};

static int lull_quiet_path_show(struct seq_file *file, void *unused)
{
	lull_quiet_show(file);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(lull_quiet_path);

static int lull_quiet_cpu_offline(unsigned int cpu)
{
	lull_quiet_cpu_leaves(cpu);
	return 0;
}

static int __init lull_quiet_init(void)
{
	int error, state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "lull/quiescence:online",
						     NULL, lull_quiet_cpu_offline);

	if (state < 0)
		return state;
	error = lull_register_system(&lull_quiet_system);
	if (error)
		goto forget;
	error = sysfs_create_files(lull_quiet_system.kobj, lull_quiet_attrs);
	if (error) {
		lull_unregister_system(&lull_quiet_system);
		goto forget;
	}
	debugfs_create_file("path", 0400, debugfs_create_dir("quiescence", lull_debugfs), NULL,
			    &lull_quiet_path_fops);
	return 0;

forget:
	cpuhp_remove_state_nocalls(state);
	return error;
}
device_initcall(lull_quiet_init);
