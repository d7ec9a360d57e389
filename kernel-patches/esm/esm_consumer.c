// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells interrupt routing which CPU an application sleeps on, so that what
 * comes for it goes to the shadow CPU as long as that one does.
 *
 * The consumer of a source's interrupt is the CPU on which an application in
 * the foreground went into EV_WAIT last, or the one of an application that came
 * to the foreground since; when none is left, it is again the one that the
 * interrupt's affinity chooses.
 *
 * A task is asked for its CPU with interrupts off, right before it sleeps. Only
 * a task that is preempted between that and schedule(), and moved while it is,
 * sleeps on another CPU than routing was told. Then routing goes by the wrong
 * CPU until the task's next wait: an event may take a slower way, none is lost.
 */
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "esm.h"
#include "routing.h"

/* Changes with whatever may make an application's last word obsolete. */
static unsigned int esm_consumer_generation = 1;

/**
 * esm_consumer_changed - applications have to tell of their CPUs again
 */
void esm_consumer_changed(void)
{
	lockdep_assert_held(&esm_mutex);

	WRITE_ONCE(esm_consumer_generation, esm_consumer_generation + 1);
}

/**
 * esm_consumer_set - say whom a source's interrupt is for
 * @source: the source
 * @cpu: the CPU, or -1 for nobody in particular
 */
void esm_consumer_set(struct esm_source *source, int cpu)
{
	lockdep_assert_held(&esm_mutex);

	if (!source->irq || source->consumer == cpu)
		return;

	source->consumer = cpu;
	esm_consumer_changed();
	/* An interrupt that is not marked is not routed, and nobody need be told. */
	lull_route_set_consumer(source->irq, cpu);
}

/**
 * esm_consumer_told - whether routing knows where the calling task waits
 * @application: what it is
 *
 * Two comparisons. False if it has moved, or something else has changed.
 *
 * Context: with interrupts off.
 */
bool esm_consumer_told(const struct esm_application *application)
{
	return application->consumer_cpu == smp_processor_id() &&
	       application->consumer_generation == READ_ONCE(esm_consumer_generation);
}

/**
 * esm_consumer_here - the calling task is about to go into EV_WAIT
 * @application: what it is
 */
void esm_consumer_here(struct esm_application *application)
{
	struct esm_subscription *subscription;
	int cpu;

	guard(mutex)(&esm_mutex);

	/* It may be moved right after; esm_consumer_told() sees to that. */
	cpu = raw_smp_processor_id();
	if (application->foreground)
		list_for_each_entry(subscription, &application->subscriptions, of_application)
			esm_consumer_set(subscription->source, cpu);
	application->consumer_cpu = cpu;
	application->consumer_generation = esm_consumer_generation;
}
