// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/lull-wake-ahead: what a program knows of when it will be needed.
 *
 * An open file has one request at a time. A request is for the CPU that the
 * calling thread is on, which is where the thread most likely wakes. It is void
 * when the thread has ended or its process has executed another program: the
 * thread is looked at when the plan is, so neither exit() nor exec() is slower.
 *
 * A thread has one request in force, in whatever file. So a program keeps no
 * more CPUs light than its threads could by not sleeping at all, and each of
 * these CPUs sleeps in C1 where such a thread would burn it. A user has a number
 * of open files, so that nobody fills the plans of all CPUs.
 */
#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

#include "anticipation.h"
#include "wake_ahead_abi.h"

/* Open files of a user. */
#define WAKE_AHEAD_FILES	16

/**
 * struct wake_ahead_user - what a user has
 * @node: the list of users
 * @uid: who
 * @count: open files; protected by the lock of all users
 * @lock: protects the files' requests
 * @files: the open files
 */
struct wake_ahead_user {
	struct list_head node;
	kuid_t uid;
	unsigned int count;
	struct mutex lock;	/* the files and their requests */
	struct list_head files;
};

struct wake_ahead_file {
	struct wake_ahead ahead;
	struct list_head node;
	struct wake_ahead_user *user;
	/* Who made the request, a reference; and how many programs it had executed by then. */
	struct task_struct *task;
	u32 exec_id;
	char name[TASK_COMM_LEN];
};

static DEFINE_MUTEX(wake_ahead_users_lock);
static LIST_HEAD(wake_ahead_users);

static struct wake_ahead_user *wake_ahead_user_get(void)
{
	kuid_t uid = current_uid();
	struct wake_ahead_user *user;

	guard(mutex)(&wake_ahead_users_lock);
	list_for_each_entry(user, &wake_ahead_users, node) {
		if (!uid_eq(user->uid, uid))
			continue;
		if (user->count == WAKE_AHEAD_FILES)
			return ERR_PTR(-EUSERS);
		user->count++;
		return user;
	}

	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return ERR_PTR(-ENOMEM);
	user->uid = uid;
	user->count = 1;
	mutex_init(&user->lock);
	INIT_LIST_HEAD(&user->files);
	list_add(&user->node, &wake_ahead_users);
	return user;
}

static void wake_ahead_user_put(struct wake_ahead_user *user)
{
	guard(mutex)(&wake_ahead_users_lock);
	if (--user->count)
		return;
	list_del(&user->node);
	kfree(user);
}

/* The request is void. Called with the lock of a plan held, so nothing is freed here. */
static bool wake_ahead_dead(struct wake_ahead *ahead)
{
	const struct wake_ahead_file *file = container_of(ahead, struct wake_ahead_file, ahead);

	return READ_ONCE(file->task->exit_state) ||
	       READ_ONCE(file->task->self_exec_id) != file->exec_id;
}

static void wake_ahead_drop(struct wake_ahead_file *file)
{
	wake_ahead_end(&file->ahead);
	if (file->task)
		put_task_struct(file->task);
	file->task = NULL;
}

/*
 * Whether this thread has a request in force by another file. One whose window is over
 * may be in the plan of its CPU until that CPU idles.
 */
static bool wake_ahead_elsewhere(const struct wake_ahead_file *file)
{
	struct wake_ahead_file *other;

	list_for_each_entry(other, &file->user->files, node)
		if (other != file && other->task == current && wake_ahead_planned(&other->ahead) &&
		    !wake_ahead_dead(&other->ahead) && ktime_get() < other->ahead.window.end)
			return true;

	return false;
}

