/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_IDLE_H
#define _LULL_IDLE_H

#include <linux/cpuidle.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/types.h>

/**
 * struct lull_idle_watcher - someone who wants to know when CPUs sleep
 * @node: the list of watchers
 * @enter: called before a CPU enters an idle state; may be NULL
 * @exit: called after it has left it; may be NULL
 *
 * Both are called on the CPU itself, with interrupts off and RCU watching, and
 * with the depth of the state: the number in its C-name. On every CPU they
 * alternate, enter() first. A CPU that sleeps while its watcher is added is
 * woken, so that it is known to be awake until its first enter(); one that
 * sleeps while its watcher is removed gets no more exit().
 */
struct lull_idle_watcher {
	struct list_head node;
	void (*enter)(unsigned int cpu, unsigned int depth);
	void (*exit)(unsigned int cpu, unsigned int depth);

	/* private: */
	unsigned long since;
};

/**
 * struct lull_idle_sleep - one sleep of a CPU
 * @entered: counter when it was about to enter the state
 * @left: counter when it had left it
 * @state: the state's index, or -1 if the driver did not enter it
 * @depth: the state's depth
 */
struct lull_idle_sleep {
	u64 entered;
	u64 left;
	int state;
	unsigned int depth;
};

int lull_idle_watch(struct lull_idle_watcher *watcher);
void lull_idle_unwatch(struct lull_idle_watcher *watcher);
void lull_idle_last(struct lull_idle_sleep *sleep);

/**
 * lull_idle_depth - the number in a state's C-name
 * @drv: the driver
 * @index: one of its states
 *
 * Return: 1 for WFI, which is always the first; for a state without a C-name
 * what it would be if each were one deeper than the one before it.
 */
static inline unsigned int lull_idle_depth(const struct cpuidle_driver *drv, int index)
{
	const char *name = drv->states[index].desc;

	if (index > 0 && name[0] == 'C' && name[1] >= '1' && name[1] <= '9' && !name[2])
		return name[1] - '0';

	return index + 1;
}

#ifdef CONFIG_LULL_IDLE

DECLARE_STATIC_KEY_FALSE(lull_idle_watched);

void __lull_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index);
void __lull_idle_exit(struct cpuidle_device *dev, int entered_state);

/* The hooks in cpuidle_enter_state(), one nop each while nobody watches. */
static inline void lull_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv,
				   int index)
{
	if (static_branch_unlikely(&lull_idle_watched))
		__lull_idle_enter(dev, drv, index);
}

static inline void lull_idle_exit(struct cpuidle_device *dev, int entered_state)
{
	if (static_branch_unlikely(&lull_idle_watched))
		__lull_idle_exit(dev, entered_state);
}

#else

static inline void lull_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv,
				   int index)
{
}

static inline void lull_idle_exit(struct cpuidle_device *dev, int entered_state)
{
}

#endif

#endif /* _LULL_IDLE_H */
