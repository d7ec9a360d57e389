// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event interrupts go to the shadow CPU while the CPU that their events are
 * for, the consumer, sleeps deeply, and back when it is awake.
 *
 *   /sys/kernel/lull/routing/policy      none, shadow-when-asleep or always-shadow
 *   /sys/kernel/lull/routing/depth       the lightest state that counts as asleep
 *   /sys/kernel/lull/routing/shadow      the shadow CPU
 *   /sys/kernel/lull/routing/shadow_rest the deepest state of the shadow CPU while
 *                                        event interrupts may come to it
 *   /sys/kernel/lull/routing/interrupts  what is an event interrupt, and whose
 *   /sys/kernel/lull/routing/stats       what routing did and how long it took
 *
 * An interrupt is moved by its irq chip alone. The affinity that genirq and
 * /proc/irq/N/smp_affinity know stays what the user wished; only the effective
 * affinity follows. So the wish needs no second copy, and whatever makes genirq
 * program a target again (user space, CPU hotplug, request_irq()) calls
 * lull_route_reprogrammed() at its end, where that target is taken as the
 * interrupt's home and the route is settled anew.
 *
 * Locking. desc->lock of its interrupt protects a route and the interrupt's
 * target, and everybody who changes anything that a target depends on settles
 * the routes afterwards, so the last to hold the lock saw the last change. The
 * idle path looks at two words of its own CPU: @mine, a bit per route that the
 * CPU consumes, set by others, and @depth, which only it sets. All that others
 * may set is read again under desc->lock. lull_route_mutex serialises changes of
 * the configuration; it is never taken under cpu_hotplug_lock.
 *
 * Hotplug. Whoever reads cpu_online_mask here has interrupts off, and a CPU
 * leaves that mask only when all others have them off too and wait, so no
 * target goes away before desc->lock is released. After that genirq moves what
 * the dead CPU had.
 *
 * Anticipation. Who expects the next event of an interrupt to be wanted says so by
 * lull_route_keep(): then the consumer sleeps with the interrupt at home, and one
 * way out of sleep is enough.
 *
 * An interrupt that is pending when its target changes is not lost: it stays
 * pending in the distributor and is looked at again by lull_route_present().
 */
#define pr_fmt(fmt) "lull: routing: " fmt

#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_irq.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timex.h>
#include <trace/events/ipi.h>

#include <clocksource/arm_arch_timer.h>

#include "idle.h"
#include "lull.h"
#include "routing.h"

#define CREATE_TRACE_POINTS
#include "routing_trace.h"

#define LULL_DEPTH_MIN	1
#define LULL_DEPTH_MAX	4

/**
 * struct lull_route - one event interrupt
 * @irq: its number, or 0 if the slot is free
 * @domain: with @hwirq what the number meant when it was marked
 * @hwirq: see @domain
 * @consumer: the CPU that its events are for, or -1 for @home
 * @home: the CPU that genirq chose last; known while routing is on
 * @owner: the CPU in whose @mine the route is, or -1
 * @resends: routing made the interrupt one that is resent when it comes to a CPU
 * while another still handles it
 */
struct lull_route {
	unsigned int irq;
	const struct irq_domain *domain;
	irq_hw_number_t hwirq;
	int consumer;
	int home;
	int owner;
	bool resends;
};

struct lull_route_passes {
	u64 count;
	u64 ticks;
};

/**
 * struct lull_route_cpu - what the idle path needs to know
 * @mine: the routes whose consumer this CPU is, while its sleep matters
 * @depth: the state it sleeps in if deep enough to count, else 0
 * @slept: the @depth of the sleep that this CPU left last, 0 once it enters the next
 * @enter: falling asleep with routes to settle, and the time that took
 * @exit: likewise waking up
 * @moves: targets changed by this CPU
 * @failures: targets that the irq chip did not accept
 */
struct lull_route_cpu {
	unsigned long mine;
	unsigned int depth;
	unsigned int slept;
	struct lull_route_passes enter;
	struct lull_route_passes exit;
	u64 moves;
	u64 failures;
};

DEFINE_STATIC_KEY_FALSE(lull_routing_key);
DEFINE_STATIC_KEY_FALSE(lull_route_rest_key);

static DEFINE_MUTEX(lull_route_mutex);
static struct lull_route lull_routes[LULL_ROUTES];
static DEFINE_PER_CPU_SHARED_ALIGNED(struct lull_route_cpu, lull_route_cpus);

