/* SPDX-License-Identifier: GPL-2.0-only */
/* WAEAS: what the scheduler asks. */
#ifndef _LULL_WAEAS_H
#define _LULL_WAEAS_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>

struct cgroup_subsys_state;
struct cpuidle_state;
struct rq;
struct sched_domain;
struct task_struct;

/* In the order of the words in /sys/kernel/lull/waeas/tracking. */
enum lull_waeas_tracking {
	LULL_WAEAS_PELT,
	LULL_WAEAS_WALT,
	LULL_WAEAS_BES,
};

/**
 * struct lull_waeas_settings - each part has its own switch
 * @tracking: an enum lull_waeas_tracking
 * @placement: EAS goes by it
 * @frequency: schedutil goes by it
 * @inherit: a new task begins with its parent's demand
 * @window_us: length of a window
 * @alpha: weight of the newest window, of LULL_WAEAS_ONE
 * @select: latency-sensitive tasks get the least CPU
 * @pack: others are packed
 * @pack_percent: up to so full
 * @pack_apart: not where a latency-sensitive task runs
 * @associate: tasks that wake each other go back
 * @balance: by cluster first
 */
struct lull_waeas_settings {
	unsigned int tracking;
	unsigned int placement;
	unsigned int frequency;
	unsigned int inherit;
	unsigned int window_us;
	unsigned int alpha;
	unsigned int select;
	unsigned int pack;
	unsigned int pack_percent;
	unsigned int pack_apart;
	unsigned int associate;
	unsigned int balance;
};

/**
 * struct lull_waeas_counts - decisions of a CPU
 * @selected: latency-sensitive tasks that were given a CPU
 * @packed: others that were
 * @returned: tasks that went back to where they were
 * @local: times that a cluster was balanced, and the machine was not over-utilised
 */
struct lull_waeas_counts {
	u64 selected;
	u64 packed;
	u64 returned;
	u64 local;
};

/* Of kernel/sched/fair.c. */
unsigned long cpu_util_cfs_boost(int cpu);

/* If lull_waeas_places(): what EAS expects of a task, and of a CPU where the task would be. */
unsigned long lull_waeas_task_util(struct task_struct *p);
unsigned long lull_waeas_cpu_util(int cpu, struct task_struct *p, int dst_cpu);

#ifdef CONFIG_LULL_WAEAS

/*
 * What is on, so that the rest costs nothing: windows, EAS by windows, one of the parts that choose
 * a CPU for who wakes, one of those parts by itself, and balance by cluster.
 */
DECLARE_STATIC_KEY_FALSE(lull_waeas_track_key);
DECLARE_STATIC_KEY_FALSE(lull_waeas_place_key);
DECLARE_STATIC_KEY_FALSE(lull_waeas_choose_key);
DECLARE_STATIC_KEY_FALSE(lull_waeas_associate_key);
DECLARE_STATIC_KEY_FALSE(lull_waeas_balance_key);
/* On for good once the system was on: until then a task has no load, and its child neither. */
DECLARE_STATIC_KEY_FALSE(lull_waeas_used_key);

extern struct lull_waeas_settings lull_waeas;
/* Counted up each time that windows are kept again: what was queued before is not counted. */
extern u32 lull_waeas_era;

void __lull_waeas_rescale(int cpu, unsigned long scale);
void __lull_waeas_ran(struct task_struct *p, u64 ns);
void __lull_waeas_enqueue(struct task_struct *p);
void __lull_waeas_dequeue(struct task_struct *p);
void __lull_waeas_migrate(struct task_struct *p, int cpu);
void __lull_waeas_detach(struct task_struct *p);
void __lull_waeas_attach(struct task_struct *p);
void __lull_waeas_fork(struct task_struct *p);
int __lull_waeas_select(struct task_struct *p, int prev);
void __lull_waeas_bound(struct task_struct *p, int wake_flags);
void __lull_waeas_sleeps(void);
bool __lull_waeas_local(int cpu);
bool __lull_waeas_balances(struct sched_domain *sd);
unsigned long __lull_waeas_freq_util(int cpu);

/* For waeas.c */
int lull_waeas_add_files(void);
void lull_waeas_forget_speeds(void);
void lull_waeas_sum(struct lull_waeas_counts *sum);
int lull_waeas_mark(pid_t pid, bool sensitive);

