// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency scaling by gem5's energy controller, or on QEMU by a model of it.
 *
 * The device tree says it all: CPUs with one performance domain are a policy,
 * their operating points its frequencies. The controller's own tables must
 * agree, or there is no frequency scaling: energy is accounted by the former
 * and spent by the latter.
 *
 * Frequencies are the nominal ones of the device tree. gem5 rounds a clock's
 * period to whole picoseconds, which is at most 0.2 % up to 4 GHz.
 *
 * No change is made by itself: the controller starts at the fastest level and
 * the performance governor, the default, stays there. A gem5 checkpoint must
 * have no change under way, and each one ends a window of statistics.
 *
 * A governor that decides in the scheduler (schedutil) changes frequency right
 * there: a request is two register writes under a raw spinlock and needs no
 * waiting, because a later one replaces it. By default schedutil waits 1.5
 * latencies between requests, so it does not replace its own all the time.
 * Everybody else waits until the new frequency is there.
 */
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/dev_printk.h>
#include <linux/err.h>
#include <linux/iopoll.h>
#include <linux/mod_devicetable.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_opp.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "energy_ctrl.h"

/* A change that takes this much longer than it should never ends. */
#define LULL_CPUFREQ_PATIENCE_US	(100 * USEC_PER_MSEC)

/**
 * struct lull_cpufreq_domain - CPUs that change frequency together
 * @ctrl: who changes it
 * @id: the controller's name for the domain
 * @latency_ns: how long a change takes
 * @requested: the level last asked for
 * @count: number of operating points
 * @points: the operating points, fastest first
 * @table: the same for cpufreq, slowest first
 * @cpus: all CPUs of the domain, online or not
 */
struct lull_cpufreq_domain {
	struct energy_ctrl *ctrl;
	u32 id;
	u32 latency_ns;
	u32 requested;
	unsigned int count;
	struct energy_ctrl_point *points;
	struct cpufreq_frequency_table *table;
	struct cpumask cpus;
};

/* By CPU; one domain stands here once for each of its CPUs. */
static struct lull_cpufreq_domain *lull_cpufreq_domains[NR_CPUS];

static unsigned int lull_cpufreq_khz(const struct lull_cpufreq_domain *domain, u32 level)
{
	return domain->table[energy_ctrl_mirror(domain->count, level)].frequency;
}

static void lull_cpufreq_request(struct lull_cpufreq_domain *domain, u32 level)
{
	WRITE_ONCE(domain->requested, level);
	energy_ctrl_request(domain->ctrl, domain->id, level);
}

/* Until no change is under way: 0 and its level, or -ETIMEDOUT and the level that it stays at. */
static int lull_cpufreq_wait(const struct lull_cpufreq_domain *domain, u32 *level)
{
	unsigned long wait_us = domain->latency_ns / NSEC_PER_USEC + 1;

	return read_poll_timeout(energy_ctrl_level, *level, *level == READ_ONCE(domain->requested),
				 wait_us, wait_us + LULL_CPUFREQ_PATIENCE_US, false,
				 domain->ctrl, domain->id);
}

/* cpufreq keeps the answer, so it must not be one that is about to change. */
static unsigned int lull_cpufreq_get(unsigned int cpu)
{
	const struct lull_cpufreq_domain *domain = lull_cpufreq_domains[cpu];
	u32 level;

	lull_cpufreq_wait(domain, &level);

	return lull_cpufreq_khz(domain, level);
}

static int lull_cpufreq_target_index(struct cpufreq_policy *policy, unsigned int index)
{
	struct lull_cpufreq_domain *domain = policy->driver_data;
	u32 level;

	lull_cpufreq_request(domain, energy_ctrl_mirror(domain->count, index));

	return lull_cpufreq_wait(domain, &level);
}

