/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pseudo CPU hotplug: what other systems call, and what the kernel's own
 * files ask.
 */
#ifndef _LULL_HOTPLUG_H
#define _LULL_HOTPLUG_H

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/hrtimer_types.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct cpuidle_device;
struct cpuidle_driver;
struct irq_desc;
struct notifier_block;

/* What happened to the CPUs of a struct cpumask, the data of a notification. */
enum lull_pseudo_event {
	PSEUDO_CPU_ONLINE,
	PSEUDO_CPU_OFFLINE,
};

/* What the timers of programs call: of clocks and of timerfd. */
enum hrtimer_restart posix_timer_fn(struct hrtimer *timer);
enum hrtimer_restart timerfd_tmrproc(struct hrtimer *timer);

#ifdef CONFIG_LULL_HOTPLUG

int pseudo_cpu_down(const struct cpumask *mask);
int pseudo_cpu_up(const struct cpumask *mask);
int pseudo_cpu_pause(const struct cpumask *mask, int keeper);
void pseudo_cpu_resume(void);
int pseudo_cpu_register_notifier(struct notifier_block *block);
int pseudo_cpu_unregister_notifier(struct notifier_block *block);

DECLARE_STATIC_KEY_FALSE(lull_hotplug_key);

/* All possible CPUs while the system is off. */
extern struct cpumask lull_pseudo_online_mask;

/*
 * The one question that all hooks ask. A nop while the system is off. The
 * answer may be old when it is given: whoever puts a task on a CPU by an old
 * answer is put right by lull_pseudo_picked().
 */
static __always_inline bool lull_pseudo_offline(unsigned int cpu)
{
	return static_branch_unlikely(&lull_hotplug_key) &&
	       !cpumask_test_cpu(cpu, &lull_pseudo_online_mask);
}

void __lull_pseudo_restrict(struct cpumask *mask);
void __lull_pseudo_prefer(struct cpumask *mask);
unsigned int __lull_pseudo_weight(const struct cpumask *mask);

/* Takes the pseudo-offline CPUs out of @mask, which may become empty. */
static __always_inline void lull_pseudo_restrict(struct cpumask *mask)
{
	if (static_branch_unlikely(&lull_hotplug_key))
		__lull_pseudo_restrict(mask);
}

/* Likewise, but leaves @mask alone if all its CPUs are pseudo-offline. */
static __always_inline void lull_pseudo_prefer(struct cpumask *mask)
{
	if (static_branch_unlikely(&lull_hotplug_key))
		__lull_pseudo_prefer(mask);
}

/* Whether real-time tasks leave, too. */
extern bool lull_pseudo_realtime;

bool __lull_pseudo_restrict_realtime(struct cpumask *mask, const struct cpumask *allowed);

/*
 * Takes the pseudo-offline CPUs out of what a real-time task can be pushed to
 * and pulled from, if it is to leave them and is allowed others. False if none
 * is left.
 */
static __always_inline bool lull_pseudo_restrict_realtime(struct cpumask *mask,
							  const struct cpumask *allowed)
{
	if (static_branch_unlikely(&lull_hotplug_key) && READ_ONCE(lull_pseudo_realtime))
		return __lull_pseudo_restrict_realtime(mask, allowed);

	return true;
}

/* Whether @cpu takes no real-time task: it is pseudo-offline, and they are to leave. */
static __always_inline bool lull_pseudo_shuns_realtime(unsigned int cpu)
{
	return lull_pseudo_offline(cpu) && READ_ONCE(lull_pseudo_realtime);
}

/* Whether all CPUs in @mask are pseudo-offline. */
static __always_inline bool lull_pseudo_none(const struct cpumask *mask)
{
	return static_branch_unlikely(&lull_hotplug_key) && !__lull_pseudo_weight(mask);
}

unsigned int __lull_pseudo_first(const struct cpumask *mask, unsigned int cpu);

