// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pseudo CPU hotplug: a CPU leaves and comes back within microseconds, and
 * nothing wakes it meanwhile.
 *
 *   /sys/kernel/lull/hotplug/enabled             the switch
 *   /sys/kernel/lull/hotplug/realtime            do real-time tasks leave, too
 *   /sys/kernel/lull/hotplug/stats               changes, their time, tasks
 *   /sys/kernel/lull/hotplug/governor/           takes CPUs out by itself: hotplug_governor.c
 *   /sys/devices/system/cpu/pseudo_offline       the CPUs that are out
 *   /sys/devices/system/cpu/cpuN/pseudo_online   whether this one is not
 *
 * A change is a change of one mask, which the hooks ask. What follows it is done
 * by the caller, and nothing waits for another CPU: interrupts are moved, the
 * CPUs that leave are kicked, others are told.
 *
 * Locking. lull_pseudo_lock serialises changes, and is held until all that
 * follows is done, so that notifications and interrupts are in the order of the
 * changes. It is raw and taken with interrupts off: the caller may be in any
 * context in which it may wake a task. Below it are the locks of interrupts and
 * of the scheduler. The hooks take no lock.
 *
 * Hotplug. lull_pseudo_present follows cpu_online_mask, by callbacks that may
 * refuse; the last CPU that works cannot go either way.
 */
#define pr_fmt(fmt) "lull: hotplug: " fmt

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/irqnr.h>
#include <linux/kernfs.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/tick.h>
#include <linux/workqueue.h>

#include "../anticipation/anticipation.h"
#include "hotplug.h"
#include "hotplug_governor.h"
#include "hotplug_mask.h"
#include "hotplug_sched.h"
#include "hotplug_wakes.h"
#include "lull.h"

#define CREATE_TRACE_POINTS
#include "hotplug_trace.h"

DEFINE_STATIC_KEY_FALSE(lull_hotplug_key);

/* Written under lull_pseudo_lock, a bit at a time; read anywhere. */
struct cpumask lull_pseudo_online_mask __read_mostly = { CPU_BITS_ALL };
bool lull_pseudo_realtime __read_mostly;

DEFINE_PER_CPU(struct lull_pseudo_count, lull_pseudo_counts);

static DEFINE_RAW_SPINLOCK(lull_pseudo_lock);
/* Those that are online, and stay so while the lock is held. */
static struct cpumask lull_pseudo_present;
/* Changes are accepted. */
static bool lull_pseudo_on;

static ATOMIC_NOTIFIER_HEAD(lull_pseudo_chain);

/*
 * Under the lock: those of the CPUs that are out by pseudo_cpu_pause(). The files
 * do not tell of them. Whoever else says which CPUs are out ends their pause.
 */
static struct cpumask lull_pseudo_paused;
/* The one of them whose timers stay with it, or -1. */
static int lull_pseudo_keeper = -1;

/* Under the lock: what readers of the files have to be told of. */
static struct cpumask lull_pseudo_news;
static struct kernfs_node *lull_pseudo_list_file;
static DEFINE_PER_CPU(struct kernfs_node *, lull_pseudo_file);

/* Under the lock, since boot. */
static struct {
	u64 changes;
	u64 ns;
	u64 longest;
} lull_pseudo_times;

void __lull_pseudo_restrict(struct cpumask *mask)
{
	/* An old answer is put right by lull_pseudo_picked(). */
	data_race(cpumask_and(mask, mask, &lull_pseudo_online_mask));
}

/*
 * Some interrupt goes where it does because a CPU is out. Whoever says so while a
 * CPU comes back may be late: then that interrupt stays where it is, which its
 * affinity allows, until the next change.
 */
static bool lull_pseudo_displaced;

void __lull_pseudo_prefer(struct cpumask *mask)
{
	/* As above. */
	if (data_race(!cpumask_intersects(mask, &lull_pseudo_online_mask) ||
		      cpumask_subset(mask, &lull_pseudo_online_mask)))
		return;

	__lull_pseudo_restrict(mask);
	WRITE_ONCE(lull_pseudo_displaced, true);
}

