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

static struct esm_subscription *
esm_subscription_find(const struct esm_application *application, const struct esm_source *source)
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

static struct esm_subscription *esm_subscription_begin(struct esm_subscription **spare,
						       struct esm_application *application,
						       struct esm_source *source)
{
	struct esm_subscription *subscription = *spare;

	*spare = NULL;
	subscription->application = application;
	subscription->source = source;
	list_add_tail(&subscription->of_application, &application->subscriptions);
	esm_subscription_activate(subscription, application->foreground);

	return subscription;
}

static void esm_subscription_end(struct esm_subscription *subscription)
{
	esm_subscription_activate(subscription, false);
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
	struct esm_source *source = subscription->source;
	struct file *before = match ? match->file : NULL;
	struct input_handle *handle = source->handle;
	bool was_numbered = match && !before;

	if (now && now->file)
		get_file(now->file);
	if (now && !now->file)
		esm_source_reserve(source);
	if (handle) {
		spin_lock_irq(&handle->dev->event_lock);
		esm_match_change(subscription, match, now);
		spin_unlock_irq(&handle->dev->event_lock);
	} else {
		esm_match_change(subscription, match, now);
	}
	if (before)
		fput(before);
	if (was_numbered) {
		esm_source_release(source);
		esm_source_put(source);
	}
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
 * esm_may_subscribe - whether there is room for a registration
 * @application: who would register, or NULL if the task is none yet
 * @process: the task's
 * @source: where
 * @key: for what
 *
 * Return: 0, or -ENOSPC for too many registrations or threads.
 */
int esm_may_subscribe(const struct esm_application *application, const struct pid *process,
		      const struct esm_source *source, u32 key)
{
	struct esm_subscription *subscription = NULL;

	lockdep_assert_held(&esm_mutex);

	if ((!application || list_empty(&application->subscriptions)) &&
	    esm_threads(process) >= ESM_THREADS)
		return -ENOSPC;

	if (application)
		subscription = esm_subscription_find(application, source);
	if (subscription && subscription->matches.count == ESM_REGISTRATIONS &&
	    !esm_matches_exact(&subscription->matches, key))
		return -ENOSPC;

	return 0;
}

/**
 * esm_subscribe - register an application for events of a source
 * @application: the calling task's
 * @source: the source, whose device is open
 * @spare: memory for a subscription, zeroed; NULL in its place if it was needed
 * @now: which events, whose handler, and what it reads the source with
 *
 * Return: 0, or -ENOSPC for too many registrations or threads.
 */
int esm_subscribe(struct esm_application *application, struct esm_source *source,
		  struct esm_subscription **spare, const struct esm_match *now)
{
	struct esm_subscription *subscription;
	int error;

	lockdep_assert_held(&esm_mutex);

	error = esm_may_subscribe(application, application->process, source, now->key);
	if (error)
		return error;

	subscription = esm_subscription_find(application, source) ?:
		       esm_subscription_begin(spare, application, source);
	esm_match_replace(subscription, esm_matches_exact(&subscription->matches, now->key), now);

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
