// SPDX-License-Identifier: GPL-2.0-only
/*
 * An accelerator that runs kernels, one run at a time, in the order in which they
 * are asked for:
 *
 *   /dev/lull-accel                  root's: a run for each open file
 *   /sys/kernel/lull/accel/predict   1: predict the end of a run
 *   /sys/kernel/lull/accel/poll      1: a reader looks for the end of a predicted run
 *   /sys/kernel/lull/accel/stats     root's: runs, and how well they were predicted
 *
 * What a run takes is the platform's: a kernel has times, which an open file plays
 * one after the other. An event timer interrupts at the end of a run.
 *
 * An open file remembers what its last runs of each kernel took, and expects the
 * next one to take as long. The CPU of the interrupt and the caller's are made
 * ready for then. A run that waits for others is not predicted.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mod_devicetable.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "accel_abi.h"
#include "event_source.h"
#include "expect.h"
#include "lull.h"

#define LULL_ACCEL_KERNELS	8

/**
 * struct lull_accel_kernel - what the accelerator can run
 * @name: as in the platform file
 * @ns: what its runs take
 * @count: how many such times there are
 * @accuracy: of predictions
 * @polled: runs whose end a reader saw while it looked
 */
struct lull_accel_kernel {
	const char *name;
	u32 *ns;
	unsigned int count;
	struct wake_ahead_accuracy accuracy;
	u64 polled;
};

/**
 * struct lull_accel - the accelerator
 * @system: its switch
 * @source: interrupts when a run has ended
 * @kernels: what it can run
 * @count: how many
 * @lock: protects what follows it, and the open files
 * @queue: runs that have not ended
 * @busy: the hardware is running
 * @running: whose run that is, or NULL if the file has been closed
 * @end: when the hardware is done
 * @cpu: the CPU that took the last interrupt, or -1
 * @wait: who waits for the end of a run
 */
struct lull_accel {
	struct lull_system system;
	struct lull_event_source *source;
	struct lull_accel_kernel kernels[LULL_ACCEL_KERNELS];
	unsigned int count;
	raw_spinlock_t lock;
	struct list_head queue;
	bool busy;
	struct lull_accel_file *running;
	u64 end;
	int cpu;
	wait_queue_head_t wait;
};

enum lull_accel_state {
	LULL_ACCEL_IDLE,
	LULL_ACCEL_RUNNING,
	LULL_ACCEL_ENDED,
};

/**
 * struct lull_accel_file - an open file and its run
 * @node: in the queue while it runs
 * @state: of its run
 * @kernel: the kernel that it runs
 * @run: when
 * @alone: the hardware was free when it was asked for
 * @next: of each kernel, which of its times comes next
 * @history: of each kernel, what it took
 * @event: the end of the run
 */
struct lull_accel_file {
	struct list_head node;
	enum lull_accel_state state;
	unsigned int kernel;
	struct accel_run run;
	bool alone;
	unsigned int next[LULL_ACCEL_KERNELS];
	struct lull_history history[LULL_ACCEL_KERNELS];
	struct wake_ahead_event event;
};

/* There is one. */
static struct lull_accel *lull_accel;
static unsigned int lull_accel_predicts = 1;
static unsigned int lull_accel_polls;

/* The first of the queue begins. */
static void lull_accel_begin(struct lull_accel *accel, u64 now)
{
	struct lull_accel_file *file;
	struct lull_accel_kernel *kernel;

	lockdep_assert_held(&accel->lock);

	file = list_first_entry(&accel->queue, struct lull_accel_file, node);
	kernel = &accel->kernels[file->kernel];
	accel->busy = true;
	accel->running = file;
	/* Who asks after the end of a run, and before its interrupt, waits in the queue. */
	now = max(now, file->run.began_ns);
	accel->end = now + kernel->ns[file->next[file->kernel]++ % kernel->count];
	accel->source->arm(accel->source, accel->end);
}