bool __lull_pseudo_restrict_realtime(struct cpumask *mask, const struct cpumask *allowed)
{
	/* As above. */
	if (data_race(cpumask_intersects(allowed, &lull_pseudo_online_mask)))
		__lull_pseudo_restrict(mask);

	return !cpumask_empty(mask);
}

unsigned int __lull_pseudo_weight(const struct cpumask *mask)
{
	/* As above. */
	return data_race(cpumask_weight_and(mask, &lull_pseudo_online_mask));
}

unsigned int __lull_pseudo_first(const struct cpumask *mask, unsigned int cpu)
{
	unsigned int first;

	/* As above. */
	first = data_race(cpumask_first_and(mask, &lull_pseudo_online_mask));

	return first < nr_cpu_ids ? first : cpu;
}

/**
 * lull_pseudo_idle_state - the deepest state that is enabled
 * @drv: the CPU's driver
 * @dev: the CPU's device
 *
 * By index: two states may have the same latency.
 *
 * Return: its index, 0 if no other is enabled.
 */
int lull_pseudo_idle_state(const struct cpuidle_driver *drv, const struct cpuidle_device *dev)
{
	int index = drv->state_count;

	while (--index > 0)
		if (!READ_ONCE(dev->states_usage[index].disable))
			break;

	return max(index, 0);
}

/**
 * lull_pseudo_sleep - how a CPU that is out is to sleep now
 * @drv: the CPU's driver
 * @dev: the CPU's device
 *
 * As deep as it can. But the keeper of a pause sleeps by its plan, if it has one: whoever has
 * paused the CPUs needs this one when what it waits for is there. The CPU stays out meanwhile.
 *
 * The tick is stopped. By a plan it may be kept, for a window that begins or ends so soon.
 *
 * Context: the idle loop of the CPU.
 * Return: the index of a state.
 */
int lull_pseudo_sleep(struct cpuidle_driver *drv, struct cpuidle_device *dev)
{
	bool keeper = lull_pseudo_keeps_timers(dev->cpu);
	int state;

	if (keeper && lull_ahead_select(drv, dev, &state))
		return state;

	tick_nohz_idle_stop_tick();
	state = lull_pseudo_idle_state(drv, dev);
	return keeper ? lull_ahead_most(state) : state;
}

/*
 * What makes an idle CPU the one that waits for the timers of all: it becomes
 * busy, if only for this.
 */
struct lull_pseudo_heir {
	struct irq_work interrupt;
	struct work_struct work;
};

static DEFINE_PER_CPU(struct lull_pseudo_heir, lull_pseudo_heirs);

static void lull_pseudo_inherit(struct work_struct *work)
{
}

static void lull_pseudo_call_heir(struct irq_work *interrupt)
{
	struct lull_pseudo_heir *heir = this_cpu_ptr(&lull_pseudo_heirs);

	queue_work_on(smp_processor_id(), system_highpri_wq, &heir->work);
}

/*
 * An interrupt, because the caller holds the locks of timers, and whoever queues
 * work may start a timer. A CPU on its way offline is not in the hierarchy of
 * timers: what it waits for is its own.
 */
u64 __lull_pseudo_hand_over(u64 expires)
{
	unsigned int cpu;

	if (expires == KTIME_MAX || !cpu_active(smp_processor_id()))
		return expires;

	cpu = __lull_pseudo_first(cpu_active_mask, nr_cpu_ids);
	if (cpu >= nr_cpu_ids)
		return expires;

	if (!lull_tmigr_release(expires))
		irq_work_queue_on(&per_cpu_ptr(&lull_pseudo_heirs, cpu)->interrupt, cpu);
	return KTIME_MAX;
}

/* The first CPU that an interrupt may go to now. Most chips take that one. */
static unsigned int lull_pseudo_target(struct irq_data *data)
{
	struct cpumask wish;
	unsigned int cpu;

	cpumask_and(&wish, irq_data_get_affinity_mask(data), cpu_online_mask);
	cpu = cpumask_first_and(&wish, &lull_pseudo_online_mask);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(&wish);
}

