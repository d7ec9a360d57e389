// SPDX-License-Identifier: GPL-2.0-only
/*
 * C-states on QEMU, which has none: what hardware and firmware would take to
 * enter and leave a state is waited out on the counter, around a WFI.
 *
 * The states are nodes compatible "lull,idle-state" in cpu-idle-states. Where a
 * device tree has none (gem5's has PSCI's), this driver stays out of the way.
 *
 * Entry can be aborted until the WFI, as on hardware: an interrupt that is
 * pending ends it and the state counts as rejected. A cluster goes off when all
 * its CPUs have asked for it or are offline, and only the last one that asks
 * waits for that; the others, and all while one of them is up, have entered
 * core-off. The first CPU to wake brings the cluster back and waits for that.
 */
#define pr_fmt(fmt) "lull: idle: " fmt

#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/cpu_pm.h>
#include <linux/cpuidle.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>

#include <asm/arch_timer.h>
#include <asm/cpuidle.h>
#include <asm/sysreg.h>

#include "../../cpuidle/dt_idle_states.h"

/* How often entry looks for a pending interrupt. */
#define LULL_SLICES 8

enum lull_qemu_kind {
	LULL_RETENTION,
	LULL_CORE_OFF,
	LULL_CLUSTER_OFF,
};

/*
 * What a state takes, in ticks of the counter. Flush and refill are those of a
 * full cache, which it is after the CPU was active for as long as fill.
 */
struct lull_qemu_cost {
	u64 entry;
	u64 flush;
	u64 exit;
	u64 refill;
	u64 fill;
};

struct lull_qemu_actual {
	enum lull_qemu_kind kind;
	struct lull_qemu_cost cost;
	/* While another CPU keeps the cluster on; as @cost unless cluster-off. */
	struct lull_qemu_cost shared;
};

/* Set in lull_qemu_cluster.awake, which has come down to 0 before. */
#define LULL_CLUSTER_IS_OFF	BIT(16)

struct lull_qemu_cluster {
	/* Online CPUs that do not ask for off. */
	atomic_t awake;
};

struct lull_qemu_cpu {
	struct cpuidle_driver driver;
	struct lull_qemu_actual states[CPUIDLE_STATE_MAX];
	struct lull_qemu_cluster *cluster;
	/* When it last woke with an empty cache. */
	u64 woke;
	bool registered;
};

static DEFINE_PER_CPU(struct lull_qemu_cpu, lull_qemu_cpus);
static enum cpuhp_state lull_qemu_cpuhp;

static __always_inline u64 lull_counter(void)
{
	return __arch_counter_get_cntvct();
}

/*
 * About a microsecond. A look at the counter costs QEMU as much as hundreds of
 * ordinary instructions, and so does YIELD, which gives other CPUs their turn.
 */
static __always_inline void lull_pause(void)
{
	int i;

	for (i = 0; i < 256; i++)
		barrier();
	cpu_relax();
}

static __cpuidle void lull_wait(u64 ticks)
{
	u64 start = lull_counter();

	while (lull_counter() - start < ticks)
		lull_pause();
}

/* Interrupts are masked, and pending ones still show. */
static __always_inline bool lull_interrupt_pending(void)
{
	return read_sysreg(isr_el1);
}

static __cpuidle bool lull_wait_or_abort(u64 ticks)
{
	u64 start = lull_counter();
	int slice;

	for (slice = 1; slice <= LULL_SLICES; slice++) {
		if (lull_interrupt_pending())
			return false;
		while (lull_counter() - start < ticks * slice / LULL_SLICES)
			lull_pause();
	}

	return !lull_interrupt_pending();
}

/* Whether the caller is the last CPU of its cluster to ask for off. */
static __cpuidle bool lull_cluster_ask(struct lull_qemu_cluster *cluster)
{
	return raw_atomic_dec_return(&cluster->awake) == 0;
}

/* Unless another CPU has woken meanwhile. */
static __cpuidle void lull_cluster_off(struct lull_qemu_cluster *cluster)
{
	int awake = raw_atomic_read(&cluster->awake);

	if (!awake)
		raw_atomic_cmpxchg(&cluster->awake, awake, awake | LULL_CLUSTER_IS_OFF);
}

/* Whether the cluster was off. */
static __cpuidle bool lull_cluster_wake(struct lull_qemu_cluster *cluster)
{
	int old = raw_atomic_read(&cluster->awake);

	while (!raw_atomic_try_cmpxchg(&cluster->awake, &old, (old & ~LULL_CLUSTER_IS_OFF) + 1))
		;

	return old & LULL_CLUSTER_IS_OFF;
}