static unsigned int lull_cpufreq_fast_switch(struct cpufreq_policy *policy, unsigned int khz)
{
	struct lull_cpufreq_domain *domain = policy->driver_data;
	u32 level = energy_ctrl_level_for(domain->points, domain->count, khz);

	lull_cpufreq_request(domain, level);

	return lull_cpufreq_khz(domain, level);
}

/* Also called when the first CPU of a domain comes back online. */
static int lull_cpufreq_init(struct cpufreq_policy *policy)
{
	struct lull_cpufreq_domain *domain = lull_cpufreq_domains[policy->cpu];

	cpumask_copy(policy->cpus, &domain->cpus);
	policy->driver_data = domain;
	policy->freq_table = domain->table;
	policy->cpuinfo.transition_latency = domain->latency_ns;
	policy->fast_switch_possible = true;
	policy->dvfs_possible_from_any_cpu = true;

	return 0;
}

static struct cpufreq_driver lull_cpufreq_driver = {
	.name = "lull-cpufreq",
	.flags = CPUFREQ_HAVE_GOVERNOR_PER_POLICY,
	.init = lull_cpufreq_init,
	.verify = cpufreq_generic_frequency_table_verify,
	.get = lull_cpufreq_get,
	.target_index = lull_cpufreq_target_index,
	.fast_switch = lull_cpufreq_fast_switch,
	.register_em = cpufreq_register_em_with_opp,
	.attr = cpufreq_generic_attr,
};

static void lull_cpufreq_forget(void *data)
{
	struct lull_cpufreq_domain *domain = data;
	unsigned int cpu;

	for_each_cpu(cpu, &domain->cpus)
		lull_cpufreq_domains[cpu] = NULL;
	dev_pm_opp_free_cpufreq_table(get_cpu_device(cpumask_first(&domain->cpus)), &domain->table);
	dev_pm_opp_of_cpumask_remove_table(&domain->cpus);
}

static int lull_cpufreq_read_points(struct device *dev, struct lull_cpufreq_domain *domain,
				    struct device *cpu_dev)
{
	int count = dev_pm_opp_get_opp_count(cpu_dev);
	struct dev_pm_opp *opp;
	unsigned long hz = 0;
	int index;

	if (count <= 0)
		return count ?: -ENODATA;

	domain->points = devm_kcalloc(dev, count, sizeof(*domain->points), GFP_KERNEL);
	if (!domain->points)
		return -ENOMEM;
	domain->count = count;

	for (index = 0; index < count; index++, hz++) {
		opp = dev_pm_opp_find_freq_ceil(cpu_dev, &hz);
		if (IS_ERR(opp))
			return PTR_ERR(opp);
		domain->points[energy_ctrl_mirror(count, index)] = (struct energy_ctrl_point) {
			.hz = hz,
			.uv = dev_pm_opp_get_voltage(opp),
		};
		dev_pm_opp_put(opp);
	}

	return 0;
}

/* The CPUs of a performance domain must be those that the operating points are shared by. */
static int lull_cpufreq_read_cpus(struct device *dev, struct lull_cpufreq_domain *domain,
				  struct device *cpu_dev)
{
	struct of_phandle_args args;
	struct cpumask sharing;
	int error;

	error = of_perf_domain_get_sharing_cpumask(cpu_dev->id, "performance-domains",
						   "#performance-domain-cells", &domain->cpus,
						   &args);
	if (error)
		return dev_err_probe(dev, error, "CPU %u has no performance domain\n", cpu_dev->id);
	of_node_put(args.np);
	if (args.np != dev->of_node || args.args_count != 1)
		return dev_err_probe(dev, -EINVAL, "CPU %u has its performance domain elsewhere\n",
				     cpu_dev->id);
	domain->id = args.args[0];

	cpumask_clear(&sharing);
	error = dev_pm_opp_of_get_sharing_cpus(cpu_dev, &sharing);
	if (error || !cpumask_equal(&sharing, &domain->cpus))
		return dev_err_probe(dev, error ?: -EINVAL,
				     "domain %u is CPUs %*pbl, but its OPP table is shared by %*pbl\n",
				     domain->id, cpumask_pr_args(&domain->cpus),
				     cpumask_pr_args(&sharing));