/* Written under the mutex, read anywhere. */
static bool lull_routing_on;
static enum lull_route_policy lull_routing_policy;
static unsigned int lull_routing_depth = 2;
static int lull_routing_shadow = -1;
static unsigned int lull_routing_rest = LULL_DEPTH_MAX;

/* A bit per route: its next event is expected to be wanted. */
static unsigned long lull_routes_kept;
/* A bit per route: its interrupt comes to the shadow, or will when its consumer sleeps. */
static unsigned long lull_routes_held;

static bool lull_route_watching;

static const char * const lull_route_policies[] = {
	[LULL_ROUTE_NONE] = "none",
	[LULL_ROUTE_ASLEEP] = "shadow-when-asleep",
	[LULL_ROUTE_ALWAYS] = "always-shadow",
};

/*
 * Whose events these are: the consumer, or the home of the interrupt, or, with
 * both offline, a CPU that the user allows, or any.
 */
VISIBLE_IF_KUNIT int lull_route_owner(int consumer, int home, const struct cpumask *wish,
				      const struct cpumask *online)
{
	unsigned int cpu;

	if (consumer >= 0 && cpumask_test_cpu(consumer, online))
		return consumer;
	if (home >= 0 && cpumask_test_cpu(home, online))
		return home;

	cpu = cpumask_first_and(wish, online);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(online);
}

VISIBLE_IF_KUNIT int lull_route_target(enum lull_route_policy policy, unsigned int threshold,
				       int owner, unsigned int depth, bool keep, int shadow,
				       const struct cpumask *online,
				       enum lull_route_reason *reason)
{
	if (policy == LULL_ROUTE_NONE) {
		*reason = LULL_ROUTE_BY_NONE;
		return owner;
	}
	if (shadow < 0 || !cpumask_test_cpu(shadow, online)) {
		*reason = LULL_ROUTE_BY_OFFLINE;
		return owner;
	}
	if (policy == LULL_ROUTE_ALWAYS) {
		*reason = LULL_ROUTE_BY_ALWAYS;
		return shadow;
	}
	if (depth < threshold) {
		*reason = LULL_ROUTE_BY_AWAKE;
		return owner;
	}
	if (keep) {
		*reason = LULL_ROUTE_BY_WANTED;
		return owner;
	}

	*reason = LULL_ROUTE_BY_SLEEP;
	return shadow;
}

static enum lull_route_policy lull_route_policy_now(void)
{
	return READ_ONCE(lull_routing_on) ? READ_ONCE(lull_routing_policy) : LULL_ROUTE_NONE;
}

/* Where the chip sends it, or -1 before it was ever programmed. */
static int lull_route_current(struct irq_data *data)
{
	unsigned int cpu = cpumask_first(irq_data_get_effective_affinity_mask(data));

	return cpu < nr_cpu_ids ? cpu : -1;
}

/* A number can be given to another interrupt after its own was unmapped. */
static bool lull_route_is(const struct lull_route *route, struct irq_desc *desc)
{
	struct irq_data *data = irq_desc_get_irq_data(desc);

	return route->irq == data->irq && route->domain == data->domain &&
	       route->hwirq == data->hwirq;
}

/*
 * A CPU that fell asleep with no route to care for did not say so, and one that
 * sleeps too lightly did not either. Interrupted, it comes by again.
 */
static void lull_route_kick(int cpu)
{
	if (cpu != smp_processor_id() && cpu_online(cpu))
		smp_send_reschedule(cpu);
}

static void lull_route_own(struct lull_route *route, int owner)
{
	unsigned int slot = route - lull_routes;

	if (route->owner == owner)
		return;

	if (route->owner >= 0)
		clear_bit(slot, &per_cpu_ptr(&lull_route_cpus, route->owner)->mine);
	route->owner = owner;
	if (owner < 0)
		return;

	set_bit(slot, &per_cpu_ptr(&lull_route_cpus, owner)->mine);
	/*
	 * Pairs with the barrier in lull_route_exit(): either that CPU sees the
	 * bit when it wakes, or we see it awake.
	 */
	smp_mb__after_atomic();
	lull_route_kick(owner);
}

/*
 * The architecture makes a controller look again at a pending interrupt whose
 * target or enable bit was written. gem5's does so only at the next change of
 * any interrupt's state, which may be long in coming when all CPUs sleep. So we
 * make such a change: what is pending is set pending again, and the handler
 * still runs once for the latch and the line. It would run in vain if the
 * interrupt were being handled already; hence the second question.
 */