/* Needs desc->lock. One that is not started gets its target when it is. */
static bool lull_pseudo_misplaced(struct irq_data *data, const struct cpumask *down)
{
	const struct cpumask *now = irq_data_get_effective_affinity_mask(data);
	unsigned int target;

	if (irqd_is_per_cpu(data) || !irqd_is_started(data))
		return false;
	target = lull_pseudo_target(data);
	if (target >= nr_cpu_ids ||
	    (cpumask_test_cpu(target, now) && !cpumask_intersects(now, down)))
		return false;

	return irq_can_set_affinity(data->irq);
}

/*
 * Moves interrupts away from CPUs that leave, and those back that were moved
 * when a CPU left that returns. genirq's own function does both, because it asks
 * the mask; the user's wish stays what it is. One that is routed to the shadow
 * gets its home anew.
 */
static void lull_pseudo_move_interrupts(const struct cpumask *down)
{
	struct irq_desc *desc;
	unsigned int irq;

	if (cpumask_empty(down) && !READ_ONCE(lull_pseudo_displaced))
		return;
	/* None is, once all CPUs are back; else who is moved below says so again. */
	if (cpumask_subset(cpu_possible_mask, &lull_pseudo_online_mask))
		WRITE_ONCE(lull_pseudo_displaced, false);

	rcu_read_lock();
	for_each_active_irq(irq) {
		desc = irq_to_desc(irq);
		if (!desc)
			continue;

		raw_spin_lock(&desc->lock);
		if (lull_pseudo_misplaced(irq_desc_get_irq_data(desc), down))
			lull_irq_settle(desc);
		raw_spin_unlock(&desc->lock);
	}
	rcu_read_unlock();
}

static void lull_pseudo_tell(struct work_struct *work)
{
	struct cpumask news;
	unsigned int cpu;

	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock) {
		cpumask_copy(&news, &lull_pseudo_news);
		cpumask_clear(&lull_pseudo_news);
	}

	if (lull_pseudo_list_file)
		sysfs_notify_dirent(lull_pseudo_list_file);
	for_each_cpu(cpu, &news)
		if (per_cpu(lull_pseudo_file, cpu))
			sysfs_notify_dirent(per_cpu(lull_pseudo_file, cpu));
}

static DECLARE_WORK(lull_pseudo_tell_work, lull_pseudo_tell);

static void lull_pseudo_queue_tell(struct irq_work *interrupt)
{
	queue_work(system_unbound_wq, &lull_pseudo_tell_work);
}

static struct irq_work lull_pseudo_tell_interrupt =
	IRQ_WORK_INIT_HARD(lull_pseudo_queue_tell);

/* No other CPU could be asked to tell: whoever has made the change does. Under lull_pseudo_lock. */
static bool lull_pseudo_untold;

/*
 * To wake a worker takes as long as all else that a change does, so another CPU
 * is asked to, if there is one. Here no work is queued: a wake-up with a workqueue's
 * lock held may end a pause, which takes our lock.
 */
static void lull_pseudo_tell_soon(void)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, &lull_pseudo_present, &lull_pseudo_online_mask) {
		if (cpu == smp_processor_id() || !cpu_online(cpu))
			continue;
		irq_work_queue_on(&lull_pseudo_tell_interrupt, cpu);
		return;
	}
	lull_pseudo_untold = true;
}

/*
 * First those that return, so that there is always a CPU to go to. @news are the CPUs of which
 * the files say something else from now on.
 */
