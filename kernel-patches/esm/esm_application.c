// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that receives events: its queue, and how it waits.
 *
 * No wake-up is lost, because queue, @waiting and the task's own state are
 * looked at and changed together under the application's lock. Whoever brings
 * a packet finds either @waiting, with the state set before it, and wakes the
 * task, out of schedule() or on its way there; or it does not, and then the
 * task takes the lock after it and finds the packet. wait_model.pml has every
 * order of these steps, with a dispatcher and signals in between.
 *
 * No event is delivered twice, because only the task itself takes events out,
 * and they leave the queue after they have been copied.
 */
#include <linux/hrtimer.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "esm.h"
#include "esm_stats.h"
#include "esm_task.h"
#include "esm_trace.h"

LIST_HEAD(esm_applications);

/*
 * An interrupt that still looks at it finds no registration, and leaves the queue alone. Whoever
 * polls a file of its looks at how full the queue was, and not into it.
 */
static void esm_application_free(struct esm_application *application)
{
	put_pid(application->process);
	kvfree(application->fifo.events);
	kfree_rcu(application, rcu);
}

/* Lets others see it, unless it has not got what it needs to be dispatched to. */
static bool esm_application_publish(struct esm_application *application)
{
	guard(mutex)(&esm_mutex);

	if (!esm_dispatcher_run(application))
		return false;
	application->foreground = esm_foreground_has(application->process);
	list_add_tail(&application->node, &esm_applications);
	current->esm = application;

	return true;
}

/**
 * esm_application_create - make the calling task an application
 *
 * Return: 0, or -ENOMEM, -EAGAIN if it may have no more threads, or -EINTR.
 */
int esm_application_create(void)
{
	struct esm_application *application;
	bool published = false;
	int error;

	application = kzalloc(sizeof(*application), GFP_KERNEL_ACCOUNT);
	if (!application)
		return -ENOMEM;
	error = esm_fifo_init(&application->fifo, READ_ONCE(esm_fifo_size), GFP_KERNEL_ACCOUNT);
	if (error) {
		kfree(application);
		return error;
	}

	raw_spin_lock_init(&application->lock);
	application->task = current;
	application->process = get_pid(task_tgid(current));
	INIT_LIST_HEAD(&application->subscriptions);

	while (!published) {
		error = esm_dispatcher_start(application);
		if (error) {
			esm_application_free(application);
			return error;
		}
		published = esm_application_publish(application);
		/* Dispatch was changed meanwhile. */
		if (!published)
			esm_dispatcher_stop(application);
	}

	esm_count(ESM_APPLICATIONS, 1);
	return 0;
}

/**
 * esm_application_end - the calling task is no application any more
 */
void esm_application_end(void)
{
	struct esm_application *application = current->esm;

	mutex_lock(&esm_mutex);
	esm_subscriptions_end(application, NULL, NULL);
	list_del(&application->node);
	mutex_unlock(&esm_mutex);

	current->esm = NULL;
	esm_dispatcher_stop(application);
	esm_pollable_end(application);
	esm_application_free(application);
}

/**
 * esm_application_wake - let an application see that it waits for nothing
 * @application: the application
 */
void esm_application_wake(struct esm_application *application)
{
	raw_spin_lock_irq(&application->lock);
	esm_pollable_notify(application);
	if (application->waiting)
		esm_hand_over(application);
	raw_spin_unlock_irq(&application->lock);
}

/**
 * esm_application_push - a packet has been added to an application's queue
 * @application: the application, locked
 * @packet: the packet
 */
void esm_application_push(struct esm_application *application, const struct esm_packet *packet)
{
	pid_t tid = task_pid_nr(application->task);
	unsigned int events = application->fifo.packet;

	lockdep_assert_held(&application->lock);

	if (esm_fifo_end_packet(&application->fifo)) {
		esm_count(application->waiting ? ESM_HANDED_OVER : ESM_ENQUEUED, 1);
		trace_esm_enqueue(packet, tid, events);
	} else {
		esm_count(ESM_OVERFLOWED, 1);
		trace_esm_overflow(packet, tid, events);
	}

	esm_dispatch(application);
}

/**
 * esm_application_resume - an application is in the foreground again
 * @application: the application
 */
void esm_application_resume(struct esm_application *application)
{
	raw_spin_lock_irq(&application->lock);
	if (!esm_fifo_empty(&application->fifo))
		esm_dispatch(application);
	raw_spin_unlock_irq(&application->lock);
}

/**
 * esm_application_wait - wait until there are events
 * @application: the calling task's
 * @block: whether to wait at all
 * @until: the time of CLOCK_MONOTONIC at which to give up, or NULL
 *
 * Return: 0 when there are events; -ENODEV if there are none and no
 * registration that could bring one, -EAGAIN if it must not wait,
 * -ETIMEDOUT at @until, -ERESTARTSYS for a signal.
 */
int esm_application_wait(struct esm_application *application, bool block, ktime_t *until)
{
	bool here = true, late = false;
	int error;

	for (;;) {
		raw_spin_lock_irq(&application->lock);
		application->waiting = false;
		if (!esm_fifo_empty(&application->fifo))
			error = 0;
		else if (!application->registrations)
			error = -ENODEV;
		else if (!block)
			error = -EAGAIN;
		else if (late)
			error = -ETIMEDOUT;
		else if (signal_pending(current))
			error = -ERESTARTSYS;
		else if (!esm_consumer_told(application))
			here = false;
		else
			application->waiting = true;

		if (!here) {
			raw_spin_unlock_irq(&application->lock);
			esm_consumer_here(application);
			here = true;
			continue;
		}
		if (!application->waiting)
			break;
		esm_count(ESM_WAITS, 1);
		trace_esm_wait(task_pid_nr(current), 0);
		set_current_state(TASK_INTERRUPTIBLE | TASK_EV_WAIT);
		raw_spin_unlock_irq(&application->lock);
		/* Without @until, this is schedule(). */
		late = !schedule_hrtimeout_range(until, current->timer_slack_ns, HRTIMER_MODE_ABS);
	}
	raw_spin_unlock_irq(&application->lock);

	if (error == -ERESTARTSYS)
		esm_count(ESM_SIGNALS, 1);
	return error;
}

/**
 * esm_application_peek - read the oldest events
 * @application: the calling task's
 * @events: where to
 * @count: how many at most
 *
 * Return: how many.
 */
unsigned int esm_application_peek(struct esm_application *application, struct esm_event *events,
				  unsigned int count)
{
	raw_spin_lock_irq(&application->lock);
	count = esm_fifo_peek(&application->fifo, events, count);
	raw_spin_unlock_irq(&application->lock);

	return count;
}

/**
 * esm_application_drop - remove the oldest events
 * @application: the calling task's
 * @count: how many, of those that were peeked
 */
void esm_application_drop(struct esm_application *application, unsigned int count)
{
	raw_spin_lock_irq(&application->lock);
	esm_fifo_drop(&application->fifo, count);
	raw_spin_unlock_irq(&application->lock);
}

/**
 * esm_application_idle - whether nothing will ever come unless it registers
 * @application: the calling task's
 */
bool esm_application_idle(struct esm_application *application)
{
	bool idle;

	raw_spin_lock_irq(&application->lock);
	idle = !application->registrations && esm_fifo_empty(&application->fifo);
	raw_spin_unlock_irq(&application->lock);

	return idle;
}
