/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_HOTPLUG_GOVERNOR_H
#define _LULL_HOTPLUG_GOVERNOR_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct kobject;

/**
 * struct lull_governor_cpu - what the governor knows of one CPU
 * @cpu: its number
 * @capacity: what it can do, as the scheduler counts it
 * @util: how much of that is used; 0 for one that is out
 * @running: tasks that run or wait there; 0 for one that is out
 */
struct lull_governor_cpu {
	unsigned int cpu;
	unsigned long capacity;
	unsigned long util;
	unsigned int running;
};

void lull_governor_choose(const struct lull_governor_cpu *cpus, unsigned int count,
			  unsigned int percent, unsigned int crowd, unsigned int peak,
			  struct cpumask *wish);
unsigned long lull_governor_decay(unsigned long util, u64 idle_ns);

void lull_governor_run(bool on);

/* In hotplug.c: the CPUs of @out are out, and no others. Errors as pseudo_cpu_down(). */
int lull_pseudo_set(const struct cpumask *out);
int lull_governor_create(struct kobject *parent);
void lull_governor_remove(void);

#endif /* _LULL_HOTPLUG_GOVERNOR_H */