static void lull_route_present(struct irq_data *data)
{
	struct irq_chip *chip = irq_data_get_irq_chip(data);
	bool pending, active;

	if (!chip->irq_get_irqchip_state || !chip->irq_set_irqchip_state ||
	    irqd_irq_masked(data))
		return;
	if (chip->irq_get_irqchip_state(data, IRQCHIP_STATE_PENDING, &pending) || !pending)
		return;
	if (chip->irq_get_irqchip_state(data, IRQCHIP_STATE_ACTIVE, &active) || active)
		return;

	chip->irq_set_irqchip_state(data, IRQCHIP_STATE_PENDING, true);
}

static bool lull_route_move(struct lull_route *route, struct irq_data *data, int target)
{
	struct irq_chip *chip = irq_data_get_irq_chip(data);
	int error;

	/* The next edge may arrive at the new target while the old one is busy. */
	if (!irqd_is_level_type(data) && !irqd_needs_resend_when_in_progress(data)) {
		irqd_set_resend_when_in_progress(data);
		route->resends = true;
	}

	error = chip->irq_set_affinity(data, cpumask_of(target), false);
	if (error < 0)
		return false;

	lull_route_present(data);
	return true;
}

/*
 * Who rests deeper than it may while it holds routes is told of the first of them.
 * The bit is set before the others are looked at: of two who set and clear at the
 * same time, the one who sets sees what is left.
 */
static void lull_route_hold(struct lull_route *route, bool held, int shadow)
{
	unsigned int slot = route - lull_routes;

	if (!held) {
		clear_bit(slot, &lull_routes_held);
		return;
	}
	if (test_and_set_bit(slot, &lull_routes_held))
		return;
	if (static_branch_unlikely(&lull_route_rest_key) &&
	    READ_ONCE(lull_routes_held) == BIT(slot))
		lull_route_kick(shadow);
}

/* Sends an interrupt where it belongs. */
static void lull_route_settle(struct lull_route *route, struct irq_desc *desc,
			      enum lull_route_policy policy)
{
	struct irq_data *data = irq_desc_get_irq_data(desc);
	int shadow = READ_ONCE(lull_routing_shadow);
	enum lull_route_reason reason;
	unsigned int depth;
	int owner, from, to;
	bool keep, held;

	lockdep_assert_held(&desc->lock);

	/* While routing is off nobody tells what genirq chose. */
	if (!static_branch_unlikely(&lull_routing_key))
		return;

	owner = lull_route_owner(policy == LULL_ROUTE_NONE ? -1 : READ_ONCE(route->consumer),
				 route->home, irq_data_get_affinity_mask(data), cpu_online_mask);
	lull_route_own(route, policy == LULL_ROUTE_ASLEEP && owner != shadow ? owner : -1);
	depth = READ_ONCE(per_cpu_ptr(&lull_route_cpus, owner)->depth);
	keep = test_bit(route - lull_routes, &lull_routes_kept);

	to = lull_route_target(policy, READ_ONCE(lull_routing_depth), owner, depth, keep, shadow,
			       cpu_online_mask, &reason);
	held = reason == LULL_ROUTE_BY_ALWAYS || reason == LULL_ROUTE_BY_SLEEP ||
	       (reason == LULL_ROUTE_BY_AWAKE && !keep && owner != shadow);
	lull_route_hold(route, held, shadow);
	from = lull_route_current(data);
	/* One that is not started gets a target, and comes here, when it is. */
	if (from == to || !irqd_is_started(data))
		return;

	if (lull_route_move(route, data, to)) {
		this_cpu_inc(lull_route_cpus.moves);
		trace_lull_route(data->irq, from, to, reason);
	} else {
		this_cpu_inc(lull_route_cpus.failures);
	}
}

/* What is done to a route with desc->lock held. */
typedef void (*lull_route_action)(struct lull_route *route, struct irq_desc *desc);

/* False if the interrupt does not exist. */
static __always_inline bool lull_route_locked(struct lull_route *route, unsigned int irq,
					      lull_route_action action)
{
	struct irq_desc *desc;
	unsigned long flags;

	/* A descriptor outlives its interrupt by a grace period. */
	rcu_read_lock();
	desc = irq_to_desc(irq);
	if (desc) {
		raw_spin_lock_irqsave(&desc->lock, flags);
		action(route, desc);
		raw_spin_unlock_irqrestore(&desc->lock, flags);
	}
	rcu_read_unlock();

	return desc;
}

static __always_inline void lull_route_settle_now(struct lull_route *route,
						  struct irq_desc *desc)
{
	if (lull_route_is(route, desc))
		lull_route_settle(route, desc, lull_route_policy_now());
}