static long wake_ahead_do_begin(struct wake_ahead_file *file,
				const struct wake_ahead_request __user *from)
{
	struct wake_ahead_request request;
	u64 now = ktime_get();
	int error;

	/* Only the files of one user are looked at for another request of this thread. */
	if (!uid_eq(current_uid(), file->user->uid))
		return -EPERM;
	if (copy_from_user(&request, from, sizeof(request)))
		return -EFAULT;
	if (request.flags || !request.duration_ns ||
	    request.duration_ns > WAKE_AHEAD_MOST_DURATION_NS ||
	    (request.start_ns > now && request.start_ns - now > WAKE_AHEAD_MOST_AHEAD_NS))
		return -EINVAL;

	guard(mutex)(&file->user->lock);
	if (wake_ahead_elsewhere(file))
		return -EBUSY;

	wake_ahead_drop(file);
	file->task = get_task_struct(current);
	file->exec_id = current->self_exec_id;
	get_task_comm(file->name, current);
	file->ahead.owner = file->name;
	file->ahead.pid = task_pid_nr(current);
	file->ahead.dead = wake_ahead_dead;
	/* Interrupts of others may come before the window: who may not slow them down ... */
	file->ahead.never_deeper = !capable(CAP_SYS_NICE);
	do { /* The CPU may go offline meanwhile. The thread is on another one then. */
		error = wake_ahead_begin(&file->ahead, raw_smp_processor_id(), request.start_ns,
					 request.duration_ns, request.bound_ns);
	} while (error == -ENODEV);
	return error;
}

static long wake_ahead_do_end(struct wake_ahead_file *file)
{
	guard(mutex)(&file->user->lock);
	return wake_ahead_end(&file->ahead) ? 0 : -ENODATA;
}

static long wake_ahead_do_counts(struct wake_ahead_file *file,
				 struct wake_ahead_counts __user *to)
{
	const u64 *counts = file->ahead.counts;
	struct wake_ahead_counts found;

	scoped_guard(mutex, &file->user->lock)
		found = (struct wake_ahead_counts){
			.hits = READ_ONCE(counts[WAKE_AHEAD_HIT]),
			.early = READ_ONCE(counts[WAKE_AHEAD_EARLY]),
			.misses = READ_ONCE(counts[WAKE_AHEAD_MISS]),
			.dropped = READ_ONCE(counts[WAKE_AHEAD_DROPPED]),
		};

	return copy_to_user(to, &found, sizeof(found)) ? -EFAULT : 0;
}

static long wake_ahead_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct wake_ahead_file *own = file->private_data;
	void __user *at = (void __user *)argument;

	switch (command) {
	case WAKE_AHEAD_BEGIN:
		return wake_ahead_do_begin(own, at);
	case WAKE_AHEAD_END:
		return wake_ahead_do_end(own);
	case WAKE_AHEAD_COUNTS:
		return wake_ahead_do_counts(own, at);
	default:
		return -ENOTTY;
	}
}

static int wake_ahead_open(struct inode *inode, struct file *file)
{
	struct wake_ahead_file *own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
	struct wake_ahead_user *user;

	if (!own)
		return -ENOMEM;
	user = wake_ahead_user_get();
	if (IS_ERR(user)) {
		kfree(own);
		return PTR_ERR(user);
	}

	own->user = user;
	scoped_guard(mutex, &user->lock)
		list_add(&own->node, &user->files);
	file->private_data = own;
	return nonseekable_open(inode, file);
}

static int wake_ahead_release(struct inode *inode, struct file *file)
{
	struct wake_ahead_file *own = file->private_data;

	scoped_guard(mutex, &own->user->lock) {
		wake_ahead_drop(own);
		list_del(&own->node);
	}
	wake_ahead_user_put(own->user);
	kfree(own);
	return 0;
}

static const struct file_operations wake_ahead_fops = {
	.owner = THIS_MODULE,
	.open = wake_ahead_open,
	.release = wake_ahead_release,
	.unlocked_ioctl = wake_ahead_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice wake_ahead_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lull-wake-ahead",
	.fops = &wake_ahead_fops,
	.mode = 0666,
};

static int __init wake_ahead_init(void)
{
	return misc_register(&wake_ahead_device);
}
device_initcall(wake_ahead_init);
