// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who woke a CPU that is pseudo-offline:
 *
 *   /sys/kernel/debug/lull/hotplug/wakes   count, source, function, task
 *
 * Writing 1 clears the table and begins to count, writing 0 ends that: the probes
 * of seven trace points make each wake-up of a CPU a twentieth longer.
 *
 * Between two sleeps of such a CPU the first interrupt is the source. The function
 * is the most telling of what ran then: of a work item, else of a timer or of a
 * call by another CPU. The task is the first one that ran. All of it comes from
 * trace points that are there anyway.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/csd.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>

#include "hotplug.h"
#include "hotplug_trace.h"
#include "hotplug_wakes.h"
#include "idle.h"
#include "probes.h"

#define LULL_WAKE_ROWS 64

/* In the order of how much they tell. */
enum lull_wake_rank {
	LULL_WAKE_UNKNOWN,
	LULL_WAKE_CALL,
	LULL_WAKE_HRTIMER,
	LULL_WAKE_TIMER,
	LULL_WAKE_WORK,
};

struct lull_wake_cause {
	char source[32];
	char task[TASK_COMM_LEN];
	void *function;
	enum lull_wake_rank rank;
	int irq;
};

/**
 * struct lull_wake_cpu - what is known of why a CPU is awake
 * @awake: it was woken while it was pseudo-offline
 * @cause: valid if it was
 */
struct lull_wake_cpu {
	bool awake;
	struct lull_wake_cause cause;
};

struct lull_wake_row {
	struct lull_wake_cause cause;
	unsigned long count;
};

static DEFINE_PER_CPU(struct lull_wake_cpu, lull_wake_cpus);

static DEFINE_RAW_SPINLOCK(lull_wake_lock);
/* The last row is for all that have no row of their own. */
static struct lull_wake_row lull_wake_rows[LULL_WAKE_ROWS];
static unsigned int lull_wake_used;

static bool lull_wake_same(const struct lull_wake_cause *a, const struct lull_wake_cause *b)
{
	return a->function == b->function && !strcmp(a->source, b->source) &&
	       !strcmp(a->task, b->task);
}

/* The row of a cause, a new one if need be. Needs the lock. */
static struct lull_wake_row *lull_wake_row(const struct lull_wake_cause *cause)
{
	struct lull_wake_row *row;
	unsigned int i;

	for (i = 0; i < lull_wake_used; i++)
		if (lull_wake_same(&lull_wake_rows[i].cause, cause))
			return &lull_wake_rows[i];
	if (lull_wake_used == LULL_WAKE_ROWS)
		return &lull_wake_rows[LULL_WAKE_ROWS - 1];

	row = &lull_wake_rows[lull_wake_used++];
	row->count = 0;
	row->cause = *cause;
	if (lull_wake_used == LULL_WAKE_ROWS) {
		memset(&row->cause, 0, sizeof(row->cause));
		strscpy(row->cause.source, "others");
	}

	return row;
}

static void lull_wake_count(const struct lull_wake_cause *cause)
{
	scoped_guard(raw_spinlock_irqsave, &lull_wake_lock)
		lull_wake_row(cause)->count++;
}

static void lull_wake_exit(unsigned int cpu, unsigned int depth)
{
	struct lull_wake_cpu *this = this_cpu_ptr(&lull_wake_cpus);

	if (!lull_pseudo_offline(cpu))
		return;

	memset(&this->cause, 0, sizeof(this->cause));
	WRITE_ONCE(this->awake, true);
}

static void lull_wake_enter(unsigned int cpu, unsigned int depth)
{
	struct lull_wake_cpu *this = this_cpu_ptr(&lull_wake_cpus);
	const struct lull_wake_cause *cause = &this->cause;

	if (!this->awake)
		return;

	WRITE_ONCE(this->awake, false);
	if (!lull_pseudo_offline(cpu))
		return;

	trace_lull_pseudo_wake(cpu, cause->source, cause->irq, cause->function, cause->task);
	lull_wake_count(cause);
}

static struct lull_idle_watcher lull_wake_watcher = {
	.enter = lull_wake_enter,
	.exit = lull_wake_exit,
};

/* All trace points below are hit with preemption off. */
static struct lull_wake_cause *lull_wake_current(void)
{
	struct lull_wake_cpu *this = raw_cpu_ptr(&lull_wake_cpus);

	return READ_ONCE(this->awake) ? &this->cause : NULL;
}

static void lull_wake_function(void *function, enum lull_wake_rank rank)
{
	struct lull_wake_cause *cause = lull_wake_current();

	if (!cause || cause->rank >= rank)
		return;
	cause->function = function;
	cause->rank = rank;
}

static void lull_wake_irq(void *data, int irq, struct irqaction *action)
{
	struct lull_wake_cause *cause = lull_wake_current();

	if (!cause || cause->source[0])
		return;
	cause->irq = irq;
	strscpy(cause->source, action->name ?: "?");
}