static void lull_route_refresh(struct lull_route *route)
{
	lull_route_locked(route, READ_ONCE(route->irq), lull_route_settle_now);
}

static void lull_route_refresh_all(void)
{
	int slot;

	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_route_refresh(&lull_routes[slot]);
}

/* The slot is about to be another interrupt's, or nobody's. */
static void lull_route_forget(struct lull_route *route)
{
	lull_route_own(route, -1);
	lull_route_hold(route, false, -1);
	clear_bit(route - lull_routes, &lull_routes_kept);
}

static void lull_route_take(struct lull_route *route, struct irq_desc *desc)
{
	struct irq_data *data = irq_desc_get_irq_data(desc);

	if (!lull_route_is(route, desc)) {
		lull_route_forget(route);
		route->resends = false;
		route->domain = data->domain;
		route->hwirq = data->hwirq;
		route->home = lull_route_current(data);
		WRITE_ONCE(route->irq, data->irq);
	}
	lull_route_settle_now(route, desc);
}

static void lull_route_release(struct lull_route *route, struct irq_desc *desc)
{
	if (lull_route_is(route, desc))
		lull_route_settle(route, desc, LULL_ROUTE_NONE);
	lull_route_forget(route);
	WRITE_ONCE(route->irq, 0);
}

/* The slot may be free already, and the number another interrupt's. */
static void lull_route_restore(struct lull_route *route, struct irq_desc *desc)
{
	struct irq_data *data = irq_desc_get_irq_data(desc);

	if (data->domain == route->domain && data->hwirq == route->hwirq)
		lull_irq_clear_resend(data);
}

/* While routing is off, genirq's choice is where the interrupt is. */
static void lull_route_adopt(struct lull_route *route, struct irq_desc *desc)
{
	if (lull_route_is(route, desc))
		route->home = lull_route_current(irq_desc_get_irq_data(desc));
}

/**
 * lull_route_reprogrammed - genirq has given an interrupt a target
 * @desc: its descriptor, locked
 */
void lull_route_reprogrammed(struct irq_desc *desc)
{
	struct irq_data *data = irq_desc_get_irq_data(desc);
	struct lull_route *route;
	int slot;

	lockdep_assert_held(&desc->lock);

	for (slot = 0; slot < LULL_ROUTES; slot++) {
		route = &lull_routes[slot];
		if (READ_ONCE(route->irq) != data->irq || !lull_route_is(route, desc))
			continue;

		route->home = lull_route_current(data);
		lull_route_settle(route, desc, lull_route_policy_now());
		return;
	}
}

static void lull_route_pass(struct lull_route_cpu *this, struct lull_route_passes *passes)
{
	unsigned long mine = READ_ONCE(this->mine);
	u64 start = get_cycles();
	unsigned int slot;

	for_each_set_bit(slot, &mine, LULL_ROUTES)
		lull_route_refresh(&lull_routes[slot]);

	WRITE_ONCE(passes->count, passes->count + 1);
	WRITE_ONCE(passes->ticks, passes->ticks + get_cycles() - start);
}

/* A light sleep counts as awake, and nothing changes between the two. */
static void lull_route_enter(unsigned int cpu, unsigned int depth)
{
	struct lull_route_cpu *this = this_cpu_ptr(&lull_route_cpus);

	if (likely(!READ_ONCE(this->mine)))
		return;
	this->slept = 0;
	if (depth < READ_ONCE(lull_routing_depth))
		return;

	/* Whoever misses this store kicks us, or waits for desc->lock. */
	WRITE_ONCE(this->depth, depth);
	lull_route_pass(this, &this->enter);
}

static void lull_route_exit(unsigned int cpu, unsigned int depth)
{
	struct lull_route_cpu *this = this_cpu_ptr(&lull_route_cpus);

	if (likely(!READ_ONCE(this->depth)))
		return;

	this->slept = this->depth;
	WRITE_ONCE(this->depth, 0);
	/* Pairs with lull_route_own(). */
	smp_mb();
	lull_route_pass(this, &this->exit);
}

/* This CPU left a deep sleep, and has run nothing since. */
static bool lull_route_just_woke(void)
{
	return is_idle_task(current) && this_cpu_read(lull_route_cpus.slept);
}

