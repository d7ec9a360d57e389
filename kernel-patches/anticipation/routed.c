// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the shadow CPU takes, predicted:
 *
 *   /sys/kernel/lull/anticipation/routed         none, wake or home
 *   /sys/kernel/lull/anticipation/routed_stats   root's: how well
 *
 * While a consumer sleeps, the interrupts of its events go to the shadow CPU
 * (routing.c). An event that the shadow CPU passes on then pays for two ways out
 * of sleep, one after the other. If most of the last events were passed on,
 *
 *   wake   the consumer is woken when the interrupt has come to the shadow CPU;
 *   home   the interrupt stays with the consumer while that sleeps, so that the
 *          shadow CPU's way out is not there at all. This is decided when the
 *          consumer idles, so the first events after a change go the old way.
 *
 * If most were dropped, the consumer sleeps on.
 *
 * An event was wanted if the consumer switched to a task that it began soon
 * after the interrupt. That is seen when the consumer idles next.
 */
#include <linux/bitops.h>
#include <linux/interrupt.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>
#include <trace/events/irq.h>

#include "anticipation.h"
#include "lull.h"
#include "routed.h"
#include "routing.h"

/* Within such a time of its interrupt an event was wanted, or not at all. */
#define LULL_ROUTED_SOON_NS	NSEC_PER_MSEC
/* Of the last eight events so many were wanted: then the next one is expected to be. */
#define LULL_ROUTED_MOST	6
/* The longest line of the statistics. */
#define LULL_ROUTED_LINE	160

/* In the order of the words in /sys/kernel/lull/anticipation/routed. */
enum lull_routed_how {
	LULL_ROUTED_NONE,
	LULL_ROUTED_WAKE,
	LULL_ROUTED_HOME,
};

/**
 * struct lull_routed - an interrupt that is routed
 * @request: for its consumer
 * @irq: its number; another one in the same slot begins anew
 * @cpu: the consumer, while it is not known whether the last event was wanted,
 * else -1
 * @since: when that event came
 * @switches: what the consumer had switched by then
 * @predicted: whether the consumer was woken for it
 * @kept: whether it came to the consumer
 * @history: the last eight events, 1 for one that was wanted
 * @seen: events
 * @wanted: of which were wanted
 * @hits: of these, those that the consumer was woken for at once
 * @vain: events that it was woken for and that were not wanted
 * @home: events that came to the consumer, wanted or not
 */
struct lull_routed {
	struct wake_ahead request;
	unsigned int irq;
	int cpu;
	u64 since;
	u64 switches;
	bool predicted;
	bool kept;
	u8 history;
	u64 seen;
	u64 wanted;
	u64 hits;
	u64 vain;
	u64 home;
};

static struct lull_routed lull_routed[LULL_ROUTES];
/* Of a CPU: the slots whose last event it may have been woken for. */
static DEFINE_PER_CPU(unsigned long, lull_routed_awaited);
/* Protects the slots. */
static DEFINE_RAW_SPINLOCK(lull_routed_lock);
static enum lull_routed_how lull_routed_how = LULL_ROUTED_WAKE;

static bool lull_routed_expected(const struct lull_routed *routed)
{
	return hweight8(routed->history) >= LULL_ROUTED_MOST;
}

static void lull_routed_settle(struct lull_routed *routed, bool wanted)
{
	bool keep;

	lockdep_assert_held(&lull_routed_lock);

	clear_bit(routed - lull_routed, per_cpu_ptr(&lull_routed_awaited, routed->cpu));
	routed->cpu = -1;
	routed->history = routed->history << 1 | wanted;
	routed->seen++;
	routed->wanted += wanted;
	routed->hits += wanted && routed->predicted;
	routed->vain += !wanted && routed->predicted;
	keep = READ_ONCE(lull_routed_how) == LULL_ROUTED_HOME && lull_routed_expected(routed);
	lull_route_keep(routed - lull_routed, keep);
	/* One that was not wanted is a miss, and ends with its window. */
	if (wanted)
		wake_ahead_end(&routed->request);
}

static void lull_routed_begin(struct lull_routed *routed, unsigned int irq, int cpu, bool kept)
{
	lockdep_assert_held(&lull_routed_lock);

	if (routed->irq != irq) {
		wake_ahead_end(&routed->request);
		*routed = (struct lull_routed){ .irq = irq, .request.owner = "routed event" };
	}
	routed->cpu = cpu;
	routed->since = ktime_get();
	routed->switches = nr_context_switches_cpu(cpu);
	routed->kept = kept;
	routed->home += kept;
	routed->predicted = kept || (READ_ONCE(lull_routed_how) == LULL_ROUTED_WAKE &&
				     lull_routed_expected(routed));
	set_bit(routed - lull_routed, per_cpu_ptr(&lull_routed_awaited, cpu));
	if (routed->predicted && !kept)
		wake_ahead_begin(&routed->request, cpu, routed->since, LULL_ROUTED_SOON_NS, 0);
}