static void lull_pseudo_do(const struct lull_pseudo_change *change, const struct cpumask *news)
{
	u64 start = local_clock(), took;
	unsigned int cpu;

	lockdep_assert_held(&lull_pseudo_lock);

	if (cpumask_empty(&change->up) && cpumask_empty(&change->down) && cpumask_empty(news))
		return;

	trace_lull_pseudo_change(&change->down, &change->up, false);

	for_each_cpu(cpu, &change->up)
		cpumask_set_cpu(cpu, &lull_pseudo_online_mask);
	for_each_cpu(cpu, &change->down)
		cpumask_clear_cpu(cpu, &lull_pseudo_online_mask);

	lull_pseudo_move_interrupts(&change->down);
	for_each_cpu(cpu, &change->down)
		lull_pseudo_kick(cpu);

	if (!cpumask_empty(&change->up))
		atomic_notifier_call_chain(&lull_pseudo_chain, PSEUDO_CPU_ONLINE,
					   (void *)&change->up);
	if (!cpumask_empty(&change->down))
		atomic_notifier_call_chain(&lull_pseudo_chain, PSEUDO_CPU_OFFLINE,
					   (void *)&change->down);

	if (!cpumask_empty(news)) {
		cpumask_or(&lull_pseudo_news, &lull_pseudo_news, news);
		lull_pseudo_tell_soon();
	}

	trace_lull_pseudo_change(&change->down, &change->up, true);

	took = local_clock() - start;
	lull_pseudo_times.changes++;
	lull_pseudo_times.ns += took;
	lull_pseudo_times.longest = max(lull_pseudo_times.longest, took);
}

/* The CPUs of @mask are out, or are those that are out now plus or minus @mask. */
enum lull_pseudo_verb {
	LULL_PSEUDO_SET,
	LULL_PSEUDO_DOWN,
	LULL_PSEUDO_UP,
};

static void lull_pseudo_now(struct lull_pseudo_state *state)
{
	cpumask_andnot(&state->out, cpu_possible_mask, &lull_pseudo_online_mask);
	cpumask_copy(&state->online, &lull_pseudo_present);
	cpumask_copy(&state->home, housekeeping_cpumask(HK_TYPE_DOMAIN));
}

/* What the files say: a pause is not in them. */
static void lull_pseudo_said(struct cpumask *out)
{
	lockdep_assert_held(&lull_pseudo_lock);

	cpumask_andnot(out, cpu_possible_mask, &lull_pseudo_online_mask);
	cpumask_andnot(out, out, &lull_pseudo_paused);
}

static int lull_pseudo_change_locked(enum lull_pseudo_verb verb, const struct cpumask *mask)
{
	struct lull_pseudo_change change;
	struct lull_pseudo_state state;
	struct cpumask said, wish;
	int error;

	lockdep_assert_held(&lull_pseudo_lock);

	lull_pseudo_now(&state);
	lull_pseudo_said(&said);

	if (verb == LULL_PSEUDO_SET)
		cpumask_copy(&wish, mask);
	else if (verb == LULL_PSEUDO_DOWN)
		cpumask_or(&wish, &said, mask);
	else
		cpumask_andnot(&wish, &said, mask);

	error = lull_pseudo_plan(&state, &wish, &change);
	if (error)
		return error;
	/* Nothing to do is no error while it is off. */
	if (!lull_pseudo_on && !cpumask_empty(&change.down))
		return -EOPNOTSUPP;

	cpumask_clear(&lull_pseudo_paused);
	WRITE_ONCE(lull_pseudo_keeper, -1);
	cpumask_xor(&said, &said, &wish);
	lull_pseudo_do(&change, &said);
	return 0;
}

static int lull_pseudo_change(enum lull_pseudo_verb verb, const struct cpumask *mask)
{
	unsigned long flags;
	bool untold;
	int error;

	if (!cpumask_subset(mask, cpu_possible_mask))
		return -EINVAL;

	raw_spin_lock_irqsave(&lull_pseudo_lock, flags);
	error = lull_pseudo_change_locked(verb, mask);
	untold = lull_pseudo_untold;
	lull_pseudo_untold = false;
	raw_spin_unlock_irqrestore(&lull_pseudo_lock, flags);
	if (untold)
		queue_work(system_unbound_wq, &lull_pseudo_tell_work);

	return error;
}

int lull_pseudo_set(const struct cpumask *out)
{
	return lull_pseudo_change(LULL_PSEUDO_SET, out);
}

