// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/lull/esm, for root:
 *
 *   stats          what was counted since boot
 *   applications   who is registered and how it stands
 *   inject         takes "TYPE CODE VALUE COUNT" and pushes so many packets, of
 *                  one such event each, through the source "inject", in hard
 *                  interrupt context; the write returns when all are through
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>

#include "esm.h"
#include "esm_stats.h"
#include "lull.h"

static const char *const esm_statistic_names[ESM_STATISTICS] = {
	[ESM_APPLICATIONS] = "applications",
	[ESM_PACKETS] = "packets",
	[ESM_VALUES] = "values",
	[ESM_DISCARDED] = "discarded",
	[ESM_ENQUEUED] = "enqueued",
	[ESM_HANDED_OVER] = "handed_over",
	[ESM_OVERFLOWED] = "overflowed",
	[ESM_WAITS] = "waits",
	[ESM_WAKE_UPS] = "wake_ups",
	[ESM_SIGNALS] = "signals",
	[ESM_DELIVERED] = "delivered",
};

static int stats_show(struct seq_file *seq, void *unused)
{
	unsigned int what;
	u64 sum;
	int cpu;

	for (what = 0; what < ESM_STATISTICS; what++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(&esm_stats, cpu)->count[what]);
		seq_printf(seq, "%s %llu\n", esm_statistic_names[what], sum);
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static void esm_application_show(struct seq_file *seq, struct esm_application *application)
{
	unsigned int queued, registrations;
	char name[TASK_COMM_LEN];
	bool waiting;
	u64 lost;

	raw_spin_lock_irq(&application->lock);
	waiting = application->waiting;
	queued = application->fifo.used;
	lost = application->fifo.lost_ever;
	registrations = application->registrations;
	raw_spin_unlock_irq(&application->lock);

	seq_printf(seq, "%d %s %u %llu %s %u ", task_pid_nr(application->task),
		   waiting ? "EV_WAIT" : "busy", queued, lost,
		   application->foreground ? "foreground" : "background", registrations);
	get_task_comm(name, application->task);
	seq_escape_str(seq, name, LULL_ESCAPES, "\\");
	seq_putc(seq, '\n');
}

static int applications_show(struct seq_file *seq, void *unused)
{
	struct esm_application *application;

	seq_puts(seq, "tid state queued lost where registrations comm\n");

	guard(mutex)(&esm_mutex);
	list_for_each_entry(application, &esm_applications, node)
		esm_application_show(seq, application);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(applications);

static struct esm_source *esm_inject_source;
static struct input_value esm_inject_value;

/* Lets one injection be over before the next. */
static DEFINE_MUTEX(esm_inject_mutex);

static void esm_inject(struct irq_work *work)
{
	esm_source_push(esm_inject_source, &esm_inject_value, 1, ktime_get());
}

static struct irq_work esm_inject_work = IRQ_WORK_INIT_HARD(esm_inject);

static ssize_t esm_inject_write(struct file *file, const char __user *text, size_t size,
				loff_t *offset)
{
	struct input_value value;
	unsigned int count, pushed;
	char line[64];

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = '\0';
	if (sscanf(line, "%hu %hu %d %u", &value.type, &value.code, &value.value, &count) != 4 ||
	    value.type >= EV_CNT)
		return -EINVAL;
	if (!READ_ONCE(esm_on))
		return -EOPNOTSUPP;

	guard(mutex)(&esm_inject_mutex);
	esm_inject_value = value;
	for (pushed = 0; pushed < count; pushed++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		irq_work_queue(&esm_inject_work);
		irq_work_sync(&esm_inject_work);
		cond_resched();
	}

	return size;
}

static const struct file_operations esm_inject_fops = {
	.open = simple_open,
	.write = esm_inject_write,
};

/**
 * esm_debug_init - make the files
 *
 * Without debugfs, or memory, there are none.
 */
void __init esm_debug_init(void)
{
	struct dentry *directory = debugfs_create_dir("esm", lull_debugfs);

	debugfs_create_file("stats", 0400, directory, NULL, &stats_fops);
	debugfs_create_file("applications", 0400, directory, NULL, &applications_fops);

	esm_inject_source = esm_source_create("inject", 0);
	if (!IS_ERR(esm_inject_source))
		debugfs_create_file("inject", 0200, directory, NULL, &esm_inject_fops);
}
