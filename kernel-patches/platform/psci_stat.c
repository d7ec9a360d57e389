// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the firmware has counted of each idle state, read by root:
 *
 *   /sys/kernel/debug/lull/psci_stat    cpu state suspend-param residency_us count
 *
 * A line for each CPU and each state of its that goes through the firmware. PSCI counts a state
 * of a whole cluster for the cluster, so its line is the same on all CPUs of the cluster, and
 * the time that a CPU of it was off is in the line of the state that turns off the core. No
 * file where the firmware keeps no statistics, as on QEMU.
 */
#define pr_fmt(fmt) "lull: " fmt

#include <linux/arm-smccc.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/of.h>
#include <linux/printk.h>
#include <linux/psci.h>
#include <linux/seq_file.h>
#include <uapi/linux/psci.h>

#include <asm/cputype.h>
#include <asm/smp_plat.h>

#include "lull.h"

static unsigned long psci_stat_ask(u32 function, unsigned long first, unsigned long second)
{
	struct arm_smccc_res result;

	arm_smccc_1_1_invoke(function, first, second, 0, &result);

	return result.a0;
}

static void psci_stat_show_state(struct seq_file *file, int cpu, struct device_node *state)
{
	const char *name;
	u64 mpidr = cpu_logical_map(cpu) & MPIDR_HWID_BITMASK;
	u32 param;

	if (of_property_read_u32(state, "arm,psci-suspend-param", &param))
		return;
	if (of_property_read_string(state, "idle-state-name", &name))
		name = state->name;

	seq_printf(file, "%d %s %#x %lu %lu\n", cpu, name, param,
		   psci_stat_ask(PSCI_1_0_FN64_STAT_RESIDENCY, mpidr, param),
		   psci_stat_ask(PSCI_1_0_FN64_STAT_COUNT, mpidr, param));
}

static int psci_stat_show(struct seq_file *file, void *unused)
{
	struct device_node *cpu_node, *state;
	int cpu, index;

	for_each_possible_cpu(cpu) {
		cpu_node = of_get_cpu_node(cpu, NULL);
		if (!cpu_node)
			continue;
		for (index = 0; (state = of_get_cpu_state_node(cpu_node, index)); index++) {
			psci_stat_show_state(file, cpu, state);
			of_node_put(state);
		}
		of_node_put(cpu_node);
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(psci_stat);

static bool __init psci_stat_is_there(void)
{
	if (arm_smccc_1_1_get_conduit() == SMCCC_CONDUIT_NONE)
		return false;

	return (s32)psci_stat_ask(PSCI_1_0_FN_PSCI_FEATURES, PSCI_1_0_FN64_STAT_RESIDENCY, 0) >= 0;
}

static int __init psci_stat_init(void)
{
	if (!psci_stat_is_there()) {
		pr_info("the firmware keeps no statistics of idle states\n");
		return 0;
	}

	debugfs_create_file("psci_stat", 0400, lull_debugfs, NULL, &psci_stat_fops);
	return 0;
}
late_initcall(psci_stat_init);
