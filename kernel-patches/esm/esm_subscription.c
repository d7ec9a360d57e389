// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who receives from which source. A subscription is there while there are
 * registrations of its application at its source, and in the source's active
 * list, the one that an interrupt reads, while the application is in the
 * foreground.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "esm.h"

static struct esm_subscription *esm_subscription_find(struct esm_application *application,
						      const struct esm_source *source)
{
	struct esm_subscription *subscription;

	list_for_each_entry(subscription, &application->subscriptions, of_application)
		if (subscription->source == source)
			return subscription;

	return NULL;
}

/**
 * esm_subscription_activate - let a subscription receive, or not
 * @subscription: the subscription
 * @active: whether it may
 *
 * Between taking it off the list and putting it on again there must be a grace
 * period of RCU.
 */
void esm_subscription_activate(struct esm_subscription *subscription, bool active)
{
	struct esm_source *source = subscription->source;

	lockdep_assert_held(&esm_mutex);

	if (subscription->is_active == active)
		return;
	subscription->is_active = active;
	if (active) {
		list_add_tail_rcu(&subscription->active, &source->active);
		esm_consumer_changed();
	} else {
		list_del_rcu(&subscription->active);
		if (list_empty(&source->active))
			esm_consumer_set(source, -1);
	}
}

/* An input device is open while somebody may receive from it. */
static int esm_source_use(struct esm_source *source)
{
	int error = 0;

	if (!source->subscriptions && source->handle)
		error = input_open_device(source->handle);
	if (!error)
		source->subscriptions++;

	return error;
}

static void esm_source_unuse(struct esm_source *source)
{
	if (!--source->subscriptions && source->handle)
		input_close_device(source->handle);
}

static struct esm_subscription *esm_subscription_create(struct esm_application *application,
							struct esm_source *source)
{
	struct esm_subscription *subscription;
	int error;

	subscription = kzalloc(sizeof(*subscription), GFP_KERNEL_ACCOUNT);
	if (!subscription)
		return ERR_PTR(-ENOMEM);
	error = esm_source_use(source);
	if (error) {
		kfree(subscription);
		return ERR_PTR(error);
	}

	subscription->application = application;
	subscription->source = source;
	list_add_tail(&subscription->of_application, &application->subscriptions);
	esm_subscription_activate(subscription, application->foreground);

	return subscription;
}

static void esm_subscription_end(struct esm_subscription *subscription)
{
	esm_subscription_activate(subscription, false);
	esm_source_unuse(subscription->source);
	list_del(&subscription->of_application);
	/* An interrupt that still looks at it finds no registrations. */
	kfree_rcu(subscription, rcu);
}

/* A registration made with a file takes the place of reading the file. */
static void esm_match_stream(struct esm_source *source, const struct esm_match *before,
			     const struct esm_match *now)
{
	if (now && now->file) {
		source->files++;
		evdev_stream_start(now->reader, source);
	}
	if (before && before->file) {
		source->files--;
		evdev_stream_stop(before->reader);
	}
}

static void esm_match_change(struct esm_subscription *subscription, struct esm_match *match,
			     const struct esm_match *now)
{
	struct esm_application *application = subscription->application;
	struct esm_matches *matches = &subscription->matches;
	unsigned long flags;

	esm_match_stream(subscription->source, match, now);

	raw_spin_lock_irqsave(&application->lock, flags);
	if (!match) {
		match = esm_matches_insert(matches, now->key);
		application->registrations++;
	}
	if (now) {
		*match = *now;
	} else {
		esm_matches_remove(matches, match);
		application->registrations--;
	}
	raw_spin_unlock_irqrestore(&application->lock, flags);
}

/*
 * Puts a registration in place of another, either of which may be NULL. At an
 * input device this happens between two packets, so that each of them is either
 * pushed or queued for read().
 */
static void esm_match_replace(struct esm_subscription *subscription, struct esm_match *match,
			      const struct esm_match *now)
{
	struct input_handle *handle = subscription->source->handle;
	struct file *before = match ? match->file : NULL;

	if (now && now->file)
		get_file(now->file);
	if (handle) {
		spin_lock_irq(&handle->dev->event_lock);
		esm_match_change(subscription, match, now);
		spin_unlock_irq(&handle->dev->event_lock);
	} else {
		esm_match_change(subscription, match, now);
	}
	if (before)
		fput(before);
}