	return 0;
}

static int lull_cpufreq_add_domain(struct device *dev, struct energy_ctrl *ctrl, unsigned int cpu)
{
	struct device *cpu_dev = get_cpu_device(cpu);
	struct lull_cpufreq_domain *domain;
	int error;

	if (!cpu_dev)
		return -EPROBE_DEFER;

	domain = devm_kzalloc(dev, sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return -ENOMEM;
	domain->ctrl = ctrl;

	error = lull_cpufreq_read_cpus(dev, domain, cpu_dev);
	if (error)
		return error;

	error = dev_pm_opp_of_cpumask_add_table(&domain->cpus);
	if (error)
		return dev_err_probe(dev, error, "domain %u has no OPP table\n", domain->id);

	error = dev_pm_opp_init_cpufreq_table(cpu_dev, &domain->table);
	if (error) {
		dev_pm_opp_of_cpumask_remove_table(&domain->cpus);
		return dev_err_probe(dev, error, "domain %u has no frequencies\n", domain->id);
	}

	for_each_cpu(cpu, &domain->cpus)
		lull_cpufreq_domains[cpu] = domain;
	error = devm_add_action_or_reset(dev, lull_cpufreq_forget, domain);
	if (error)
		return error;

	domain->latency_ns = dev_pm_opp_get_max_clock_latency(cpu_dev);
	error = lull_cpufreq_read_points(dev, domain, cpu_dev);
	if (error || !ctrl->ops->describe)
		return error;

	return ctrl->ops->describe(ctrl, domain->id, domain->points, domain->count,
				   domain->latency_ns);
}

static int lull_cpufreq_check(struct energy_ctrl *ctrl, unsigned int domains)
{
	struct lull_cpufreq_domain *domain;
	unsigned int cpu;
	int error;

	error = energy_ctrl_check(ctrl, domains);
	for_each_possible_cpu(cpu) {
		domain = lull_cpufreq_domains[cpu];
		if (error)
			break;
		if (cpu != cpumask_first(&domain->cpus))
			continue;
		error = energy_ctrl_check_domain(ctrl, domain->id, domain->points, domain->count,
						 domain->latency_ns);
		if (!error)
			domain->requested = energy_ctrl_level(ctrl, domain->id);
	}

	return error;
}

static int lull_cpufreq_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	unsigned int cpu, domains = 0;
	struct energy_ctrl *ctrl;
	void __iomem *base;
	int error;

	if (device_is_compatible(dev, "gem5,energy-ctrl")) {
		base = devm_platform_ioremap_resource(pdev, 0);
		if (IS_ERR(base))
			return PTR_ERR(base);
		ctrl = energy_ctrl_gem5(dev, base);
	} else {
		ctrl = energy_ctrl_model(dev, num_possible_cpus());
	}
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);

	for_each_possible_cpu(cpu) {
		if (lull_cpufreq_domains[cpu])
			continue;
		error = lull_cpufreq_add_domain(dev, ctrl, cpu);
		if (error)
			return error;
		domains++;
	}

	error = lull_cpufreq_check(ctrl, domains);
	if (error)
		return error;

	return cpufreq_register_driver(&lull_cpufreq_driver);
}

static const struct of_device_id lull_cpufreq_match[] = {
	{ .compatible = "gem5,energy-ctrl" },
	{ .compatible = "lull,virtual-energy-ctrl" },
	{}
};

/* Nobody takes it away: there is no other driver to give the device to. */
static struct platform_driver lull_cpufreq_platform_driver = {
	.probe = lull_cpufreq_probe,
	.driver = {
		.name = "lull-cpufreq",
		.of_match_table = lull_cpufreq_match,
		.suppress_bind_attrs = true,
	},
};
builtin_platform_driver(lull_cpufreq_platform_driver);
