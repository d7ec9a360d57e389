/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_EXPECT_H
#define _LULL_EXPECT_H

#include <linux/types.h>

#include "anticipation.h"
#include "predict.h"

/* A window is at least so much longer than what predictions are off by, on each side. */
#define WAKE_AHEAD_MARGIN_NS	2000
/* And so much longer behind it, for the way from the interrupt to the task. */
#define WAKE_AHEAD_BEHIND_NS	20000

/**
 * struct wake_ahead_accuracy - how good predictions were
 * @seen: events
 * @predicted: of which were predicted
 * @hits: of which came in their window
 * @early: came before it
 * @late: came after it
 *
 * The owner's lock protects it.
 */
struct wake_ahead_accuracy {
	u64 seen;
	u64 predicted;
	u64 hits;
	u64 early;
	u64 late;
};

/**
 * struct wake_ahead_event - a device will interrupt, and a task waits for that
 * @interrupt: request for the CPU that takes the interrupt, if that is another one
 * @task: request for the CPU where the task waits
 * @what: what the device was asked for, a number for the trace
 * @since: when the device began
 * @until: when the event is expected, at @until - @margin at the earliest
 * @margin: 0 if nothing is expected
 * @dated: whether it is known when it came, to the exit latency of its CPU
 *
 * Both ends of the way, because a task is not told before a CPU has taken the
 * interrupt. Zeroed before its first use. Two calls for the same event must not
 * race.
 */
struct wake_ahead_event {
	struct wake_ahead interrupt;
	struct wake_ahead task;
	u32 what;
	u64 since;
	u64 until;
	u64 margin;
	bool dated;
};

void wake_ahead_expect(struct wake_ahead_event *event, int interrupt_cpu, int task_cpu,
		       const struct lull_prediction *prediction);
u64 wake_ahead_came(struct wake_ahead_event *event, struct wake_ahead_accuracy *accuracy);
void wake_ahead_forget(struct wake_ahead_event *event);

#endif /* _LULL_EXPECT_H */
