// SPDX-License-Identifier: GPL-2.0-only
/*
 * Energy-aware network stack management: its switch, its settings, and what is known as text.
 *
 *   /sys/kernel/lull/eanem/interval_us, period_us, delta_us   settings
 *   /sys/kernel/debug/lull/eanem_sockets                      what each socket received
 *   /sys/kernel/debug/lull/eanem_cpus                         each CPU's time in network softirqs
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "eanem.h"
#include "eanem_sock.h"
#include "lull.h"

#define CREATE_TRACE_POINTS
#include "eanem_trace.h"

DEFINE_STATIC_KEY_FALSE(lull_eanem_key);

unsigned int lull_eanem_interval_us = 100000;
unsigned int lull_eanem_period_us = 1000;
unsigned int lull_eanem_delta_us;

static int lull_eanem_enable(struct lull_system *system)
{
	int error = lull_eanem_watch();

	if (!error)
		static_branch_enable(&lull_eanem_key);
	return error;
}

static int lull_eanem_disable(struct lull_system *system)
{
	static_branch_disable(&lull_eanem_key);
	/* After this nobody steers, and so nobody starts the timer again. */
	lull_eanem_steer_all_back();
	lull_eanem_unwatch();
	return 0;
}

static struct lull_system lull_eanem_system = {
	.name = "eanem",
	.enable = lull_eanem_enable,
	.disable = lull_eanem_disable,
};

static LULL_NUMBER(interval_us, lull_eanem_interval_us, 1000, 10000000);
static LULL_NUMBER(period_us, lull_eanem_period_us, 100, 100000);
static LULL_NUMBER(delta_us, lull_eanem_delta_us, 0, 1000000);

static const struct attribute *const lull_eanem_attrs[] = {
	&lull_number_interval_us.attr.attr,
	&lull_number_period_us.attr.attr,
	&lull_number_delta_us.attr.attr,
	NULL
};

static const char * const lull_eanem_stage_names[] = {
	[LULL_EANEM_DRIVER] = "driver",
	[LULL_EANEM_LINK] = "link",
	[LULL_EANEM_IP] = "ip",
	[LULL_EANEM_TRANSPORT] = "transport",
	[LULL_EANEM_USER] = "user",
};

static int lull_eanem_show_socket(struct seq_file *file, void *found)
{
	struct lull_eanem_sock *es = found;
	struct lull_eanem_socket record;
	const struct lull_eanem_latency *stage;

	lull_eanem_describe(es, &record);
	seq_printf(file, "%llu pid %d %s %pI4:%u %pI4:%u\n", record.id, pid_nr(es->owner),
		   record.protocol == IPPROTO_TCP ? "tcp" : "udp", &record.local,
		   ntohs((__force __be16)record.local_port), &record.remote,
		   ntohs((__force __be16)record.remote_port));
	seq_printf(file, "  packets %llu bytes %llu mean %llu.%03llu variance %llu in %llu us; ",
		   record.last.packets, record.last.bytes, record.last.mean / 1000,
		   record.last.mean % 1000, record.last.variance,
		   record.interval_ns / NSEC_PER_USEC);
	seq_printf(file, "packets %llu bytes %llu in all\n", record.packets, record.bytes);
	seq_printf(file, "  target %llu window %llu\n", record.target, record.window);
	for (unsigned int i = 0; i < LULL_EANEM_STAGES; i++) {
		stage = &record.last.stages[i];
		seq_printf(file, "  %s mean %llu most %llu ns\n", lull_eanem_stage_names[i],
			   stage->count ? stage->sum_ns / stage->count : 0, stage->most_ns);
	}

	return 0;
}

/* A place in the file is a socket's id, and softirqs are off for a buffer of text at a time. */
static void *lull_eanem_sockets_at(loff_t *place, u64 after)
{
	struct lull_eanem_sock *es = lull_eanem_after(&after, false);

	*place = es ? after : after + 1;
	return es;
}

static void *lull_eanem_sockets_start(struct seq_file *file, loff_t *place)
	__acquires(&lull_eanem_lock)
{
	spin_lock_bh(&lull_eanem_lock);
	return lull_eanem_sockets_at(place, *place ? *place - 1 : 0);
}

static void *lull_eanem_sockets_next(struct seq_file *file, void *found, loff_t *place)
{
	return lull_eanem_sockets_at(place, *place);
}

static void lull_eanem_sockets_stop(struct seq_file *file, void *found)
	__releases(&lull_eanem_lock)
{
	spin_unlock_bh(&lull_eanem_lock);
}

static const struct seq_operations lull_eanem_sockets_sops = {
	.start = lull_eanem_sockets_start,
	.next = lull_eanem_sockets_next,
	.stop = lull_eanem_sockets_stop,
	.show = lull_eanem_show_socket,
};
DEFINE_SEQ_ATTRIBUTE(lull_eanem_sockets);

static int lull_eanem_cpus_show(struct seq_file *file, void *unused)
{
	struct lull_eanem_cpu record;
	unsigned int cpu;

	spin_lock_bh(&lull_eanem_lock);
	for_each_possible_cpu(cpu) {
		lull_eanem_cpu_times(cpu, &record);
		seq_printf(file, "%u net_rx %llu net_tx %llu ksoftirqd %llu of %llu ns\n", cpu,
			   record.net_rx_ns, record.net_tx_ns, record.ksoftirqd_ns,
			   record.interval_ns);
	}
	spin_unlock_bh(&lull_eanem_lock);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lull_eanem_cpus);

static int __init lull_eanem_init(void)
{
	int error = lull_eanem_netlink_init();

	if (error)
		return error;
	error = lull_register_system(&lull_eanem_system);
	if (error)
		goto no_system;
	error = sysfs_create_files(lull_eanem_system.kobj, lull_eanem_attrs);
	if (error)
		goto no_files;
	debugfs_create_file("eanem_sockets", 0400, lull_debugfs, NULL, &lull_eanem_sockets_fops);
	debugfs_create_file("eanem_cpus", 0400, lull_debugfs, NULL, &lull_eanem_cpus_fops);

	return 0;

no_files:
	lull_unregister_system(&lull_eanem_system);
no_system:
	lull_eanem_netlink_exit();
	return error;
}
device_initcall(lull_eanem_init);
