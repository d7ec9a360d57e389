/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ROUTING_H
#define _LULL_ROUTING_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct cpuidle_driver;
struct irq_data;
struct irq_desc;

/* Event interrupts at most. */
#define LULL_ROUTES	BITS_PER_LONG

/* In the order of the names in /sys/kernel/lull/routing/policy. */
enum lull_route_policy {
	LULL_ROUTE_NONE,
	LULL_ROUTE_ASLEEP,
	LULL_ROUTE_ALWAYS,
};

/* Why an event interrupt goes where it goes; the trace point spells them. */
enum lull_route_reason {
	LULL_ROUTE_BY_NONE,		/* nothing is routed */
	LULL_ROUTE_BY_AWAKE,		/* the consumer is awake, or sleeps lightly */
	LULL_ROUTE_BY_SLEEP,		/* the consumer sleeps deeply enough */
	LULL_ROUTE_BY_ALWAYS,		/* the policy asks nobody */
	LULL_ROUTE_BY_OFFLINE,		/* there is no shadow CPU online */
	LULL_ROUTE_BY_WANTED,		/* the consumer sleeps, but is expected to want it */
};

#ifdef CONFIG_LULL_ROUTING

DECLARE_STATIC_KEY_FALSE(lull_routing_key);
DECLARE_STATIC_KEY_FALSE(lull_route_rest_key);

void lull_route_reprogrammed(struct irq_desc *desc);
int lull_route_set_consumer(unsigned int irq, int consumer);
int lull_route_sleeper(unsigned int irq, int *slot, bool *kept);
void lull_route_keep(int slot, bool keep);
void lull_route_keep_none(void);
s64 __lull_route_rest(unsigned int cpu);

/* genirq has programmed an interrupt's target; called under desc->lock. */
static inline void lull_irq_target_set(struct irq_desc *desc)
{
	if (static_branch_unlikely(&lull_routing_key))
		lull_route_reprogrammed(desc);
}

/* What a CPU, which is this one, may take to leave an idle state. */
static inline s64 lull_route_rest(unsigned int cpu, s64 latency_ns)
{
	if (static_branch_unlikely(&lull_route_rest_key))
		return min(latency_ns, __lull_route_rest(cpu));

	return latency_ns;
}

/* In kernel/irq, which alone may change what an interrupt is. */
void lull_irq_clear_resend(struct irq_data *data);

#else

static inline void lull_irq_target_set(struct irq_desc *desc)
{
}

static inline int lull_route_set_consumer(unsigned int irq, int consumer)
{
	return -EINVAL;
}

static inline s64 lull_route_rest(unsigned int cpu, s64 latency_ns)
{
	return latency_ns;
}

#endif /* CONFIG_LULL_ROUTING */

/* One line written to /sys/kernel/lull/routing/interrupts. */
struct lull_route_request {
	unsigned int number;
	bool is_hwirq;
	bool unmark;
	bool has_consumer;
	int consumer;			/* -1: the interrupt's own target */
};

#if IS_ENABLED(CONFIG_KUNIT)
int lull_route_owner(int consumer, int home, const struct cpumask *wish,
		     const struct cpumask *online);
int lull_route_target(enum lull_route_policy policy, unsigned int threshold, int owner,
		      unsigned int depth, bool keep, int shadow,
		      const struct cpumask *online, enum lull_route_reason *reason);
s64 lull_route_rest_of(const struct cpuidle_driver *drv, unsigned int depth);
int lull_route_parse(const char *text, struct lull_route_request *request);
#endif

#endif /* _LULL_ROUTING_H */