/**
 * lull_route_sleeper - whose sleep an interrupt spares, or ends
 * @irq: the interrupt, which is being handled
 * @slot: is set to its place among event interrupts, below LULL_ROUTES
 * @kept: is set to whether it came to that CPU, by lull_route_keep()
 *
 * What is found may be over already; who asks must not depend on it.
 *
 * Return: the CPU that the interrupt's events are for, if that CPU sleeps deeply
 * and the interrupt is routed for that reason, or if it has ended that CPU's deep
 * sleep because it was kept; else -1.
 */
int lull_route_sleeper(unsigned int irq, int *slot, bool *kept)
{
	int owner;

	if (!static_branch_unlikely(&lull_routing_key))
		return -1;

	for (*slot = 0; *slot < LULL_ROUTES; (*slot)++) {
		if (READ_ONCE(lull_routes[*slot].irq) != irq)
			continue;

		owner = READ_ONCE(lull_routes[*slot].owner);
		if (owner < 0)
			return -1;
		*kept = owner == smp_processor_id();
		if (*kept)
			return test_bit(*slot, &lull_routes_kept) && lull_route_just_woke() ?
				       owner : -1;
		return READ_ONCE(per_cpu_ptr(&lull_route_cpus, owner)->depth) ? owner : -1;
	}

	return -1;
}

/**
 * lull_route_keep - leave an interrupt with its consumer, or no longer
 * @slot: its place among event interrupts, from lull_route_sleeper()
 * @keep: whether it stays there while the consumer sleeps
 *
 * It counts from the consumer's next sleep on.
 */
void lull_route_keep(int slot, bool keep)
{
	if (keep != test_bit(slot, &lull_routes_kept))
		assign_bit(slot, &lull_routes_kept, keep);
}

/**
 * lull_route_keep_none - leave no interrupt with its consumer
 *
 * It counts at once. Nobody may call lull_route_keep() meanwhile.
 */
void lull_route_keep_none(void)
{
	WRITE_ONCE(lull_routes_kept, 0);
	lull_route_refresh_all();
}

/* How long the deepest state takes to leave, of those that are not deeper than @depth. */
VISIBLE_IF_KUNIT s64 lull_route_rest_of(const struct cpuidle_driver *drv, unsigned int depth)
{
	int index = drv->state_count - 1;

	while (index > 0 && lull_idle_depth(drv, index) > depth)
		index--;

	return drv->states[index].exit_latency_ns;
}

/**
 * __lull_route_rest - how long a CPU may take to leave an idle state
 * @cpu: the CPU, which is this one
 *
 * Return: what the shadow may take while it holds routes; no bound for others.
 */
s64 __lull_route_rest(unsigned int cpu)
{
	struct cpuidle_driver *drv;

	if (cpu != READ_ONCE(lull_routing_shadow) || !READ_ONCE(lull_routes_held))
		return S64_MAX;
	drv = cpuidle_get_cpu_driver(__this_cpu_read(cpuidle_devices));

	return drv ? lull_route_rest_of(drv, READ_ONCE(lull_routing_rest)) : S64_MAX;
}

static struct lull_idle_watcher lull_route_watcher = {
	.enter = lull_route_enter,
	.exit = lull_route_exit,
};

/* Makes a change of the configuration true for every route. */
static void lull_route_apply(void)
{
	int cpu;

	lockdep_assert_held(&lull_route_mutex);

	lull_route_refresh_all();

	preempt_disable();
	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&lull_route_cpus, cpu)->mine))
			lull_route_kick(cpu);
	preempt_enable();
}

/* Likewise for how the shadow may rest, which it sees when it idles next. */
static void lull_route_apply_rest(void)
{
	bool bound = lull_routing_on && lull_routing_rest < LULL_DEPTH_MAX;

	lockdep_assert_held(&lull_route_mutex);

	if (bound)
		static_branch_enable(&lull_route_rest_key);
	else
		static_branch_disable(&lull_route_rest_key);

	preempt_disable();
	if (lull_routing_shadow >= 0)
		lull_route_kick(lull_routing_shadow);
	preempt_enable();
}

/* Likewise for what decides whether idle CPUs matter. On an error nothing was done. */
static int lull_route_apply_policy(void)
{
	bool watch = lull_route_policy_now() == LULL_ROUTE_ASLEEP;
	int cpu, error;

	if (watch && !lull_route_watching) {
		error = lull_idle_watch(&lull_route_watcher);
		if (error)
			return error;
		lull_route_watching = true;
	}

	lull_route_apply();

	if (!watch && lull_route_watching) {
		lull_idle_unwatch(&lull_route_watcher);
		lull_route_watching = false;
		/* CPUs asleep now wake unheard. */
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu_ptr(&lull_route_cpus, cpu)->depth, 0);
	}

	return 0;
}