/* Before an interrupt's handler, on the CPU that takes it. */
static void lull_routed_probe(void *unused, int irq, struct irqaction *action)
{
	struct lull_routed *routed;
	int slot, cpu;
	bool kept;

	cpu = lull_route_sleeper(irq, &slot, &kept);
	if (cpu < 0)
		return;

	guard(raw_spinlock_irqsave)(&lull_routed_lock);
	routed = &lull_routed[slot];
	if (routed->cpu >= 0) {
		/* Several events in so short a time are one. */
		if (ktime_get() < routed->since + LULL_ROUTED_SOON_NS)
			return;
		lull_routed_settle(routed, false);
	}
	lull_routed_begin(routed, irq, cpu, kept);
}

/* lull_routed_idle - this CPU has nothing to do */
void lull_routed_idle(void)
{
	unsigned long awaited = READ_ONCE(*this_cpu_ptr(&lull_routed_awaited));
	struct lull_routed *routed;
	unsigned int slot;
	u64 left;
	bool ran;

	if (likely(!awaited))
		return;

	left = lull_ahead_left_at();
	guard(raw_spinlock_irqsave)(&lull_routed_lock);
	for_each_set_bit(slot, &awaited, LULL_ROUTES) {
		routed = &lull_routed[slot];
		if (routed->cpu != smp_processor_id())
			continue;
		ran = nr_context_switches_cpu(routed->cpu) != routed->switches;
		if (ran)
			lull_routed_settle(routed, left < routed->since + LULL_ROUTED_SOON_NS);
		else if (routed->kept || ktime_get() >= routed->since + LULL_ROUTED_SOON_NS)
			/* Nobody else will deliver what this CPU has handled itself. */
			lull_routed_settle(routed, false);
	}
}

/**
 * lull_routed_start - look at interrupts
 *
 * Return: 0 or an error.
 */
int lull_routed_start(void)
{
	return register_trace_irq_handler_entry(lull_routed_probe, NULL);
}

/* lull_routed_stop - do so no more, and forget what was seen */
void lull_routed_stop(void)
{
	struct lull_routed *routed;
	int slot;

	unregister_trace_irq_handler_entry(lull_routed_probe, NULL);
	tracepoint_synchronize_unregister();
	for (slot = 0; slot < LULL_ROUTES; slot++) {
		guard(raw_spinlock_irqsave)(&lull_routed_lock);
		routed = &lull_routed[slot];
		if (routed->cpu >= 0)
			clear_bit(slot, per_cpu_ptr(&lull_routed_awaited, routed->cpu));
		routed->cpu = -1;
		routed->history = 0;
	}
	lull_route_keep_none();
}

static const char * const lull_routed_words[] = {
	[LULL_ROUTED_NONE] = "none",
	[LULL_ROUTED_WAKE] = "wake",
	[LULL_ROUTED_HOME] = "home",
};

static ssize_t routed_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", lull_routed_words[READ_ONCE(lull_routed_how)]);
}

static ssize_t routed_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	int how = sysfs_match_string(lull_routed_words, buf);

	if (how < 0)
		return how;
	/* Nobody decides meanwhile that an interrupt is to stay where it is. */
	scoped_guard(raw_spinlock_irqsave, &lull_routed_lock)
		WRITE_ONCE(lull_routed_how, how);
	if (how != LULL_ROUTED_HOME)
		lull_route_keep_none();

	return count;
}

static struct kobj_attribute routed_attr = __ATTR_RW(routed);

static ssize_t routed_stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct lull_routed *routed;
	ssize_t length = 0;
	int slot;

	guard(raw_spinlock_irqsave)(&lull_routed_lock);
	for (slot = 0; slot < LULL_ROUTES; slot++) {
		routed = &lull_routed[slot];
		/* A line that does not fit as a whole is left out. */
		if (routed->irq && length < PAGE_SIZE - LULL_ROUTED_LINE)
			length += sysfs_emit_at(buf, length,
						"irq %u seen %llu wanted %llu hits %llu vain %llu home %llu\n",
						routed->irq, routed->seen, routed->wanted,
						routed->hits, routed->vain, routed->home);
	}

	return length;
}

static struct kobj_attribute routed_stats_attr =
	__ATTR(routed_stats, 0400, routed_stats_show, NULL);

const struct attribute *const lull_routed_attrs[] = {
	&routed_attr.attr,
	&routed_stats_attr.attr,
	NULL
};

static int __init lull_routed_init(void)
{
	int slot;

	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_routed[slot].cpu = -1;
	return 0;
}
core_initcall(lull_routed_init);
