// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an application that is ready gets what came for it:
 *
 *   /sys/kernel/lull/esm/dispatch          direct or thread
 *   /sys/kernel/lull/esm/dispatcher_cpus   where threads may run
 *
 * The paper has a kernel thread for each application. The interrupt wakes it;
 * it looks whether the application is in the foreground and in EV_WAIT, and
 * wakes the application. All that it does can be done in the interrupt as well,
 * which has looked at both already and saves a wake-up: that is "direct".
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/user_namespace.h>

#include "esm.h"
#include "esm_stats.h"
#include "esm_trace.h"

/* Under esm_mutex. */
static bool esm_by_thread;
static struct cpumask esm_dispatcher_cpus;

static const char *const esm_dispatch_names[] = { "direct", "thread" };

/**
 * esm_hand_over - let an application go on with what is in its queue
 * @application: the application, locked and in EV_WAIT
 */
void esm_hand_over(struct esm_application *application)
{
	lockdep_assert_held(&application->lock);

	application->waiting = false;
	trace_esm_hand_over(task_pid_nr(application->task), application->fifo.used);
	if (wake_up_state(application->task, TASK_EV_WAIT))
		esm_count(ESM_WAKE_UPS, 1);
}

/**
 * esm_dispatch - see to an application whose queue is not empty
 * @application: the application, locked
 *
 * Whoever polls is told. If it is not in EV_WAIT, it will look itself.
 */
void esm_dispatch(struct esm_application *application)
{
	lockdep_assert_held(&application->lock);

	esm_pollable_notify(application);
	if (!application->waiting)
		return;
	if (!application->dispatcher) {
		esm_hand_over(application);
		return;
	}

	application->dispatching = true;
	wake_up_process(application->dispatcher);
}

/* Returns whether there was something to do. */
static bool esm_dispatcher_work(struct esm_application *application)
{
	bool told;

	raw_spin_lock_irq(&application->lock);
	told = application->dispatching;
	application->dispatching = false;
	/* If it has left the foreground since, its return calls us again. */
	if (told && application->waiting && READ_ONCE(application->foreground))
		esm_hand_over(application);
	raw_spin_unlock_irq(&application->lock);

	return told;
}

static int esm_dispatcher(void *data)
{
	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!esm_dispatcher_work(data))
			schedule();
	}
	__set_current_state(TASK_RUNNING);

	return 0;
}

/*
 * The thread is the kernel's, but it is there for a user: it counts as one of
 * the user's processes, with the same exceptions as a fork().
 */
static int esm_dispatcher_charge(struct esm_application *application)
{
	struct ucounts *ucounts = get_ucounts(current_ucounts());

	if (!ucounts)
		return -EAGAIN;
	inc_rlimit_ucounts(ucounts, UCOUNT_RLIMIT_NPROC, 1);
	if (is_rlimit_overlimit(ucounts, UCOUNT_RLIMIT_NPROC, rlimit(RLIMIT_NPROC)) &&
	    current_user() != INIT_USER && !capable(CAP_SYS_RESOURCE) &&
	    !capable(CAP_SYS_ADMIN)) {
		dec_rlimit_ucounts(ucounts, UCOUNT_RLIMIT_NPROC, 1);
		put_ucounts(ucounts);
		return -EAGAIN;
	}
	application->charged = ucounts;

	return 0;
}

static void esm_dispatcher_uncharge(struct esm_application *application)
{
	dec_rlimit_ucounts(application->charged, UCOUNT_RLIMIT_NPROC, 1);
	put_ucounts(application->charged);
	application->charged = NULL;
}

/**
 * esm_dispatcher_start - make an application's dispatcher thread
 * @application: the calling task's; nobody else knows it yet
 *
 * Return: 0, also if no thread is wanted, -EAGAIN if the user has as many
 * processes as RLIMIT_NPROC allows, -EINTR if the task is being killed, or
 * -ENOMEM.
 */
int esm_dispatcher_start(struct esm_application *application)
{
	struct task_struct *thread;
	int error;

	if (!READ_ONCE(esm_by_thread))
		return 0;

	error = esm_dispatcher_charge(application);
	if (error)
		return error;
	thread = kthread_create(esm_dispatcher, application, "esm/%d", task_pid_nr(current));
	if (IS_ERR(thread)) {
		esm_dispatcher_uncharge(application);
		return PTR_ERR(thread);
	}
	application->dispatcher = thread;

	return 0;
}

/**
 * esm_dispatcher_run - let an application's thread begin
 * @application: the calling task's; nobody dispatches to it yet
 *
 * Return: false if it has a thread that is no longer wanted, or needs one.
 */
bool esm_dispatcher_run(struct esm_application *application)
{
	lockdep_assert_held(&esm_mutex);

	if (esm_by_thread != !!application->dispatcher)
		return false;
	if (application->dispatcher) {
		set_cpus_allowed_ptr(application->dispatcher, &esm_dispatcher_cpus);
		wake_up_process(application->dispatcher);
	}

	return true;
}

/**
 * esm_dispatcher_stop - end an application's dispatcher thread
 * @application: the calling task's; nobody dispatches to it any more
 */
void esm_dispatcher_stop(struct esm_application *application)
{
	if (!application->dispatcher)
		return;
	kthread_stop(application->dispatcher);
	application->dispatcher = NULL;
	esm_dispatcher_uncharge(application);
}

static ssize_t dispatch_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", esm_dispatch_names[READ_ONCE(esm_by_thread)]);
}

static ssize_t dispatch_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	int by_thread = sysfs_match_string(esm_dispatch_names, buf);

	if (by_thread < 0)
		return by_thread;

	guard(mutex)(&esm_mutex);
	if (!list_empty(&esm_applications))
		return -EBUSY;
	WRITE_ONCE(esm_by_thread, by_thread);

	return count;
}

struct kobj_attribute esm_dispatch_attr = __ATTR_RW(dispatch);

static ssize_t dispatcher_cpus_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&esm_mutex);

	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(&esm_dispatcher_cpus));
}

static ssize_t dispatcher_cpus_store(struct kobject *kobj, struct kobj_attribute *attr,
				     const char *buf, size_t count)
{
	struct esm_application *application;
	struct cpumask cpus;

	if (cpulist_parse(buf, &cpus) || !cpumask_intersects(&cpus, cpu_online_mask))
		return -EINVAL;

	guard(mutex)(&esm_mutex);
	cpumask_and(&esm_dispatcher_cpus, &cpus, cpu_possible_mask);
	list_for_each_entry(application, &esm_applications, node)
		if (application->dispatcher)
			set_cpus_allowed_ptr(application->dispatcher, &esm_dispatcher_cpus);

	return count;
}

struct kobj_attribute esm_dispatcher_cpus_attr = __ATTR_RW(dispatcher_cpus);

/**
 * esm_dispatch_init - let threads run anywhere
 */
void __init esm_dispatch_init(void)
{
	cpumask_copy(&esm_dispatcher_cpus, cpu_possible_mask);
}