/* The share of a full cache's cost that is due after some time of activity. */
static __cpuidle u64 lull_due(u64 full, u64 active, u64 fill)
{
	return active < fill ? full * active / fill : full;
}

static __cpuidle bool lull_sleep(struct lull_qemu_cpu *cpu, const struct lull_qemu_actual *state)
{
	const struct lull_qemu_cost *cost = &state->cost;
	struct lull_qemu_cluster *cluster = NULL;
	u64 active = lull_counter() - cpu->woke;
	bool entered, off = false;

	if (state->kind == LULL_CLUSTER_OFF) {
		cluster = cpu->cluster;
		if (!lull_cluster_ask(cluster))
			cost = &state->shared;
	}

	entered = lull_wait_or_abort(cost->entry + lull_due(cost->flush, active, cost->fill));
	if (entered) {
		if (cluster && cost == &state->cost)
			lull_cluster_off(cluster);
		cpu_do_idle();
	}

	if (cluster) {
		off = lull_cluster_wake(cluster);
		cost = off ? &state->cost : &state->shared;
	}
	/* Another CPU may have turned the cluster off since this one has asked. */
	if (!entered && !off)
		return false;

	lull_wait(cost->exit + lull_due(cost->refill, active, cost->fill));
	if (state->kind != LULL_RETENTION)
		cpu->woke = lull_counter();
	return entered;
}

/* From here to the end RCU does not watch, and nobody instruments what hardware does. */
static __cpuidle bool lull_enter(struct lull_qemu_cpu *cpu, const struct lull_qemu_actual *state)
{
	bool entered;

	ct_cpuidle_enter();
	entered = lull_sleep(cpu, state);
	ct_cpuidle_exit();

	return entered;
}

static int lull_qemu_enter_state(struct cpuidle_device *dev, struct cpuidle_driver *drv,
				 int index)
{
	struct lull_qemu_cpu *cpu = this_cpu_ptr(&lull_qemu_cpus);
	const struct lull_qemu_actual *state = &cpu->states[index];
	bool entered;

	if (state->kind == LULL_RETENTION)
		return lull_enter(cpu, state) ? index : -1;

	if (cpu_pm_enter())
		return -1;
	entered = lull_enter(cpu, state);
	cpu_pm_exit();

	return entered ? index : -1;
}

static __cpuidle int lull_qemu_enter_wfi(struct cpuidle_device *dev,
					 struct cpuidle_driver *drv, int index)
{
	cpu_do_idle();
	return index;
}

static const struct of_device_id lull_qemu_match[] = {
	{ .compatible = "lull,idle-state", .data = lull_qemu_enter_state },
	{}
};

static int lull_qemu_read_ticks(const struct device_node *node, const char *property, u64 *ticks)
{
	u32 ns;

	if (of_property_read_u32(node, property, &ns)) {
		pr_err("%pOF: no %s\n", node, property);
		return -EINVAL;
	}
	*ticks = mul_u64_u32_div(ns, arch_timer_get_cntfrq(), NSEC_PER_SEC);
	return 0;
}

static int lull_qemu_read_state(const struct device_node *node, struct lull_qemu_actual *state)
{
	static const char * const kinds[] = {
		[LULL_RETENTION] = "retention",
		[LULL_CORE_OFF] = "core-off",
		[LULL_CLUSTER_OFF] = "cluster-off",
	};
	struct lull_qemu_cost *cost = &state->cost;
	const char *name;
	int kind;

	kind = of_property_read_string(node, "lull,kind", &name);
	if (!kind)
		kind = match_string(kinds, ARRAY_SIZE(kinds), name);
	if (kind < 0) {
		pr_err("%pOF: no lull,kind\n", node);
		return -EINVAL;
	}
	if (lull_qemu_read_ticks(node, "lull,entry-ns", &cost->entry) ||
	    lull_qemu_read_ticks(node, "lull,flush-ns", &cost->flush) ||
	    lull_qemu_read_ticks(node, "lull,exit-ns", &cost->exit) ||
	    lull_qemu_read_ticks(node, "lull,refill-ns", &cost->refill) ||
	    lull_qemu_read_ticks(node, "lull,fill-ns", &cost->fill))
		return -EINVAL;

	state->kind = kind;
	state->shared = *cost;
	return 0;
}