/* The frequency scale of a CPU is to change. Each of these is a nop while its part is off. */
static __always_inline void lull_waeas_rescale(int cpu, unsigned long scale)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_rescale(cpu, scale);
}

/* A task has run on this CPU for so long. */
static __always_inline void lull_waeas_ran(struct task_struct *p, u64 ns)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_ran(p, ns);
}

/* A task comes to the queue of its CPU. */
static __always_inline void lull_waeas_enqueue(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_enqueue(p);
}

/* A task leaves the queue of its CPU, to sleep or for another one. */
static __always_inline void lull_waeas_dequeue(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_dequeue(p);
}

/* A task that does not run goes to another CPU. */
static __always_inline void lull_waeas_migrate(struct task_struct *p, int cpu)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_migrate(p, cpu);
}

/* A task becomes one of another class, which no load is kept of. */
static __always_inline void lull_waeas_detach(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_detach(p);
}

/* A task comes back from another class, maybe on another CPU. */
static __always_inline void lull_waeas_attach(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_waeas_track_key))
		__lull_waeas_attach(p);
}

/* A task is born, with what its parent has. The parent may have been marked while all was off. */
static __always_inline void lull_waeas_fork(struct task_struct *p)
{
	p->waeas.sensitive = false;
	if (static_branch_unlikely(&lull_waeas_used_key))
		__lull_waeas_fork(p);
}

/* The CPU for a task that wakes, or -1 if upstream is to decide. */
static __always_inline int lull_waeas_select(struct task_struct *p, int prev)
{
	return static_branch_unlikely(&lull_waeas_choose_key) ? __lull_waeas_select(p, prev) : -1;
}

/* A task wakes for which no CPU is chosen. */
static __always_inline void lull_waeas_bound(struct task_struct *p, int wake_flags)
{
	if (static_branch_unlikely(&lull_waeas_associate_key))
		__lull_waeas_bound(p, wake_flags);
}

/* This CPU is about to enter an idle state, or has left one (NULL). */
static __always_inline void lull_waeas_sleeps(struct cpuidle_state *state)
{
	if (static_branch_unlikely(&lull_waeas_choose_key) && state)
		__lull_waeas_sleeps();
}

/* Whether it is a matter of its cluster alone that a CPU is over-utilised. */
static __always_inline bool lull_waeas_local(int cpu)
{
	return static_branch_unlikely(&lull_waeas_balance_key) && __lull_waeas_local(cpu);
}

/* Whether a domain is balanced although the machine is not over-utilised. */
static __always_inline bool lull_waeas_balances(struct sched_domain *sd)
{
	return static_branch_unlikely(&lull_waeas_balance_key) && __lull_waeas_balances(sd);
}

/* Whether EAS goes by windows. */
static __always_inline bool lull_waeas_places(void)
{
	return static_branch_unlikely(&lull_waeas_place_key);
}

/* What schedutil goes by. */
static __always_inline unsigned long lull_waeas_freq_util(int cpu)
{
	return static_branch_unlikely(&lull_waeas_track_key) ? __lull_waeas_freq_util(cpu) :
							       cpu_util_cfs_boost(cpu);
}

#else

static inline void lull_waeas_rescale(int cpu, unsigned long scale)
{
}

static inline void lull_waeas_ran(struct task_struct *p, u64 ns)
{
}

static inline void lull_waeas_enqueue(struct task_struct *p)
{
}

static inline void lull_waeas_dequeue(struct task_struct *p)
{
}

static inline void lull_waeas_migrate(struct task_struct *p, int cpu)
{
}

static inline void lull_waeas_detach(struct task_struct *p)
{
}

static inline void lull_waeas_attach(struct task_struct *p)
{
}

static inline void lull_waeas_fork(struct task_struct *p)
{
}

static inline int lull_waeas_select(struct task_struct *p, int prev)
{
	return -1;
}

static inline void lull_waeas_bound(struct task_struct *p, int wake_flags)
{
}

static inline void lull_waeas_sleeps(struct cpuidle_state *state)
{
}

static inline bool lull_waeas_local(int cpu)
{
	return false;
}

static inline bool lull_waeas_balances(struct sched_domain *sd)
{
	return false;
}

static inline bool lull_waeas_places(void)
{
	return false;
}

static inline unsigned long lull_waeas_freq_util(int cpu)
{
	return cpu_util_cfs_boost(cpu);
}

#endif

#endif /* _LULL_WAEAS_H */
