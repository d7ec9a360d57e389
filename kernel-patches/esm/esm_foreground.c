// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes are in the foreground, and so may receive:
 *
 *   /sys/kernel/lull/esm/foreground   their PIDs; a write replaces all of them
 *
 * Root may give the file to the owner of the session. It grants access to no
 * device: an application needs a file that reads it, whoever is in front.
 */
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "esm.h"

struct esm_foreground {
	struct pid *process[ESM_FOREGROUND];
	unsigned int count;
};

/* Under esm_mutex. */
static struct esm_foreground esm_foreground;

/* Lets a grace period lie between two writes; nobody else waits for it. */
static DEFINE_MUTEX(esm_foreground_mutex);

/**
 * esm_foreground_has - whether a process is in the foreground
 * @process: the process
 */
bool esm_foreground_has(const struct pid *process)
{
	unsigned int index;

	lockdep_assert_held(&esm_mutex);

	for (index = 0; index < esm_foreground.count; index++)
		if (esm_foreground.process[index] == process)
			return true;

	return false;
}

static void esm_foreground_release(struct esm_foreground *foreground)
{
	while (foreground->count)
		put_pid(foreground->process[--foreground->count]);
}

static int esm_foreground_add(struct esm_foreground *foreground, const char *word)
{
	struct pid *process;
	unsigned int number;

	if (kstrtouint(word, 10, &number) || number > PID_MAX_LIMIT)
		return -EINVAL;
	if (foreground->count == ESM_FOREGROUND)
		return -E2BIG;

	process = find_get_pid(number);
	if (!process || !pid_has_task(process, PIDTYPE_TGID)) {
		put_pid(process);
		return -ESRCH;
	}
	foreground->process[foreground->count++] = process;

	return 0;
}

static int esm_foreground_parse(struct esm_foreground *foreground, char *text)
{
	char *word;
	int error;

	while ((word = strsep(&text, " \t\n,"))) {
		if (!*word)
			continue;
		error = esm_foreground_add(foreground, word);
		if (error)
			return error;
	}

	return 0;
}

/* Moves one subscription with its application, to the foreground or out of it. */
static void esm_foreground_move(struct esm_subscription *subscription, bool foreground)
{
	esm_subscription_activate(subscription, foreground);
	/* In EV_WAIT it does not tell of its CPU itself before its next event. */
	if (foreground)
		esm_consumer_set(subscription->source, task_cpu(subscription->application->task));
}

/* Returns whether the application has left the foreground. */
static bool esm_foreground_apply(struct esm_application *application)
{
	struct esm_subscription *subscription;
	bool foreground = esm_foreground_has(application->process);

	if (application->foreground == foreground)
		return false;

	WRITE_ONCE(application->foreground, foreground);
	list_for_each_entry(subscription, &application->subscriptions, of_application)
		esm_foreground_move(subscription, foreground);
	if (foreground)
		esm_application_resume(application);
	return !foreground;
}

/* Leaves in @next what was before. */
static void esm_foreground_set(struct esm_foreground *next)
{
	struct esm_application *application;
	bool left = false;

	guard(mutex)(&esm_foreground_mutex);

	scoped_guard(mutex, &esm_mutex) {
		swap(esm_foreground, *next);
		list_for_each_entry(application, &esm_applications, node)
			left |= esm_foreground_apply(application);
	}
	/* Who has left the lists of sources may be put back by the next write. */
	if (left)
		synchronize_rcu();
}

static ssize_t foreground_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	struct esm_foreground next = {};
	char *text = kstrndup(buf, count, GFP_KERNEL);
	int error;

	if (!text)
		return -ENOMEM;
	error = esm_foreground_parse(&next, text);
	kfree(text);

	if (!error)
		esm_foreground_set(&next);
	esm_foreground_release(&next);

	return error ? error : count;
}

static ssize_t foreground_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const char *space = "";
	ssize_t length = 0;
	unsigned int index;
	pid_t number;

	mutex_lock(&esm_mutex);
	for (index = 0; index < esm_foreground.count; index++) {
		number = pid_vnr(esm_foreground.process[index]);
		if (!number || !pid_has_task(esm_foreground.process[index], PIDTYPE_TGID))
			continue;
		length += sysfs_emit_at(buf, length, "%s%d", space, number);
		space = " ";
	}
	mutex_unlock(&esm_mutex);

	return length + sysfs_emit_at(buf, length, "\n");
}

struct kobj_attribute esm_foreground_attr = __ATTR_RW_MODE(foreground, 0600);
