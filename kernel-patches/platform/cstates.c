// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Linux is told of the idle states, changed at run time:
 *
 *   /sys/kernel/lull/cstates
 *
 * Reading gives a line for each CPU and state: "cpu Cn exit_us residency_us".
 * Writing takes lines "cpulist Cn exit_us residency_us", all of them or, with
 * -EINVAL, none. As everywhere in cpuidle exit_us is what it takes to enter and
 * leave the state. The rules are those of the device tree: a residency is not
 * below the state's own exit_us, and above that of the state before it, whose
 * exit_us is not longer. They hold for the result of one write, so states whose
 * numbers overtake each other are changed by lines of one write. WFI keeps its
 * numbers.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "cstates.h"
#include "idle.h"
#include "lull.h"

/* What a platform file may say: entry and exit up to 1 s each, residency up to 10 s. */
#define LULL_MAX_EXIT_US	(2 * USEC_PER_SEC)
#define LULL_MAX_RESIDENCY_US	(10 * USEC_PER_SEC)

/* Nobody else changes these numbers once a driver is registered. */
static DEFINE_MUTEX(lull_cstates_lock);

static struct lull_cstate *lull_cstate_find(struct lull_cstates *cpu, unsigned int depth)
{
	int i;

	for (i = 1; i < cpu->count; i++)
		if (cpu->states[i].depth == depth)
			return &cpu->states[i];

	return NULL;
}

static int lull_cstates_change_line(struct lull_cstates *cpus, unsigned int count, char *line)
{
	unsigned int depth, exit_us, residency_us, cpu;
	struct lull_cstate *state;
	cpumask_var_t chosen;
	char *words[4];
	char *word;
	int error, n = 0;

	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (n == ARRAY_SIZE(words))
			return -EINVAL;
		words[n++] = word;
	}
	if (n != ARRAY_SIZE(words) || words[1][0] != 'C' ||
	    kstrtouint(words[1] + 1, 10, &depth) || kstrtouint(words[2], 10, &exit_us) ||
	    kstrtouint(words[3], 10, &residency_us))
		return -EINVAL;

	if (!zalloc_cpumask_var(&chosen, GFP_KERNEL))
		return -ENOMEM;

	error = -EINVAL;
	if (cpulist_parse(words[0], chosen) || cpumask_empty(chosen))
		goto out;
	for_each_cpu(cpu, chosen) {
		if (cpu >= count || !cpus[cpu].count ||
		    !cpumask_subset(cpus[cpu].sharers, chosen))
			goto out;
		state = lull_cstate_find(&cpus[cpu], depth);
		if (!state)
			goto out;
		state->exit_us = exit_us;
		state->residency_us = residency_us;
	}
	error = 0;
out:
	free_cpumask_var(chosen);
	return error;
}

static bool lull_cstates_valid(const struct lull_cstates *cpu)
{
	int i;

	for (i = 1; i < cpu->count; i++) {
		const struct lull_cstate *light = &cpu->states[i - 1], *deep = &cpu->states[i];

		if (deep->exit_us > LULL_MAX_EXIT_US ||
		    deep->residency_us > LULL_MAX_RESIDENCY_US ||
		    deep->residency_us < deep->exit_us ||
		    deep->residency_us <= light->residency_us ||
		    deep->exit_us < light->exit_us)
			return false;
	}

	return true;
}

/* Changes @cpus, which is worth nothing if this fails, and @text. */
VISIBLE_IF_KUNIT int lull_cstates_change(struct lull_cstates *cpus, unsigned int count,
					 char *text)
{
	bool changed = false;
	unsigned int cpu;
	char *line;
	int error;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		error = lull_cstates_change_line(cpus, count, line);
		if (error)
			return error;
		changed = true;
	}
	if (!changed)
		return -EINVAL;

	for (cpu = 0; cpu < count; cpu++)
		if (!lull_cstates_valid(&cpus[cpu]))
			return -EINVAL;

	return 0;
}

static struct cpuidle_driver *lull_cstates_driver(unsigned int cpu)
{
	return cpuidle_get_cpu_driver(per_cpu(cpuidle_devices, cpu));
}

static void lull_cstates_read(struct lull_cstates *cpu, const struct cpuidle_driver *driver)
{
	int i;

	cpu->sharers = driver->cpumask;
	cpu->count = driver->state_count;
	for (i = 0; i < cpu->count; i++) {
		const struct cpuidle_state *state = &driver->states[i];

		cpu->states[i].depth = lull_idle_depth(driver, i);
		cpu->states[i].exit_us = state->exit_latency;
		cpu->states[i].residency_us = state->target_residency;
	}
}

static void lull_cstates_apply(const struct lull_cstates *cpu, struct cpuidle_driver *driver)
{
	int i;

	for (i = 1; i < cpu->count; i++) {
		struct cpuidle_state *state = &driver->states[i];

		state->exit_latency = cpu->states[i].exit_us;
		state->exit_latency_ns = (s64)cpu->states[i].exit_us * NSEC_PER_USEC;
		state->target_residency = cpu->states[i].residency_us;
		state->target_residency_ns = (s64)cpu->states[i].residency_us * NSEC_PER_USEC;
	}
}

static ssize_t cstates_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct lull_cstates *cpu __free(kfree) = kzalloc(sizeof(*cpu), GFP_KERNEL);
	struct cpuidle_driver *driver;
	unsigned int number;
	ssize_t length = 0;
	int i;

	if (!cpu)
		return -ENOMEM;

	guard(mutex)(&lull_cstates_lock);
	for_each_possible_cpu(number) {
		driver = lull_cstates_driver(number);
		if (!driver)
			continue;
		lull_cstates_read(cpu, driver);
		for (i = 0; i < cpu->count; i++)
			length += sysfs_emit_at(buf, length, "%u C%u %u %u\n", number,
						cpu->states[i].depth, cpu->states[i].exit_us,
						cpu->states[i].residency_us);
	}

	return length;
}

static ssize_t cstates_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	struct lull_cstates *cpus __free(kfree) = kcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL);
	char *text __free(kfree) = kstrndup(buf, count, GFP_KERNEL);
	struct cpuidle_driver *driver;
	unsigned int cpu;
	int error;

	if (!cpus || !text)
		return -ENOMEM;

	guard(mutex)(&lull_cstates_lock);
	for_each_possible_cpu(cpu) {
		driver = lull_cstates_driver(cpu);
		if (driver)
			lull_cstates_read(&cpus[cpu], driver);
	}
	error = lull_cstates_change(cpus, nr_cpu_ids, text);
	if (error)
		return error;

	/* No CPU chooses or counts by numbers that are half changed. */
	cpuidle_pause_and_lock();
	/* RCU does not watch a CPU that still sleeps: it has to wake, then to have counted. */
	kick_all_cpus_sync();
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		if (cpus[cpu].count)
			lull_cstates_apply(&cpus[cpu], lull_cstates_driver(cpu));
	cpuidle_resume_and_unlock();

	return count;
}

struct kobj_attribute lull_cstates_attr = __ATTR_RW(cstates);