static void lull_accel_expect(struct lull_accel *accel, struct lull_accel_file *file)
{
	struct lull_prediction prediction;
	bool known;

	if (!static_branch_unlikely(&lull_ahead_on) || !READ_ONCE(lull_accel_predicts))
		return;

	known = file->alone && lull_history_predict(&file->history[file->kernel], &prediction);
	file->event.what = file->kernel;
	file->event.task.owner = accel->kernels[file->kernel].name;
	file->event.interrupt.owner = file->event.task.owner;
	wake_ahead_expect(&file->event, accel->cpu, smp_processor_id(),
			  known ? &prediction : NULL);
}

static int lull_accel_start(struct lull_accel *accel, struct lull_accel_file *file, u32 kernel)
{
	guard(raw_spinlock_irqsave)(&accel->lock);
	if (!lull_enabled(&accel->system))
		return -EOPNOTSUPP;
	if (file->state != LULL_ACCEL_IDLE)
		return -EBUSY;

	file->state = LULL_ACCEL_RUNNING;
	file->kernel = kernel;
	file->run.began_ns = ktime_get();
	file->alone = !accel->busy;
	list_add_tail(&file->node, &accel->queue);
	file->event.since = 0;
	lull_accel_expect(accel, file);
	if (file->alone)
		lull_accel_begin(accel, file->run.began_ns);
	return 0;
}

/* The interrupt says that a run has ended. */
static void lull_accel_end(struct lull_accel *accel, struct lull_accel_file *file)
{
	struct lull_accel_kernel *kernel = &accel->kernels[file->kernel];
	u64 ns;

	lockdep_assert_held(&accel->lock);

	/* It was begun while anticipatory wakeup was on, and that still is. */
	if (file->event.since && static_branch_unlikely(&lull_ahead_on)) {
		ns = wake_ahead_came(&file->event, &kernel->accuracy);
		if (file->alone)
			lull_history_learn(&file->history[file->kernel], ns);
	}
	list_del(&file->node);
	file->run.ended_ns = accel->end;
	WRITE_ONCE(file->state, LULL_ACCEL_ENDED);
}

/* Returns whether a run has ended. */
static bool lull_accel_handle(struct lull_accel *accel)
{
	ktime_t when;

	guard(raw_spinlock_irqsave)(&accel->lock);
	if (!accel->source->expired(accel->source, &when))
		return false;
	if (accel->busy && accel->end > ktime_get()) {
		accel->source->arm(accel->source, accel->end);
		return false;
	}

	accel->cpu = smp_processor_id();
	if (accel->running)
		lull_accel_end(accel, accel->running);
	accel->running = NULL;
	accel->busy = false;
	if (list_empty(&accel->queue))
		accel->source->stop(accel->source);
	else
		lull_accel_begin(accel, accel->end);
	return true;
}

static irqreturn_t lull_accel_interrupt(int irq, void *data)
{
	struct lull_accel *accel = data;

	if (lull_accel_handle(accel))
		wake_up_interruptible_all(&accel->wait);
	return IRQ_HANDLED;
}