static int lull_route_enable(struct lull_system *system)
{
	int slot, error;

	mutex_lock(&lull_route_mutex);

	/* First the hook, so that no change after adoption is missed. */
	static_branch_enable(&lull_routing_key);
	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_route_locked(&lull_routes[slot], lull_routes[slot].irq, lull_route_adopt);

	WRITE_ONCE(lull_routing_on, true);
	error = lull_route_apply_policy();
	if (error) {
		WRITE_ONCE(lull_routing_on, false);
		static_branch_disable(&lull_routing_key);
	}
	lull_route_apply_rest();

	mutex_unlock(&lull_route_mutex);
	return error;
}

/*
 * An interrupt that is home again is upstream's, in its flags too. It may still
 * be handled where it was last, and the next one may come home meanwhile.
 */
static void lull_route_give_back(struct lull_route *route, unsigned int irq)
{
	lockdep_assert_held(&lull_route_mutex);

	if (!route->resends)
		return;
	synchronize_irq(irq);
	lull_route_locked(route, irq, lull_route_restore);
	route->resends = false;
}

static int lull_route_disable(struct lull_system *system)
{
	int slot;

	mutex_lock(&lull_route_mutex);
	WRITE_ONCE(lull_routing_on, false);
	lull_route_apply_policy();
	lull_route_apply_rest();
	static_branch_disable(&lull_routing_key);
	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_route_give_back(&lull_routes[slot], lull_routes[slot].irq);
	mutex_unlock(&lull_route_mutex);

	return 0;
}

static struct lull_system lull_routing = {
	.name = "routing",
	.enable = lull_route_enable,
	.disable = lull_route_disable,
};

/* Under the lock: this sees the switch, or whoever turns it on sees the new CPU. */
static void lull_route_welcome(struct lull_route *route, struct irq_desc *desc)
{
	if (READ_ONCE(lull_routing_on))
		lull_route_settle_now(route, desc);
}

/* A CPU that came back may be a consumer, or the shadow. Its death is genirq's news. */
static int lull_route_cpu_online(unsigned int cpu)
{
	int slot;

	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_route_locked(&lull_routes[slot], READ_ONCE(lull_routes[slot].irq),
				  lull_route_welcome);

	return 0;
}

static struct lull_route *lull_route_find(unsigned int irq)
{
	int slot;

	lockdep_assert_held(&lull_route_mutex);

	for (slot = 0; slot < LULL_ROUTES; slot++)
		if (lull_routes[slot].irq == irq)
			return &lull_routes[slot];

	return NULL;
}

static bool lull_route_possible(unsigned int irq)
{
	struct irq_data *data;

	guard(rcu)();
	data = irq_get_irq_data(irq);

	return data && irq_can_set_affinity(irq) && !irqd_affinity_is_managed(data);
}

/* Marks an interrupt, or if it is marked already, only gives it the consumer. */
static int lull_route_mark(unsigned int irq, bool has_consumer, int consumer)
{
	struct lull_route *route;

	lockdep_assert_held(&lull_route_mutex);

	if (consumer >= 0 && (consumer >= nr_cpu_ids || !cpu_possible(consumer)))
		return -EINVAL;
	if (!lull_route_possible(irq))
		return -EINVAL;

	route = lull_route_find(irq) ?: lull_route_find(0);
	if (!route)
		return -ENOSPC;

	if (has_consumer || !route->irq)
		WRITE_ONCE(route->consumer, consumer);

	return lull_route_locked(route, irq, lull_route_take) ? 0 : -EINVAL;
}

static int lull_route_unmark(unsigned int irq)
{
	struct lull_route *route = irq ? lull_route_find(irq) : NULL;

	if (!route)
		return -EINVAL;

	if (!lull_route_locked(route, irq, lull_route_release)) {
		lull_route_forget(route);
		WRITE_ONCE(route->irq, 0);
	}
	lull_route_give_back(route, irq);
	return 0;
}

/**
 * lull_route_set_consumer - say which CPU an event interrupt's events are for
 * @irq: an interrupt that is marked
 * @consumer: the CPU, or -1 for the one that the interrupt's affinity chooses
 *
 * Context: process context.
 * Return: 0, or -EINVAL if there is no such CPU or the interrupt is not marked.
 */
int lull_route_set_consumer(unsigned int irq, int consumer)
{
	int error = -EINVAL;

	mutex_lock(&lull_route_mutex);
	if (irq && lull_route_find(irq))
		error = lull_route_mark(irq, true, consumer < 0 ? -1 : consumer);
	mutex_unlock(&lull_route_mutex);

	return error;
}

