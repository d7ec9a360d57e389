// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads by windows. All numbers are integers. Each piece of work and each step of
 * smoothing loses less than a ns, and the prediction less than one part of 1024. So
 * a prediction is never above the exact one, and less than 1.01 parts below it.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "waeas_load.h"

static void lull_waeas_push(struct lull_waeas_load *load, u64 number, u32 ns)
{
	int i;

	for (i = LULL_WAEAS_WINDOWS - 1; i > 0; i--) {
		load->ns[i] = load->ns[i - 1];
		load->at[i] = load->at[i - 1];
	}
	load->ns[0] = ns;
	load->at[0] = number;
	load->count = min(load->count + 1, LULL_WAEAS_WINDOWS);
}

/*
 * The window in progress becomes number @number. A task's windows without work are
 * not remembered, because a task that sleeps does not need less when it wakes. A
 * CPU's are.
 */
static void lull_waeas_roll(struct lull_waeas_load *load, u64 number, u64 window_ns,
			    bool idle_counts)
{
	u64 missed;

	/* The length of windows was changed: what was in those from before means nothing. */
	if (load->window_ns && load->window_ns != window_ns)
		*load = (struct lull_waeas_load){ .number = number };
	load->window_ns = window_ns;
	/* Clocks of two CPUs may differ by a little. */
	if (number <= load->number)
		return;

	if (load->current_ns || idle_counts)
		lull_waeas_push(load, load->number, load->current_ns);
	missed = min_t(u64, number - load->number - 1, LULL_WAEAS_WINDOWS);
	for (; idle_counts && missed; missed--)
		lull_waeas_push(load, number - missed, 0);
	load->current_ns = 0;
	load->number = number;
}

/* Where a CPU, whose windows have no gaps, has the work of this window; NULL if it is forgotten. */
static u32 *lull_waeas_window(struct lull_waeas_load *cpu, u32 number)
{
	u32 age = (u32)cpu->number - number;

	if (!age)
		return &cpu->current_ns;
	return age <= cpu->count ? &cpu->ns[age - 1] : NULL;
}

/*
 * Where work of this window is added. A CPU may have begun the next one already, when a task came
 * or went. A task's window only seems to be over if its CPU's clock is behind another's.
 */
static u32 *lull_waeas_adds_to(struct lull_waeas_load *load, u32 number, bool idle_counts)
{
	return idle_counts ? lull_waeas_window(load, number) : &load->current_ns;
}

/**
 * lull_waeas_add - work was done
 * @load: whose
 * @start: from when, in ns since boot
 * @end: and until when; not before what was added last
 * @window_ns: length of a window
 * @speed: of the CPU, LULL_WAEAS_ONE for the fastest at its fastest
 * @idle_counts: whether windows without work are remembered
 */
void lull_waeas_add(struct lull_waeas_load *load, u64 start, u64 end, u64 window_ns,
		    unsigned int speed, bool idle_counts)
{
	u64 number, part;
	u32 *sum;

	/* What is longer than all windows is cut. */
	if (end - start > LULL_WAEAS_WINDOWS * window_ns)
		start = end - LULL_WAEAS_WINDOWS * window_ns;
	while (start < end) {
		number = div64_u64(start, window_ns);
		lull_waeas_roll(load, number, window_ns, idle_counts);
		part = min(end, (number + 1) * window_ns) - start;
		sum = lull_waeas_adds_to(load, number, idle_counts);
		if (sum)
			*sum += part * speed / LULL_WAEAS_ONE;
		start += part;
	}
}

/**
 * lull_waeas_change - the speed of a CPU changes
 * @speeds: the CPU's
 * @now: when, in ns since boot; not before the last change
 * @before: the speed until now
 */
void lull_waeas_change(struct lull_waeas_speeds *speeds, u64 now, unsigned int before)
{
	int i;

	for (i = LULL_WAEAS_CHANGES - 1; i > 0; i--) {
		speeds->at[i] = speeds->at[i - 1];
		speeds->before[i] = speeds->before[i - 1];
	}
	speeds->at[0] = now;
	speeds->before[0] = before;
	speeds->count = min(speeds->count + 1, LULL_WAEAS_CHANGES);
}

/**
 * lull_waeas_add_changing - work was done, maybe by a CPU whose speed changed meanwhile
 * @load: whose
 * @speeds: the changes of the CPU's speed
 * @start: from when, in ns since boot
 * @end: and until when; not before what was added last
 * @window_ns: length of a window
 * @speed: of the CPU after the last change
 * @idle_counts: whether windows without work are remembered
 *
 * Each piece counts at the speed of its time. Work before the oldest change that is
 * remembered counts at the speed just before this change.
 */