/* Which interrupt it is of those that go from CPU to CPU. */
static void lull_wake_ipi(void *data, const char *reason)
{
	struct lull_wake_cause *cause = lull_wake_current();

	if (!cause || (cause->source[0] && strcmp(cause->source, "IPI")))
		return;
	strscpy(cause->source, reason);
}

static void lull_wake_call(void *data, smp_call_func_t function, call_single_data_t *csd)
{
	lull_wake_function(function, LULL_WAKE_CALL);
}

static void lull_wake_hrtimer(void *data, struct hrtimer *timer, ktime_t *now)
{
	lull_wake_function(timer->function, LULL_WAKE_HRTIMER);
}

static void lull_wake_timer(void *data, struct timer_list *timer, unsigned long clock)
{
	lull_wake_function(timer->function, LULL_WAKE_TIMER);
}

static void lull_wake_work(void *data, struct work_struct *work)
{
	guard(preempt)();
	lull_wake_function(work->func, LULL_WAKE_WORK);
}

static void lull_wake_switch(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int state)
{
	struct lull_wake_cause *cause = lull_wake_current();

	if (!cause || cause->task[0] || is_idle_task(next))
		return;
	strscpy(cause->task, next->comm);
	/* One row for all kworkers. */
	if (next->flags & PF_KTHREAD)
		cause->task[strcspn(cause->task, "/")] = '\0';
}

static const struct lull_trace_probe lull_wake_probes[] = {
	LULL_TRACE_PROBE(irq_handler_entry, lull_wake_irq),
	LULL_TRACE_PROBE(ipi_entry, lull_wake_ipi),
	LULL_TRACE_PROBE(csd_function_entry, lull_wake_call),
	LULL_TRACE_PROBE(hrtimer_expire_entry, lull_wake_hrtimer),
	LULL_TRACE_PROBE(timer_expire_entry, lull_wake_timer),
	LULL_TRACE_PROBE(workqueue_execute_start, lull_wake_work),
	LULL_TRACE_PROBE(sched_switch, lull_wake_switch),
};

static DEFINE_MUTEX(lull_wakes_mutex);
static bool lull_wakes_counted;

static int lull_wakes_start(void)
{
	int error;

	lockdep_assert_held(&lull_wakes_mutex);

	if (lull_wakes_counted)
		return 0;
	error = lull_register_probes(lull_wake_probes, ARRAY_SIZE(lull_wake_probes));
	if (error)
		return error;
	error = lull_idle_watch(&lull_wake_watcher);
	if (error) {
		lull_unregister_probes(lull_wake_probes, ARRAY_SIZE(lull_wake_probes));
		return error;
	}
	lull_wakes_counted = true;

	return 0;
}

static void lull_wakes_stop(void)
{
	unsigned int cpu;

	lockdep_assert_held(&lull_wakes_mutex);

	if (!lull_wakes_counted)
		return;
	lull_wakes_counted = false;
	lull_idle_unwatch(&lull_wake_watcher);
	lull_unregister_probes(lull_wake_probes, ARRAY_SIZE(lull_wake_probes));
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(lull_wake_cpus, cpu).awake, false);
}

static int lull_wakes_show(struct seq_file *file, void *unused)
{
	struct lull_wake_row copy;
	unsigned int row;

	seq_puts(file, "count source function task\n");
	for (row = 0; row < LULL_WAKE_ROWS; row++) {
		scoped_guard(raw_spinlock_irqsave, &lull_wake_lock) {
			if (row >= lull_wake_used)
				return 0;
			copy = lull_wake_rows[row];
		}
		seq_printf(file, "%lu %s ", copy.count,
			   copy.cause.source[0] ? copy.cause.source : "-");
		if (copy.cause.function)
			seq_printf(file, "%ps", copy.cause.function);
		else
			seq_puts(file, "-");
		seq_printf(file, " %s\n", copy.cause.task[0] ? copy.cause.task : "-");
	}

	return 0;
}

static int lull_wakes_open(struct inode *inode, struct file *file)
{
	return single_open(file, lull_wakes_show, NULL);
}

static ssize_t lull_wakes_write(struct file *file, const char __user *text, size_t count,
				loff_t *offset)
{
	bool wanted;
	int error = kstrtobool_from_user(text, count, &wanted);

	if (error)
		return error;

	guard(mutex)(&lull_wakes_mutex);
	if (!wanted) {
		lull_wakes_stop();
		return count;
	}
	error = lull_wakes_start();
	if (error)
		return error;
	scoped_guard(raw_spinlock_irqsave, &lull_wake_lock)
		lull_wake_used = 0;

	return count;
}

static const struct file_operations lull_wakes_fops = {
	.owner = THIS_MODULE,
	.open = lull_wakes_open,
	.read = seq_read,
	.write = lull_wakes_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * lull_wakes_create - make the table's file
 * @directory: its directory in debugfs
 */
void __init lull_wakes_create(struct dentry *directory)
{
	debugfs_create_file("wakes", 0600, directory, NULL, &lull_wakes_fops);
}