/**
 * pseudo_cpu_down - CPUs leave
 * @mask: the CPUs; those that are out already do not count
 *
 * When this returns, nothing new is sent there but what has nowhere else to go.
 * What runs there leaves within moments, and then the CPUs sleep.
 *
 * Context: any in which a task may be woken, also with interrupts off; not an
 * NMI, and not with a lock of the scheduler, of timers or of an interrupt held.
 * Return: 0, or nothing was done: -EOPNOTSUPP while the system is off, -EINVAL
 * for an impossible CPU, -ENODEV for one that is not online, -EBUSY if none would
 * be left.
 */
int pseudo_cpu_down(const struct cpumask *mask)
{
	return lull_pseudo_change(LULL_PSEUDO_DOWN, mask);
}
EXPORT_SYMBOL_GPL(pseudo_cpu_down);

/**
 * pseudo_cpu_up - CPUs come back
 * @mask: the CPUs; those that are not out do not count
 *
 * They are not woken: the next task that is placed there does that.
 *
 * Context: as pseudo_cpu_down().
 * Return: 0, or -EINVAL for an impossible CPU.
 */
int pseudo_cpu_up(const struct cpumask *mask)
{
	return lull_pseudo_change(LULL_PSEUDO_UP, mask);
}
EXPORT_SYMBOL_GPL(pseudo_cpu_up);

/**
 * pseudo_cpu_pause - CPUs leave for a moment, and no file says so
 * @mask: the CPUs; those that are out already do not count
 * @keeper: the one of them whose timers stay with it, and which sleeps by its plan of anticipation,
 * if it has one; or -1. Whoever pauses the CPUs may wait for one of these timers, and needs this
 * CPU when it fires.
 *
 * The pause ends with pseudo_cpu_resume(), or when somebody else says which CPUs
 * are out, by a file or by pseudo_cpu_down() and pseudo_cpu_up(). There is one at a time.
 *
 * Context: as pseudo_cpu_down().
 * Return: 0, or nothing was done: errors as pseudo_cpu_down().
 */
int pseudo_cpu_pause(const struct cpumask *mask, int keeper)
{
	struct lull_pseudo_change change;
	struct lull_pseudo_state state;
	struct cpumask wish;
	int error;

	guard(raw_spinlock_irqsave)(&lull_pseudo_lock);

	if (!lull_pseudo_on)
		return -EOPNOTSUPP;
	lull_pseudo_now(&state);
	cpumask_or(&wish, &state.out, mask);
	error = lull_pseudo_plan(&state, &wish, &change);
	if (error)
		return error;

	cpumask_or(&lull_pseudo_paused, &lull_pseudo_paused, &change.down);
	WRITE_ONCE(lull_pseudo_keeper, keeper);
	lull_pseudo_do(&change, cpu_none_mask);
	return 0;
}
EXPORT_SYMBOL_GPL(pseudo_cpu_pause);

static void lull_pseudo_resume_locked(void)
{
	struct lull_pseudo_change change = {};

	lockdep_assert_held(&lull_pseudo_lock);

	cpumask_copy(&change.up, &lull_pseudo_paused);
	cpumask_clear(&lull_pseudo_paused);
	WRITE_ONCE(lull_pseudo_keeper, -1);
	lull_pseudo_do(&change, cpu_none_mask);
}

/**
 * pseudo_cpu_resume - the CPUs of pseudo_cpu_pause() come back
 *
 * Those that others have said something about since then stay as they are.
 *
 * Context: as pseudo_cpu_down().
 */
void pseudo_cpu_resume(void)
{
	guard(raw_spinlock_irqsave)(&lull_pseudo_lock);

	lull_pseudo_resume_locked();
}
EXPORT_SYMBOL_GPL(pseudo_cpu_resume);

/* Whether the timers of a CPU that is out stay with it. */
bool lull_pseudo_keeps_timers(unsigned int cpu)
{
	return READ_ONCE(lull_pseudo_keeper) == cpu;
}

/**
 * pseudo_cpu_register_notifier - be told of changes
 * @block: is called with PSEUDO_CPU_ONLINE or PSEUDO_CPU_OFFLINE and the CPUs
 *
 * On the CPU that made the change, in the order of the changes, with interrupts
 * off and a raw lock held: the callback may not sleep, and may not change what
 * it is told of.
 *
 * Context: process context.
 * Return: 0, or -EEXIST if it is registered.
 */