void lull_waeas_add_changing(struct lull_waeas_load *load, const struct lull_waeas_speeds *speeds,
			     u64 start, u64 end, u64 window_ns, unsigned int speed,
			     bool idle_counts)
{
	u64 until;
	int i;

	/* Mostly the newest change is older than @start. */
	for (i = 0; i < speeds->count && speeds->at[i] > start; i++)
		;
	while (i--) {
		until = min(speeds->at[i], end);
		lull_waeas_add(load, start, until, window_ns, speeds->before[i], idle_counts);
		start = until;
	}
	lull_waeas_add(load, start, end, window_ns, speed, idle_counts);
}

/**
 * lull_waeas_begin - a task begins with a demand, before it has done any work
 * @load: the task's
 * @demand: of LULL_WAEAS_ONE
 * @now: in ns since boot
 * @window_ns: length of a window
 *
 * It is as if the task had worked once, before all windows that a CPU remembers.
 */
void lull_waeas_begin(struct lull_waeas_load *load, unsigned int demand, u64 now, u64 window_ns)
{
	*load = (struct lull_waeas_load){ .window_ns = window_ns };
	load->number = div64_u64(now, window_ns);
	if (demand)
		lull_waeas_push(load, load->number - LULL_WAEAS_WINDOWS - 1,
				DIV_ROUND_UP_ULL(demand * window_ns, LULL_WAEAS_ONE));
}

static void lull_waeas_move_window(struct lull_waeas_load *cpu, u32 number, u32 ns, bool joins)
{
	u32 *sum = lull_waeas_window(cpu, number);

	if (sum)
		*sum = joins ? min_t(u64, *sum + (u64)ns, U32_MAX) : *sum - min(*sum, ns);
}

/* A task's work of each window that a CPU remembers comes to the CPU, or leaves it. */
static void lull_waeas_move(struct lull_waeas_load *cpu, const struct lull_waeas_load *task,
			    u64 now, u64 window_ns, bool joins)
{
	int i;

	lull_waeas_roll(cpu, div64_u64(now, window_ns), window_ns, true);
	if (task->window_ns != window_ns)
		return;
	lull_waeas_move_window(cpu, task->number, task->current_ns, joins);
	for (i = 0; i < task->count; i++)
		lull_waeas_move_window(cpu, task->at[i], task->ns[i], joins);
}

/**
 * lull_waeas_join - a task comes to a CPU, and brings its work
 * @cpu: the CPU's load, of which windows without work are remembered
 * @task: the task's load, of which they are not
 * @now: in ns since boot
 * @window_ns: length of a window
 */
void lull_waeas_join(struct lull_waeas_load *cpu, const struct lull_waeas_load *task, u64 now,
		     u64 window_ns)
{
	lull_waeas_move(cpu, task, now, window_ns, true);
}

/**
 * lull_waeas_leave - a task leaves a CPU, and takes its work along
 * @cpu: the CPU's load, of which windows without work are remembered
 * @task: the task's load, of which they are not
 * @now: in ns since boot
 * @window_ns: length of a window
 *
 * Only what the CPU still remembers is taken off, window by window: nothing at all if
 * the task has slept for longer than the CPU remembers.
 */
void lull_waeas_leave(struct lull_waeas_load *cpu, const struct lull_waeas_load *task, u64 now,
		      u64 window_ns)
{
	lull_waeas_move(cpu, task, now, window_ns, false);
}

/**
 * lull_waeas_predict - what the next window will need
 * @load: whose
 * @now: in ns since boot
 * @window_ns: length of a window
 * @alpha: the weight of the newest window in exponential smoothing, of
 * LULL_WAEAS_ONE; 0 for the mean of all
 * @idle_counts: as it was added
 *
 * Never less than in the last window (eq. 5 of the paper), nor in the one in
 * progress.
 *
 * Return: LULL_WAEAS_ONE for the fastest CPU at its fastest, all the time.
 */
unsigned int lull_waeas_predict(const struct lull_waeas_load *load, u64 now, u64 window_ns,
				unsigned int alpha, bool idle_counts)
{
	struct lull_waeas_load own = *load;
	u64 sum = 0, ns;
	int i;

	lull_waeas_roll(&own, div64_u64(now, window_ns), window_ns, idle_counts);
	if (alpha && own.count) {
		/* Eq. 4: begin with the mean of the two oldest. */
		i = own.count - 1;
		sum = i ? (own.ns[i] + (u64)own.ns[i - 1]) / 2 : own.ns[i];
		for (; i >= 0; i--)
			sum = (alpha * (u64)own.ns[i] + (LULL_WAEAS_ONE - alpha) * sum) /
			      LULL_WAEAS_ONE;
	} else if (own.count) {
		for (i = 0; i < own.count; i++)
			sum += own.ns[i];
		sum = div_u64(sum, own.count);
	}
	ns = max3(sum, (u64)own.ns[0], (u64)own.current_ns);
	return min_t(u64, div64_u64(ns * LULL_WAEAS_ONE, window_ns), LULL_WAEAS_ONE);
}
