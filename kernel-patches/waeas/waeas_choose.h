/* SPDX-License-Identifier: GPL-2.0-only */
/* Choices of WAEAS that need no run queue: which of two idle CPUs, and where a partner was. */
#ifndef _LULL_WAEAS_CHOOSE_H
#define _LULL_WAEAS_CHOOSE_H

#include <linux/types.h>

/* Tasks that a task has woken last. */
#define LULL_WAEAS_PARTNERS	4
/* Who was not woken for so many jiffies is no partner any more. */
#define LULL_WAEAS_FORGET	(HZ / 2)

/**
 * struct lull_waeas_idle - an idle CPU that a task could be given
 * @cpu: the CPU; -1 for none
 * @capacity: its capacity
 * @exit_ns: what leaving its idle state takes
 * @left_ns: the sleep that it would have to go on with to pay off
 */
struct lull_waeas_idle {
	int cpu;
	unsigned long capacity;
	u64 exit_ns;
	u64 left_ns;
};

/**
 * struct lull_waeas_partner - a task that was woken
 * @pid: its number; 0 for none
 * @cpu: where the waker was then
 * @when: in jiffies
 */
struct lull_waeas_partner {
	pid_t pid;
	int cpu;
	unsigned long when;
};

bool lull_waeas_is_better(const struct lull_waeas_idle *idle, const struct lull_waeas_idle *best,
			  int prev);
void lull_waeas_remember(struct lull_waeas_partner *partners, pid_t pid, int cpu,
			 unsigned long now);
int lull_waeas_recall(const struct lull_waeas_partner *partners, pid_t pid, unsigned long now);

#endif /* _LULL_WAEAS_CHOOSE_H */