/* @cpu, or the first CPU in @mask that stands for it while it is pseudo-offline. */
static __always_inline unsigned int lull_pseudo_first(const struct cpumask *mask,
						      unsigned int cpu)
{
	return lull_pseudo_offline(cpu) ? __lull_pseudo_first(mask, cpu) : cpu;
}

/* A group of CPUs has only the share of its capacity that is pseudo-online. */
static __always_inline void lull_pseudo_shrink(const struct cpumask *span, unsigned int *weight,
					       unsigned long *capacity)
{
	unsigned int left;

	if (!static_branch_unlikely(&lull_hotplug_key))
		return;

	left = __lull_pseudo_weight(span);
	if (left == *weight)
		return;
	*capacity = max(1UL, *capacity * left / *weight);
	*weight = left;
}

/* In kernel/sched/core.c, by way of hotplug_sched.c. */
void lull_pseudo_kick(int cpu);

/* In kernel/irq/manage.c, which alone may set a target and leave the wish. */
void lull_irq_settle(struct irq_desc *desc);

/* In kernel/time/timer_migration.c, which alone knows who waits for what. */
bool lull_tmigr_release(u64 expires);

/* For hotplug_hrtimers.c */
bool lull_pseudo_keeps_timers(unsigned int cpu);

/* In kernel/time/hrtimer.c, by way of hotplug_hrtimers.c: before a pseudo-offline CPU sleeps. */
void lull_hrtimers_leave(void);

int lull_pseudo_idle_state(const struct cpuidle_driver *drv, const struct cpuidle_device *dev);
int lull_pseudo_sleep(struct cpuidle_driver *drv, struct cpuidle_device *dev);
u64 __lull_pseudo_hand_over(u64 expires);

/*
 * The last CPU to go idle waits for the timers of all. If that is one that is
 * pseudo-offline, another is made to take over. Called with timer bases locked.
 */
static __always_inline u64 lull_pseudo_hand_over(unsigned int cpu, bool idle, u64 expires)
{
	return lull_pseudo_offline(cpu) && idle ? __lull_pseudo_hand_over(expires) : expires;
}

#else

static inline int pseudo_cpu_down(const struct cpumask *mask)
{
	return -EOPNOTSUPP;
}

static inline int pseudo_cpu_up(const struct cpumask *mask)
{
	return -EOPNOTSUPP;
}

static inline int pseudo_cpu_pause(const struct cpumask *mask, int keeper)
{
	return -EOPNOTSUPP;
}

static inline void pseudo_cpu_resume(void)
{
}

static inline int pseudo_cpu_register_notifier(struct notifier_block *block)
{
	return -EOPNOTSUPP;
}

static inline int pseudo_cpu_unregister_notifier(struct notifier_block *block)
{
	return -EOPNOTSUPP;
}

static inline bool lull_pseudo_offline(unsigned int cpu)
{
	return false;
}

static inline void lull_pseudo_restrict(struct cpumask *mask)
{
}

static inline void lull_pseudo_prefer(struct cpumask *mask)
{
}

static inline bool lull_pseudo_restrict_realtime(struct cpumask *mask,
						 const struct cpumask *allowed)
{
	return true;
}

static inline bool lull_pseudo_shuns_realtime(unsigned int cpu)
{
	return false;
}

static inline bool lull_pseudo_none(const struct cpumask *mask)
{
	return false;
}

static inline unsigned int lull_pseudo_first(const struct cpumask *mask, unsigned int cpu)
{
	return cpu;
}

static inline void lull_pseudo_shrink(const struct cpumask *span, unsigned int *weight,
				      unsigned long *capacity)
{
}

static inline void lull_hrtimers_leave(void)
{
}

static inline int lull_pseudo_sleep(struct cpuidle_driver *drv, struct cpuidle_device *dev)
{
	return 0;
}

static inline u64 lull_pseudo_hand_over(unsigned int cpu, bool idle, u64 expires)
{
	return expires;
}

#endif /* CONFIG_LULL_HOTPLUG */

#endif /* _LULL_HOTPLUG_H */