static int lull_accel_open(struct inode *inode, struct file *filp)
{
	struct lull_accel_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int lull_accel_release(struct inode *inode, struct file *filp)
{
	struct lull_accel_file *file = filp->private_data;
	struct lull_accel *accel = lull_accel;

	scoped_guard(raw_spinlock_irqsave, &accel->lock) {
		if (file->state == LULL_ACCEL_RUNNING)
			list_del(&file->node);
		/* The hardware goes on until its interrupt, and the next run begins then. */
		if (accel->running == file)
			accel->running = NULL;
		wake_ahead_forget(&file->event);
	}
	kfree(file);
	return 0;
}

static long lull_accel_ioctl(struct file *filp, unsigned int command, unsigned long argument)
{
	u32 kernel;

	if (command != ACCEL_START)
		return -ENOTTY;
	if (get_user(kernel, (u32 __user *)argument))
		return -EFAULT;
	if (kernel >= lull_accel->count)
		return -EINVAL;
	return lull_accel_start(lull_accel, filp->private_data, kernel);
}

/*
 * If the end of the run is predicted: sleeps until its window begins, and looks for
 * the end until the window is over. The CPU is awake in the window in any case, and
 * the way from the interrupt to a sleeping task takes longer than a look.
 */
static int lull_accel_look(struct lull_accel *accel, struct lull_accel_file *file)
{
	u64 begin, end, slack = current->timer_slack_ns;
	int error;

	scoped_guard(raw_spinlock_irqsave, &accel->lock) {
		if (file->state != LULL_ACCEL_RUNNING || !file->event.margin)
			return 0;
		begin = file->event.until - file->event.margin;
		end = file->event.until + file->event.margin + WAKE_AHEAD_BEHIND_NS;
	}

	/* The timer may be late by the task's slack. */
	error = wait_event_interruptible_hrtimeout(accel->wait,
						   READ_ONCE(file->state) != LULL_ACCEL_RUNNING,
						   ns_to_ktime((s64)(begin - slack - ktime_get())));
	if (error != -ETIME)
		return error;

	while (READ_ONCE(file->state) == LULL_ACCEL_RUNNING) {
		if (need_resched() || signal_pending(current) || ktime_get() > end)
			return 0;
		cpu_relax();
	}
	scoped_guard(raw_spinlock_irqsave, &accel->lock)
		accel->kernels[file->kernel].polled++;
	return 0;
}

static ssize_t lull_accel_read(struct file *filp, char __user *to, size_t size, loff_t *at)
{
	struct lull_accel_file *file = filp->private_data;
	struct accel_run run;
	int error;

	if (size < sizeof(run))
		return -EINVAL;
	if (READ_ONCE(file->state) == LULL_ACCEL_IDLE)
		return -ENODATA;
	if (READ_ONCE(file->state) == LULL_ACCEL_RUNNING && (filp->f_flags & O_NONBLOCK))
		return -EAGAIN;
	error = READ_ONCE(lull_accel_polls) ? lull_accel_look(lull_accel, file) : 0;
	if (!error)
		error = wait_event_interruptible(lull_accel->wait,
						 READ_ONCE(file->state) != LULL_ACCEL_RUNNING);
	if (error)
		return error;

	scoped_guard(raw_spinlock_irqsave, &lull_accel->lock) {
		/* Another thread has read it meanwhile. */
		if (file->state != LULL_ACCEL_ENDED)
			return -ENODATA;
		run = file->run;
		file->state = LULL_ACCEL_IDLE;
	}

	return copy_to_user(to, &run, sizeof(run)) ? -EFAULT : sizeof(run);
}

static __poll_t lull_accel_poll(struct file *filp, poll_table *table)
{
	struct lull_accel_file *file = filp->private_data;

	poll_wait(filp, &lull_accel->wait, table);
	return READ_ONCE(file->state) == LULL_ACCEL_ENDED ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations lull_accel_fops = {
	.owner = THIS_MODULE,
	.open = lull_accel_open,
	.release = lull_accel_release,
	.unlocked_ioctl = lull_accel_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = lull_accel_read,
	.poll = lull_accel_poll,
};

static struct miscdevice lull_accel_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lull-accel",
	.fops = &lull_accel_fops,
	/* A run makes those of others wait. */
	.mode = 0600,
};

/* Runs that have begun end as ever. */
static int lull_accel_switch(struct lull_system *system)
{
	return 0;
}

static LULL_NUMBER(predict, lull_accel_predicts, 0, 1);
static LULL_NUMBER(poll, lull_accel_polls, 0, 1);

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct wake_ahead_accuracy accuracy;
	ssize_t length = 0;
	unsigned int i;
	u64 polled;

	for (i = 0; i < lull_accel->count; i++) {
		scoped_guard(raw_spinlock_irqsave, &lull_accel->lock) {
			accuracy = lull_accel->kernels[i].accuracy;
			polled = lull_accel->kernels[i].polled;
		}
		length += sysfs_emit_at(buf, length,
					"%s seen %llu predicted %llu hits %llu early %llu late %llu polled %llu\n",
					lull_accel->kernels[i].name, accuracy.seen,
					accuracy.predicted, accuracy.hits, accuracy.early,
					accuracy.late, polled);
	}

	return length;
}

