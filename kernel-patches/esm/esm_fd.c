// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that polls readable when its application has events, for programs that
 * wait for files as well:
 *
 *   esm_fd(0)   a file of the calling application
 *
 * No wake-up is lost: whoever polls is in the wait queue before it looks at the
 * queue of events, and whoever brings a packet looks at the wait queue after it
 * has changed the other, both under the application's lock.
 *
 * The wait queue has a sleeping lock with PREEMPT_RT, so an interrupt leaves the
 * wake-up to an irq_work.
 */
#include <linux/anon_inodes.h>
#include <linux/container_of.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/lockdep.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/syscalls.h>
#include <linux/wait.h>

#include "esm.h"
#include "esm_task.h"

/**
 * struct esm_pollable - what the files of one application have in common
 * @wait: whoever polls one of them
 * @work: wakes them
 * @application: NULL when it has ended; read under RCU
 * @ref: the files, and the application
 */
struct esm_pollable {
	wait_queue_head_t wait;
	struct irq_work work;
	struct esm_application __rcu *application;
	struct kref ref;
};

/* What a poll of one of the files says. */
static __poll_t esm_pollable_ready(struct esm_pollable *pollable)
{
	struct esm_application *application;

	guard(rcu)();
	application = rcu_dereference(pollable->application);
	if (!application)
		return EPOLLHUP;

	guard(raw_spinlock_irqsave)(&application->lock);
	if (!esm_fifo_empty(&application->fifo))
		return EPOLLIN | EPOLLRDNORM;
	return application->registrations ? 0 : EPOLLHUP;
}

/* Wakes pollers. The wait queue leaves out who asked for nothing of what is said. */
static void esm_pollable_work(struct irq_work *work)
{
	struct esm_pollable *pollable = container_of(work, struct esm_pollable, work);
	__poll_t ready = esm_pollable_ready(pollable);

	/* Nothing, if the application has looked already. */
	if (ready)
		wake_up_poll(&pollable->wait, ready);
}

static void esm_pollable_free(struct kref *ref)
{
	struct esm_pollable *pollable = container_of(ref, struct esm_pollable, ref);

	irq_work_sync(&pollable->work);
	kfree(pollable);
}

/**
 * esm_pollable_notify - let whoever polls an application's files look again
 * @application: the application, locked
 */
void esm_pollable_notify(struct esm_application *application)
{
	struct esm_pollable *pollable = application->pollable;

	lockdep_assert_held(&application->lock);

	/* The lock is the barrier: a poller is on the queue before it takes the lock to look. */
	if (pollable && waitqueue_active(&pollable->wait))
		irq_work_queue(&pollable->work);
}

/**
 * esm_pollable_end - the calling task's application ends; its files may stay
 * @application: the application, which nobody pushes to any more
 */
void esm_pollable_end(struct esm_application *application)
{
	struct esm_pollable *pollable = application->pollable;

	if (!pollable)
		return;
	RCU_INIT_POINTER(pollable->application, NULL);
	wake_up_poll(&pollable->wait, EPOLLHUP);
	kref_put(&pollable->ref, esm_pollable_free);
}

/* Whoever polls its own file sleeps where it does that, as far as anybody can know. */
static void esm_fd_consumer(struct esm_pollable *pollable)
{
	struct esm_application *application = current->esm;
	bool told;

	if (!application || application->pollable != pollable)
		return;
	raw_spin_lock_irq(&application->lock);
	told = esm_consumer_told(application);
	raw_spin_unlock_irq(&application->lock);
	if (!told)
		esm_consumer_here(application);
}

static __poll_t esm_fd_poll(struct file *file, poll_table *wait)
{
	struct esm_pollable *pollable = file->private_data;

	esm_fd_consumer(pollable);
	poll_wait(file, &pollable->wait, wait);

	return esm_pollable_ready(pollable);
}

static int esm_fd_release(struct inode *inode, struct file *file)
{
	struct esm_pollable *pollable = file->private_data;

	kref_put(&pollable->ref, esm_pollable_free);
	return 0;
}

static const struct file_operations esm_fd_fops = {
	.owner = THIS_MODULE,
	.poll = esm_fd_poll,
	.release = esm_fd_release,
	.llseek = noop_llseek,
};

/* Only the task itself makes one. */
static struct esm_pollable *esm_pollable_of(struct esm_application *application)
{
	struct esm_pollable *pollable = application->pollable;

	if (pollable)
		return pollable;
	pollable = kzalloc(sizeof(*pollable), GFP_KERNEL_ACCOUNT);
	if (!pollable)
		return NULL;
	init_waitqueue_head(&pollable->wait);
	init_irq_work(&pollable->work, esm_pollable_work);
	kref_init(&pollable->ref);
	RCU_INIT_POINTER(pollable->application, application);

	raw_spin_lock_irq(&application->lock);
	application->pollable = pollable;
	raw_spin_unlock_irq(&application->lock);

	return pollable;
}

/**
 * sys_esm_fd - open a file that tells when the calling task has events
 * @flags: 0
 *
 * Return: the file, which is closed on exec, as registrations end there.
 */
SYSCALL_DEFINE1(esm_fd, unsigned int, flags)
{
	struct esm_application *application = current->esm;
	struct esm_pollable *pollable;
	int fd;

	if (flags)
		return -EINVAL;
	if (!READ_ONCE(esm_on))
		return -EOPNOTSUPP;
	if (!application || esm_application_idle(application))
		return -ENODEV;
	pollable = esm_pollable_of(application);
	if (!pollable)
		return -ENOMEM;

	kref_get(&pollable->ref);
	fd = anon_inode_getfd("[esm]", &esm_fd_fops, pollable, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		kref_put(&pollable->ref, esm_pollable_free);

	return fd;
}