/* "[-]N [consumer=CPU|auto]" or "[-]hwirq:N [consumer=CPU|auto]" */
VISIBLE_IF_KUNIT int lull_route_parse(const char *text, struct lull_route_request *request)
{
	char line[64], *rest = line, *which, *option;
	unsigned int consumer;

	memset(request, 0, sizeof(*request));
	request->consumer = -1;

	if (strscpy(line, text, sizeof(line)) < 0)
		return -EINVAL;
	rest = strim(line);
	which = strsep(&rest, " ");
	option = rest ? skip_spaces(rest) : NULL;

	if (*which == '-') {
		request->unmark = true;
		which++;
	}
	if (str_has_prefix(which, "hwirq:")) {
		request->is_hwirq = true;
		which += strlen("hwirq:");
	}
	if (kstrtouint(which, 10, &request->number))
		return -EINVAL;
	if (!option)
		return 0;

	if (request->unmark || !str_has_prefix(option, "consumer="))
		return -EINVAL;
	request->has_consumer = true;
	option += strlen("consumer=");
	if (!strcmp(option, "auto"))
		return 0;
	if (kstrtouint(option, 10, &consumer) || consumer > INT_MAX)
		return -EINVAL;
	request->consumer = consumer;

	return 0;
}

/* The number that Linux gave to an interrupt of the GIC, or 0. */
static unsigned int lull_route_of_hwirq(irq_hw_number_t hwirq)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "arm,gic-v3");
	struct irq_domain *domain = node ? irq_find_host(node) : NULL;

	of_node_put(node);
	return domain ? irq_find_mapping(domain, hwirq) : 0;
}

static ssize_t policy_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", lull_route_policies[READ_ONCE(lull_routing_policy)]);
}

static ssize_t policy_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	int policy = sysfs_match_string(lull_route_policies, buf);
	enum lull_route_policy before;
	int error;

	if (policy < 0)
		return policy;

	mutex_lock(&lull_route_mutex);
	before = lull_routing_policy;
	error = -EINVAL;
	if (policy == LULL_ROUTE_NONE || lull_routing_shadow >= 0) {
		WRITE_ONCE(lull_routing_policy, policy);
		error = lull_route_apply_policy();
		if (error)
			WRITE_ONCE(lull_routing_policy, before);
	}
	mutex_unlock(&lull_route_mutex);

	return error ? error : count;
}

static struct kobj_attribute policy_attr = __ATTR_RW(policy);

static int lull_route_read_depth(const char *buf, unsigned int *depth)
{
	if (kstrtouint(buf + (*buf == 'C'), 10, depth) || *depth < LULL_DEPTH_MIN ||
	    *depth > LULL_DEPTH_MAX)
		return -EINVAL;

	return 0;
}

static ssize_t depth_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "C%u\n", READ_ONCE(lull_routing_depth));
}

static ssize_t depth_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	unsigned int depth;
	int error = lull_route_read_depth(buf, &depth);

	if (error)
		return error;

	mutex_lock(&lull_route_mutex);
	WRITE_ONCE(lull_routing_depth, depth);
	lull_route_apply();
	mutex_unlock(&lull_route_mutex);

	return count;
}

static struct kobj_attribute depth_attr = __ATTR_RW(depth);

static ssize_t shadow_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(lull_routing_shadow));
}

static ssize_t shadow_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned int cpu;

	if (kstrtouint(buf, 10, &cpu) || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;

	mutex_lock(&lull_route_mutex);
	WRITE_ONCE(lull_routing_shadow, cpu);
	lull_route_apply();
	lull_route_apply_rest();
	mutex_unlock(&lull_route_mutex);

	return count;
}

static struct kobj_attribute shadow_attr = __ATTR_RW(shadow);

static ssize_t shadow_rest_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "C%u\n", READ_ONCE(lull_routing_rest));
}

static ssize_t shadow_rest_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	unsigned int depth;
	int error = lull_route_read_depth(buf, &depth);

	if (error)
		return error;

	mutex_lock(&lull_route_mutex);
	WRITE_ONCE(lull_routing_rest, depth);
	lull_route_apply_rest();
	mutex_unlock(&lull_route_mutex);

	return count;
}

static struct kobj_attribute shadow_rest_attr = __ATTR_RW(shadow_rest);

