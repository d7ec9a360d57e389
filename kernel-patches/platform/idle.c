// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells those who watch when a CPU goes to sleep and when it is awake again.
 *
 *   /sys/kernel/debug/lull/idle   watchers, then for each CPU: enters, exits
 *
 * The hooks in cpuidle_enter_state() are nops until someone watches. A CPU that
 * idles without cpuidle, as all do while its governor or a state's numbers are
 * changed, is not seen.
 */
#include <linux/cpu.h>
#include <linux/cpuidle.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include <asm/arch_timer.h>

#include "idle.h"
#include "lull.h"

DEFINE_STATIC_KEY_FALSE(lull_idle_watched);

/* Serialises watching and not watching; the hooks take no lock. */
static DEFINE_MUTEX(lull_idle_lock);
/* In the order of their @since. */
static LIST_HEAD(lull_idle_watchers);
/* The @since of the youngest watcher that is in the list for all to see. */
static unsigned long lull_idle_latest;

struct lull_idle_cpu {
	struct lull_idle_sleep sleep;
	/* Watchers as old as this were told of the state that is entered now. */
	unsigned long told;
	unsigned long enters;
	unsigned long exits;
};

static DEFINE_PER_CPU(struct lull_idle_cpu, lull_idle_cpus);

void __lull_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	struct lull_idle_cpu *cpu = this_cpu_ptr(&lull_idle_cpus);
	struct lull_idle_watcher *watcher;

	/* Pairs with the release in lull_idle_watch(): who is told is in the list. */
	cpu->told = smp_load_acquire(&lull_idle_latest);
	WRITE_ONCE(cpu->enters, cpu->enters + 1);
	cpu->sleep.state = index;
	cpu->sleep.depth = lull_idle_depth(drv, index);

	list_for_each_entry_rcu(watcher, &lull_idle_watchers, node) {
		if (watcher->since > cpu->told)
			break;
		if (watcher->enter)
			watcher->enter(dev->cpu, cpu->sleep.depth);
	}

	cpu->sleep.entered = __arch_counter_get_cntvct();
}

void __lull_idle_exit(struct cpuidle_device *dev, int entered_state)
{
	struct lull_idle_cpu *cpu = this_cpu_ptr(&lull_idle_cpus);
	u64 now = __arch_counter_get_cntvct();
	struct lull_idle_watcher *watcher;

	/*
	 * Unless the oldest watcher was told of this state, the hooks were off
	 * when it was entered, and what is known of it is about another sleep.
	 */
	watcher = list_first_or_null_rcu(&lull_idle_watchers, struct lull_idle_watcher, node);
	if (!watcher || watcher->since > cpu->told)
		return;

	WRITE_ONCE(cpu->exits, cpu->exits + 1);
	cpu->sleep.left = now;
	if (entered_state < 0)
		cpu->sleep.state = -1;

	list_for_each_entry_rcu(watcher, &lull_idle_watchers, node) {
		if (watcher->since > cpu->told)
			break;
		if (watcher->exit)
			watcher->exit(dev->cpu, cpu->sleep.depth);
	}
}

/**
 * lull_idle_watch - begin to watch all CPUs
 * @watcher: what to call; belongs to the list until unwatched
 *
 * Context: process context; sleeps; not with CPU hotplug locked.
 * Return: 0, or -EEXIST if it watches already.
 */
int lull_idle_watch(struct lull_idle_watcher *watcher)
{
	struct lull_idle_watcher *other;
	int error = -EEXIST;

	mutex_lock(&lull_idle_lock);
	list_for_each_entry(other, &lull_idle_watchers, node)
		if (other == watcher)
			goto out;

	watcher->since = lull_idle_latest + 1;
	list_add_tail_rcu(&watcher->node, &lull_idle_watchers);
	/* Pairs with the acquire in __lull_idle_enter(). */
	smp_store_release(&lull_idle_latest, watcher->since);
	static_branch_inc(&lull_idle_watched);
	wake_up_all_idle_cpus();
	error = 0;
out:
	mutex_unlock(&lull_idle_lock);
	return error;
}

/**
 * lull_idle_unwatch - watch no more
 * @watcher: one that watches; no callback runs any more when this returns
 *
 * Context: as lull_idle_watch().
 */
void lull_idle_unwatch(struct lull_idle_watcher *watcher)
{
	mutex_lock(&lull_idle_lock);
	static_branch_dec(&lull_idle_watched);
	list_del_rcu(&watcher->node);
	mutex_unlock(&lull_idle_lock);

	synchronize_rcu();
}

/**
 * lull_idle_last - what is known of the last sleep of this CPU
 * @sleep: is filled in; all 0 if it never slept while someone watched
 *
 * Context: interrupts off, and someone watches since before that sleep.
 */
void lull_idle_last(struct lull_idle_sleep *sleep)
{
	lockdep_assert_irqs_disabled();

	*sleep = this_cpu_ptr(&lull_idle_cpus)->sleep;
}

static int lull_idle_show(struct seq_file *file, void *unused)
{
	struct lull_idle_watcher *watcher;
	unsigned int cpu, watchers = 0;

	mutex_lock(&lull_idle_lock);
	list_for_each_entry(watcher, &lull_idle_watchers, node)
		watchers++;
	mutex_unlock(&lull_idle_lock);

	seq_printf(file, "watchers %u\n", watchers);
	for_each_possible_cpu(cpu) {
		const struct lull_idle_cpu *idle = per_cpu_ptr(&lull_idle_cpus, cpu);

		seq_printf(file, "%u %lu %lu\n", cpu, READ_ONCE(idle->enters),
			   READ_ONCE(idle->exits));
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lull_idle);

static int __init lull_idle_init(void)
{
	debugfs_create_file("idle", 0400, lull_debugfs, NULL, &lull_idle_fops);
	return 0;
}
device_initcall(lull_idle_init);