int pseudo_cpu_register_notifier(struct notifier_block *block)
{
	return atomic_notifier_chain_register(&lull_pseudo_chain, block);
}
EXPORT_SYMBOL_GPL(pseudo_cpu_register_notifier);

/**
 * pseudo_cpu_unregister_notifier - be told no more
 * @block: not called any more when this returns
 *
 * Context: process context; sleeps.
 * Return: 0, or -ENOENT if it was not registered.
 */
int pseudo_cpu_unregister_notifier(struct notifier_block *block)
{
	return atomic_notifier_chain_unregister(&lull_pseudo_chain, block);
}
EXPORT_SYMBOL_GPL(pseudo_cpu_unregister_notifier);

static int lull_hotplug_enable(struct lull_system *system)
{
	static_branch_enable(&lull_hotplug_key);
	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock)
		lull_pseudo_on = true;
	lull_governor_run(true);

	return 0;
}

static int lull_hotplug_disable(struct lull_system *system)
{
	lull_governor_run(false);
	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock)
		lull_pseudo_on = false;
	pseudo_cpu_up(cpu_possible_mask);

	static_branch_disable(&lull_hotplug_key);

	return 0;
}

static struct lull_system lull_hotplug = {
	.name = "hotplug",
	.enable = lull_hotplug_enable,
	.disable = lull_hotplug_disable,
};

static int lull_pseudo_cpu_online(unsigned int cpu)
{
	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock)
		cpumask_set_cpu(cpu, &lull_pseudo_present);

	return 0;
}

static bool lull_pseudo_is_last(unsigned int cpu)
{
	struct cpumask left;

	cpumask_and(&left, &lull_pseudo_present, &lull_pseudo_online_mask);
	cpumask_and(&left, &left, housekeeping_cpumask(HK_TYPE_DOMAIN));
	return cpumask_equal(&left, cpumask_of(cpu));
}

/*
 * The last CPU that works stays, as the last one that is online does. Suspend
 * takes all but one: there, those that are out have to do.
 */
static int lull_pseudo_cpu_offline(unsigned int cpu)
{
	bool last;

	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock) {
		/* A pause refuses nothing. */
		if (lull_pseudo_is_last(cpu))
			lull_pseudo_resume_locked();
		last = !cpuhp_tasks_frozen && lull_pseudo_on && lull_pseudo_is_last(cpu);
		if (!last)
			cpumask_clear_cpu(cpu, &lull_pseudo_present);
	}

	return last ? -EBUSY : 0;
}

static ssize_t pseudo_online_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct cpumask out;

	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock)
		lull_pseudo_said(&out);

	return sysfs_emit(buf, "%d\n", !cpumask_test_cpu(dev->id, &out));
}

static ssize_t pseudo_online_store(struct device *dev, struct device_attribute *attr,
				   const char *buf, size_t count)
{
	unsigned int online;
	int error;

	if (kstrtouint(buf, 10, &online) || online > 1)
		return -EINVAL;

	if (online)
		error = pseudo_cpu_up(cpumask_of(dev->id));
	else
		error = pseudo_cpu_down(cpumask_of(dev->id));

	return error ? error : count;
}

static DEVICE_ATTR_RW(pseudo_online);

static ssize_t pseudo_offline_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct cpumask out;

	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock)
		lull_pseudo_said(&out);

	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(&out));
}

static ssize_t pseudo_offline_store(struct device *dev, struct device_attribute *attr,
				    const char *buf, size_t count)
{
	struct cpumask wish;
	int error;

	error = lull_pseudo_parse(buf, &wish);
	if (!error)
		error = lull_pseudo_set(&wish);

	return error ? error : count;
}

static DEVICE_ATTR_RW(pseudo_offline);

static ssize_t realtime_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(lull_pseudo_realtime) ? "leave" : "stay");
}