static ssize_t interrupts_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_route *route;
	struct irq_data *data;
	ssize_t length;
	int slot;

	length = sysfs_emit(buf, "irq hwirq consumer cpu\n");

	mutex_lock(&lull_route_mutex);
	for (slot = 0; slot < LULL_ROUTES; slot++) {
		route = &lull_routes[slot];
		if (!route->irq)
			continue;

		length += sysfs_emit_at(buf, length, "%u %lu ", route->irq, route->hwirq);
		if (route->consumer < 0)
			length += sysfs_emit_at(buf, length, "auto ");
		else
			length += sysfs_emit_at(buf, length, "%d ", route->consumer);

		rcu_read_lock();
		data = irq_get_irq_data(route->irq);
		length += sysfs_emit_at(buf, length, "%d\n", data ? lull_route_current(data) : -1);
		rcu_read_unlock();
	}
	mutex_unlock(&lull_route_mutex);

	return length;
}

static ssize_t interrupts_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	struct lull_route_request request;
	unsigned int irq;
	int error;

	error = lull_route_parse(buf, &request);
	if (error)
		return error;
	irq = request.is_hwirq ? lull_route_of_hwirq(request.number) : request.number;

	mutex_lock(&lull_route_mutex);
	if (request.unmark)
		error = lull_route_unmark(irq);
	else
		error = lull_route_mark(irq, request.has_consumer, request.consumer);
	mutex_unlock(&lull_route_mutex);

	return error ? error : count;
}

static struct kobj_attribute interrupts_attr = __ATTR_RW(interrupts);

static u64 lull_route_ns(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, arch_timer_get_rate());
}

/* Since boot: a reader takes differences. */
static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_route_cpu sum = {};
	const struct lull_route_cpu *one;
	int cpu;

	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(&lull_route_cpus, cpu);
		sum.enter.count += READ_ONCE(one->enter.count);
		sum.enter.ticks += READ_ONCE(one->enter.ticks);
		sum.exit.count += READ_ONCE(one->exit.count);
		sum.exit.ticks += READ_ONCE(one->exit.ticks);
		sum.moves += READ_ONCE(one->moves);
		sum.failures += READ_ONCE(one->failures);
	}

	return sysfs_emit(buf,
			  "enter %llu ns %llu\n"
			  "exit %llu ns %llu\n"
			  "moves %llu failures %llu\n",
			  sum.enter.count, lull_route_ns(sum.enter.ticks),
			  sum.exit.count, lull_route_ns(sum.exit.ticks),
			  sum.moves, sum.failures);
}

/* An interrupt of a device may be a key: when they come is nobody else's business. */
static struct kobj_attribute stats_attr = __ATTR_RO_MODE(stats, 0400);

static const struct attribute *const lull_route_attrs[] = {
	&policy_attr.attr,
	&depth_attr.attr,
	&shadow_attr.attr,
	&shadow_rest_attr.attr,
	&interrupts_attr.attr,
	&stats_attr.attr,
	NULL
};

static void __init lull_route_find_shadow(void)
{
	struct device_node *node;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		node = of_get_cpu_node(cpu, NULL);
		if (of_property_read_bool(node, "lull,shadow"))
			lull_routing_shadow = cpu;
		of_node_put(node);
	}
}

static void __init lull_route_mark_from_tree(void)
{
	struct device_node *node;
	int index, irq, error;

	mutex_lock(&lull_route_mutex);
	for_each_node_with_property(node, "lull,event-interrupt") {
		if (!of_device_is_available(node))
			continue;
		for (index = 0; (irq = of_irq_get(node, index)) > 0; index++) {
			error = lull_route_mark(irq, false, -1);
			if (error)
				pr_warn("%pOF: interrupt %d cannot be routed (%d)\n", node, index,
					error);
		}
	}
	mutex_unlock(&lull_route_mutex);
}

/* Late, when drivers have mapped their interrupts. */
static int __init lull_route_init(void)
{
	int slot, state, error;

	for (slot = 0; slot < LULL_ROUTES; slot++)
		lull_routes[slot].owner = -1;

	lull_route_find_shadow();
	lull_route_mark_from_tree();

	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "lull/routing:online",
					  lull_route_cpu_online, NULL);
	if (state < 0)
		return state;

	error = lull_register_system(&lull_routing);
	if (error)
		goto remove_state;
	error = sysfs_create_files(lull_routing.kobj, lull_route_attrs);
	if (!error)
		return 0;

	lull_unregister_system(&lull_routing);
remove_state:
	cpuhp_remove_state_nocalls(state);
	return error;
}
late_initcall(lull_route_init);