/* How many threads of a process receive already. */
static unsigned int esm_threads(const struct pid *process)
{
	struct esm_application *application;
	unsigned int count = 0;

	list_for_each_entry(application, &esm_applications, node)
		if (application->process == process && !list_empty(&application->subscriptions))
			count++;

	return count;
}

/**
 * esm_subscribe - register an application for events of a source
 * @application: the calling task's
 * @source: the source
 * @file: what it reads the source with, or NULL
 * @reader: who reads through @file
 * @what: which events and whose handler
 *
 * Return: 0, -ENOSPC for too many registrations or threads, -ENOMEM, or the
 * error of the device when it is opened.
 */
int esm_subscribe(struct esm_application *application, struct esm_source *source,
		  struct file *file, struct esm_reader *reader,
		  const struct esm_registration *what)
{
	struct esm_match now = {
		.key = esm_key(what->type, what->code),
		.handler = what->handler,
		.file = file,
		.reader = reader,
	};
	struct esm_subscription *subscription;
	struct esm_match *match;

	lockdep_assert_held(&esm_mutex);

	if (list_empty(&application->subscriptions) &&
	    esm_threads(application->process) >= ESM_THREADS)
		return -ENOSPC;

	subscription = esm_subscription_find(application, source);
	if (!subscription)
		subscription = esm_subscription_create(application, source);
	if (IS_ERR(subscription))
		return PTR_ERR(subscription);

	match = esm_matches_exact(&subscription->matches, now.key);
	if (!match && subscription->matches.count == ESM_REGISTRATIONS)
		return -ENOSPC;

	esm_match_replace(subscription, match, &now);

	return 0;
}

/**
 * esm_unsubscribe - take one registration away
 * @application: the calling task's
 * @source: the source
 * @key: type and code, as they were registered
 *
 * Return: 0, or -ENOENT if there is no such registration.
 */
int esm_unsubscribe(struct esm_application *application, struct esm_source *source, u32 key)
{
	struct esm_subscription *subscription = esm_subscription_find(application, source);
	struct esm_match *match;

	lockdep_assert_held(&esm_mutex);

	match = subscription ? esm_matches_exact(&subscription->matches, key) : NULL;
	if (!match)
		return -ENOENT;

	esm_match_replace(subscription, match, NULL);
	if (!subscription->matches.count)
		esm_subscription_end(subscription);

	return 0;
}

/**
 * esm_subscriptions_end - take registrations of an application away
 * @application: the application
 * @source: only at this source, NULL for any
 * @reader: only those made with this reader, NULL for any
 *
 * An application that waits for nothing any more is woken.
 */
void esm_subscriptions_end(struct esm_application *application, const struct esm_source *source,
			   const struct esm_reader *reader)
{
	struct esm_subscription *subscription, *next;
	struct esm_match *match;
	unsigned int index;

	lockdep_assert_held(&esm_mutex);

	list_for_each_entry_safe(subscription, next, &application->subscriptions, of_application) {
		if (source && subscription->source != source)
			continue;
		for (index = subscription->matches.count; index--; ) {
			match = &subscription->matches.match[index];
			if (!reader || match->reader == reader)
				esm_match_replace(subscription, match, NULL);
		}
		if (!subscription->matches.count)
			esm_subscription_end(subscription);
	}

	if (list_empty(&application->subscriptions))
		esm_application_wake(application);
}

/**
 * esm_reader_revoked - an open evdev file may not be read any more
 * @reader: who read through it
 *
 * Context: process context; the reader is marked as revoked.
 */
void esm_reader_revoked(struct esm_reader *reader)
{
	struct esm_application *application;

	mutex_lock(&esm_mutex);
	if (esm_reader_streams(reader))
		list_for_each_entry(application, &esm_applications, node)
			esm_subscriptions_end(application, NULL, reader);
	mutex_unlock(&esm_mutex);
}