static ssize_t realtime_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	if (sysfs_streq(buf, "leave"))
		WRITE_ONCE(lull_pseudo_realtime, true);
	else if (sysfs_streq(buf, "stay"))
		WRITE_ONCE(lull_pseudo_realtime, false);
	else
		return -EINVAL;

	return count;
}

static struct kobj_attribute realtime_attr = __ATTR_RW(realtime);

/* Since boot: a reader takes differences. */
static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_pseudo_count count;
	u64 changes, ns, longest;
	unsigned int cpu;
	int length;

	scoped_guard(raw_spinlock_irqsave, &lull_pseudo_lock) {
		changes = lull_pseudo_times.changes;
		ns = lull_pseudo_times.ns;
		longest = lull_pseudo_times.longest;
	}
	length = sysfs_emit(buf, "changes %llu ns %llu longest %llu\n", changes, ns, longest);
	for_each_possible_cpu(cpu) {
		/* Counting goes on meanwhile. */
		count = data_race(per_cpu(lull_pseudo_counts, cpu));
		length += sysfs_emit_at(buf, length, "cpu%u stranded %lu pushed %lu\n", cpu,
					count.stranded, count.pushed);
	}

	return length;
}

static struct kobj_attribute stats_attr = __ATTR_RO_MODE(stats, 0400);

static const struct attribute *const lull_hotplug_attrs[] = {
	&realtime_attr.attr,
	&stats_attr.attr,
	NULL
};

/* The files stay for good, and so do the references of sysfs_get_dirent(). */
static int __init lull_pseudo_create_files(void)
{
	struct device *root = bus_get_dev_root(&cpu_subsys), *dev;
	unsigned int cpu;
	int error;

	if (!root)
		return -ENODEV;

	error = device_create_file(root, &dev_attr_pseudo_offline);
	if (!error)
		lull_pseudo_list_file = sysfs_get_dirent(root->kobj.sd, "pseudo_offline");
	put_device(root);

	for_each_possible_cpu(cpu) {
		dev = get_cpu_device(cpu);
		if (error || !dev)
			continue;
		error = device_create_file(dev, &dev_attr_pseudo_online);
		if (!error)
			per_cpu(lull_pseudo_file, cpu) =
				sysfs_get_dirent(dev->kobj.sd, "pseudo_online");
	}

	return error;
}

/* Those that were created. */
static void __init lull_pseudo_remove_files(void)
{
	struct device *root = bus_get_dev_root(&cpu_subsys);
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!per_cpu(lull_pseudo_file, cpu))
			continue;
		sysfs_put(per_cpu(lull_pseudo_file, cpu));
		device_remove_file(get_cpu_device(cpu), &dev_attr_pseudo_online);
	}
	if (lull_pseudo_list_file) {
		sysfs_put(lull_pseudo_list_file);
		device_remove_file(root, &dev_attr_pseudo_offline);
	}
	put_device(root);
}

static int __init lull_hotplug_init(void)
{
	struct lull_pseudo_heir *heir;
	unsigned int cpu;
	int error, state;

	for_each_possible_cpu(cpu) {
		heir = per_cpu_ptr(&lull_pseudo_heirs, cpu);
		heir->interrupt = IRQ_WORK_INIT_HARD(lull_pseudo_call_heir);
		INIT_WORK(&heir->work, lull_pseudo_inherit);
	}

	error = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "lull/hotplug:online",
				  lull_pseudo_cpu_online, lull_pseudo_cpu_offline);
	if (error < 0)
		return error;

	state = error;

	error = lull_register_system(&lull_hotplug);
	if (error)
		goto out_state;
	error = sysfs_create_files(lull_hotplug.kobj, lull_hotplug_attrs);
	if (!error)
		error = lull_governor_create(lull_hotplug.kobj);
	if (!error)
		error = lull_pseudo_create_files();
	if (error)
		goto out_system;

	lull_wakes_create(debugfs_create_dir("hotplug", lull_debugfs));
	return 0;

out_system:
	lull_pseudo_remove_files();
	lull_governor_remove();
	lull_unregister_system(&lull_hotplug);
out_state:
	cpuhp_remove_state(state);
	return error;
}
late_initcall(lull_hotplug_init);