static struct kobj_attribute stats_attr = __ATTR(stats, 0400, stats_show, NULL);

static const struct attribute *const lull_accel_attrs[] = {
	&lull_number_predict.attr.attr,
	&lull_number_poll.attr.attr,
	&stats_attr.attr,
	NULL
};

static int lull_accel_read_kernel(struct device *device, const struct device_node *node,
				  struct lull_accel_kernel *kernel)
{
	int error = of_property_read_string(node, "label", &kernel->name);
	int i, count = of_property_count_u32_elems(node, "lull,times-ns");

	if (error)
		return error;
	if (count < 1)
		return count < 0 ? count : -EINVAL;
	kernel->ns = devm_kcalloc(device, count, sizeof(*kernel->ns), GFP_KERNEL);
	if (!kernel->ns)
		return -ENOMEM;
	kernel->count = count;
	error = of_property_read_u32_array(node, "lull,times-ns", kernel->ns, count);
	for (i = 0; !error && i < count; i++)
		if (!kernel->ns[i])
			error = -EINVAL;
	return error;
}

static int lull_accel_probe(struct platform_device *device)
{
	struct lull_accel *accel;
	const char *label;
	int irq, error;

	/* The same hardware stands for other devices. */
	if (of_property_read_string(device->dev.of_node, "label", &label) || strcmp(label, "accel"))
		return -ENODEV;
	if (lull_accel)
		return -EEXIST;

	accel = devm_kzalloc(&device->dev, sizeof(*accel), GFP_KERNEL);
	if (!accel)
		return -ENOMEM;
	raw_spin_lock_init(&accel->lock);
	INIT_LIST_HEAD(&accel->queue);
	init_waitqueue_head(&accel->wait);
	accel->cpu = -1;
	for_each_child_of_node_scoped(device->dev.of_node, child) {
		if (accel->count == LULL_ACCEL_KERNELS)
			return -E2BIG;
		error = lull_accel_read_kernel(&device->dev, child,
					       &accel->kernels[accel->count++]);
		if (error)
			return dev_err_probe(&device->dev, error, "%pOFn is no kernel\n", child);
	}

	irq = platform_get_irq(device, 0);
	if (irq < 0)
		return irq;
	accel->source = platform_get_resource(device, IORESOURCE_MEM, 0) ?
			lull_event_sp804(device) : lull_event_virtual(device, irq);
	if (IS_ERR(accel->source))
		return PTR_ERR(accel->source);
	error = devm_request_irq(&device->dev, irq, lull_accel_interrupt, 0, "lull-accel", accel);
	if (error)
		return error;

	lull_accel = accel;
	accel->system.name = "accel";
	accel->system.enable = lull_accel_switch;
	accel->system.disable = lull_accel_switch;
	error = lull_register_system(&accel->system);
	if (error)
		goto none;
	error = sysfs_create_files(accel->system.kobj, lull_accel_attrs);
	if (!error)
		error = misc_register(&lull_accel_device);
	if (error)
		goto unregister;

	return 0;

unregister:
	lull_unregister_system(&accel->system);
none:
	lull_accel = NULL;
	return error;
}

static const struct of_device_id lull_accel_match[] = {
	{ .compatible = "lull,event-timer" },
	{ .compatible = "lull,virtual-event-timer" },
	{}
};

static struct platform_driver lull_accel_driver = {
	.probe = lull_accel_probe,
	.driver = {
		.name = "lull-accel",
		.of_match_table = lull_accel_match,
		.suppress_bind_attrs = true,
	},
};
builtin_platform_driver(lull_accel_driver);
