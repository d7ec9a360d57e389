// SPDX-License-Identifier: GPL-2.0-only
/* Choices of WAEAS that need no run queue. */
#include <linux/compiler.h>
#include <linux/jiffies.h>

#include "waeas_choose.h"

/**
 * lull_waeas_is_better - whether a latency-sensitive task is given this CPU rather than that
 * @idle: a CPU that suffices for the task
 * @best: the best one so far
 * @prev: where the task was
 *
 * Algorithm 1 of the paper: less capacity, then a lighter state, then the sleep that has paid off
 * already, or almost. Among equals it is the CPU where the task was, or the first one.
 */
bool lull_waeas_is_better(const struct lull_waeas_idle *idle, const struct lull_waeas_idle *best,
			  int prev)
{
	if (best->cpu < 0)
		return true;
	if (idle->capacity != best->capacity)
		return idle->capacity < best->capacity;
	if (idle->exit_ns != best->exit_ns)
		return idle->exit_ns < best->exit_ns;
	if (idle->left_ns != best->left_ns)
		return idle->left_ns < best->left_ns;

	return idle->cpu == prev;
}

/* Another CPU may read the task's partners meanwhile. */
static int lull_waeas_find(const struct lull_waeas_partner *partners, pid_t pid)
{
	int i;

	for (i = 0; i < LULL_WAEAS_PARTNERS; i++)
		if (READ_ONCE(partners[i].pid) == pid)
			return i;

	return -1;
}

/**
 * lull_waeas_remember - a task wakes another one
 * @partners: those of the waker, which alone calls this
 * @pid: who is woken
 * @cpu: where the waker is
 * @now: in jiffies
 *
 * If there is no room, who was woken the longest ago is forgotten.
 */
void lull_waeas_remember(struct lull_waeas_partner *partners, pid_t pid, int cpu,
			 unsigned long now)
{
	int i, place = lull_waeas_find(partners, pid);

	if (place < 0)
		place = lull_waeas_find(partners, 0);
	if (place < 0) {
		place = 0;
		for (i = 1; i < LULL_WAEAS_PARTNERS; i++)
			if (time_before(partners[i].when, partners[place].when))
				place = i;
	}
	WRITE_ONCE(partners[place].pid, pid);
	WRITE_ONCE(partners[place].cpu, cpu);
	WRITE_ONCE(partners[place].when, now);
}

/**
 * lull_waeas_recall - where a task was when it woke another one the last time
 * @partners: those of the waker
 * @pid: who was woken
 * @now: in jiffies
 *
 * Return: the CPU, or -1 if the waker did not do so lately.
 */
int lull_waeas_recall(const struct lull_waeas_partner *partners, pid_t pid, unsigned long now)
{
	int place = lull_waeas_find(partners, pid);

	if (place < 0 || time_after(now, READ_ONCE(partners[place].when) + LULL_WAEAS_FORGET))
		return -1;

	return READ_ONCE(partners[place].cpu);
}
