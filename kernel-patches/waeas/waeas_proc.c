// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/PID/latency_sensitive, and of each thread /proc/PID/task/TID/latency_sensitive:
 * 1 for a task that is latency-sensitive, else 0. Who owns the task may write it.
 *
 * fs/proc/base.c includes this file, because a file of a task is looked up there.
 */
#include "../../drivers/lull/waeas/waeas.h"

#ifdef CONFIG_LULL_WAEAS

static int lull_waeas_proc_show(struct seq_file *file, void *unused)
{
	struct task_struct *p = get_proc_task(file->private);

	if (!p)
		return -ESRCH;
	seq_printf(file, "%d\n", READ_ONCE(p->waeas.sensitive));
	put_task_struct(p);

	return 0;
}

static int lull_waeas_proc_open(struct inode *inode, struct file *file)
{
	return single_open(file, lull_waeas_proc_show, inode);
}

/* Of the same user, as sched_setaffinity() asks too; the file's mode was asked on open(). */
static bool lull_waeas_proc_may(struct task_struct *p)
{
	guard(rcu)();
	return uid_eq(current_euid(), __task_cred(p)->euid) ||
	       uid_eq(current_euid(), __task_cred(p)->uid) ||
	       ns_capable(__task_cred(p)->user_ns, CAP_SYS_NICE);
}

static ssize_t lull_waeas_proc_write(struct file *file, const char __user *text, size_t count,
				     loff_t *at)
{
	struct task_struct *p;
	char own[2];
	int error;

	if (count < 1 || count > sizeof(own))
		return -EINVAL;
	if (copy_from_user(own, text, count))
		return -EFAULT;
	if ((own[0] != '0' && own[0] != '1') || (count > 1 && own[1] != '\n'))
		return -EINVAL;
	p = get_proc_task(file_inode(file));
	if (!p)
		return -ESRCH;
	error = lull_waeas_proc_may(p) ? security_task_setscheduler(p) : -EPERM;
	if (!error)
		WRITE_ONCE(p->waeas.sensitive, own[0] == '1');
	put_task_struct(p);

	return error ?: count;
}

static const struct file_operations lull_waeas_proc = {
	.open = lull_waeas_proc_open,
	.read = seq_read,
	.write = lull_waeas_proc_write,
	.llseek = seq_lseek,
	.release = single_release,
};

#endif /* CONFIG_LULL_WAEAS */