static int lull_qemu_read_states(struct lull_qemu_cpu *cpu, unsigned int number)
{
	struct device_node *cpu_node = of_cpu_device_node_get(number);
	struct device_node *state_node;
	int i, error = -ENODEV;

	for (i = 1; i < cpu->driver.state_count; i++) {
		state_node = of_get_cpu_state_node(cpu_node, i - 1);
		error = lull_qemu_read_state(state_node, &cpu->states[i]);
		of_node_put(state_node);
		if (error)
			break;
		if (cpu->states[i].kind == LULL_CLUSTER_OFF &&
		    cpu->states[i - 1].kind == LULL_CORE_OFF)
			cpu->states[i].shared = cpu->states[i - 1].cost;
	}
	of_node_put(cpu_node);

	return error;
}

static struct lull_qemu_cluster *lull_qemu_cluster(unsigned int number)
{
	unsigned int other;

	for_each_possible_cpu(other) {
		if (other == number)
			break;
		if (topology_physical_package_id(other) == topology_physical_package_id(number) &&
		    topology_cluster_id(other) == topology_cluster_id(number))
			return per_cpu_ptr(&lull_qemu_cpus, other)->cluster;
	}

	return kzalloc(sizeof(struct lull_qemu_cluster), GFP_KERNEL);
}

static int lull_qemu_init_cpu(unsigned int number)
{
	struct lull_qemu_cpu *cpu = per_cpu_ptr(&lull_qemu_cpus, number);
	struct cpuidle_driver *driver = &cpu->driver;
	int count;

	driver->name = "lull_idle";
	driver->owner = THIS_MODULE;
	driver->cpumask = (struct cpumask *)cpumask_of(number);

	driver->states[0].enter = lull_qemu_enter_wfi;
	driver->states[0].exit_latency = 1;
	driver->states[0].target_residency = 1;
	driver->states[0].power_usage = UINT_MAX;
	strscpy(driver->states[0].name, "WFI");
	strscpy(driver->states[0].desc, "ARM WFI");

	count = dt_init_idle_driver(driver, lull_qemu_match, 1);
	if (count <= 0)
		return count ? : -ENODEV;

	cpu->cluster = lull_qemu_cluster(number);
	if (!cpu->cluster)
		return -ENOMEM;

	return lull_qemu_read_states(cpu, number);
}

static int lull_qemu_starting(unsigned int number)
{
	lull_cluster_wake(per_cpu_ptr(&lull_qemu_cpus, number)->cluster);
	return 0;
}

static int lull_qemu_dying(unsigned int number)
{
	struct lull_qemu_cluster *cluster = per_cpu_ptr(&lull_qemu_cpus, number)->cluster;

	if (lull_cluster_ask(cluster))
		lull_cluster_off(cluster);
	return 0;
}

/* Clusters stay: the driver is given up only while the kernel starts, if ever. */
static void __init lull_qemu_unregister(void)
{
	unsigned int number;

	for_each_possible_cpu(number) {
		struct lull_qemu_cpu *cpu = per_cpu_ptr(&lull_qemu_cpus, number);

		if (cpu->registered)
			cpuidle_unregister(&cpu->driver);
		cpu->registered = false;
	}
	cpuhp_remove_state(lull_qemu_cpuhp);
}

static int __init lull_qemu_init(void)
{
	struct device_node *node = of_find_matching_node(NULL, lull_qemu_match);
	unsigned int number;
	int error;

	of_node_put(node);
	if (!node)
		return 0;

	for_each_possible_cpu(number) {
		error = lull_qemu_init_cpu(number);
		if (error) {
			pr_err("CPU %u: error %d\n", number, error);
			return error;
		}
	}

	/* The state of the PSCI driver, which has found no states of its own here. */
	lull_qemu_cpuhp = CPUHP_AP_CPU_PM_STARTING;
	error = cpuhp_setup_state(lull_qemu_cpuhp, "cpuidle/lull:online", lull_qemu_starting,
				  lull_qemu_dying);
	if (error) {
		pr_err("hotplug: error %d\n", error);
		return error;
	}

	for_each_possible_cpu(number) {
		struct lull_qemu_cpu *cpu = per_cpu_ptr(&lull_qemu_cpus, number);

		error = cpuidle_register(&cpu->driver, NULL);
		if (error) {
			lull_qemu_unregister();
			return error;
		}
		cpu->registered = true;
	}

	return 0;
}
device_initcall(lull_qemu_init);
