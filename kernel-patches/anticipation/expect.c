// SPDX-License-Identifier: GPL-2.0-only
/* Events that are predicted: both CPUs on the way from a device to a task are made ready. */
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "anticipation_trace.h"
#include "expect.h"

/**
 * wake_ahead_expect - a device has begun, and will interrupt
 * @event: the event; an earlier expectation is forgotten
 * @interrupt_cpu: the CPU that takes the interrupt, or -1 if that is not known
 * @task_cpu: the CPU where a task waits for it
 * @prediction: how long it will take, or NULL: it is only seen how long it took
 *
 * Context: as wake_ahead_begin().
 */
void wake_ahead_expect(struct wake_ahead_event *event, int interrupt_cpu, int task_cpu,
		       const struct lull_prediction *prediction)
{
	u64 start, duration;

	wake_ahead_forget(event);
	event->since = ktime_get();
	if (!prediction)
		return;

	event->margin = min(3 * prediction->error_ns + WAKE_AHEAD_MARGIN_NS, prediction->ns);
	event->until = event->since + prediction->ns;
	start = event->until - event->margin;
	duration = 2 * event->margin + WAKE_AHEAD_BEHIND_NS;
	wake_ahead_begin(&event->task, task_cpu, start, duration, 0);
	if (interrupt_cpu >= 0 && interrupt_cpu != task_cpu)
		wake_ahead_begin(&event->interrupt, interrupt_cpu, start, duration, 0);
}

/**
 * wake_ahead_came - the interrupt is being handled
 * @event: the event
 * @accuracy: counts it
 *
 * Context: in the interrupt.
 * Return: how long the device took, in ns, without what the CPU took to wake if that is
 * known, as @event->dated says.
 */
u64 wake_ahead_came(struct wake_ahead_event *event, struct wake_ahead_accuracy *accuracy)
{
	u64 came = max(wake_ahead_arrival(&event->dated), event->since);

	accuracy->seen++;
	if (event->margin) {
		accuracy->predicted++;
		if (came < event->until - event->margin)
			accuracy->early++;
		else if (came < event->until + event->margin + WAKE_AHEAD_BEHIND_NS)
			accuracy->hits++;
		else
			accuracy->late++;
	}
	trace_lull_ahead_came(event->task.owner, event->what, came - event->since,
			      event->margin ? event->until - event->since : 0, event->margin);
	wake_ahead_forget(event);
	return came - event->since;
}

/**
 * wake_ahead_forget - the event will not come
 * @event: the event, expected or not
 *
 * Context: as wake_ahead_begin().
 */
void wake_ahead_forget(struct wake_ahead_event *event)
{
	wake_ahead_end(&event->interrupt);
	wake_ahead_end(&event->task);
	event->margin = 0;
}
