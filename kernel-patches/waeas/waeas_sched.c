// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's part of WAEAS. kernel/sched/fair.c includes this file, because
 * run queues and utilisations are known only there.
 *
 * Where the paper's algorithms cannot be meant as printed:
 *
 *   Algorithm 1 begins with null and takes a CPU whose capacity is at most null, so
 *   that no CPU is ever taken. Here the first that suffices is taken. It asks for
 *   less capacity and a lighter state, both, so that the order of CPUs decides. Here
 *   capacity comes first and the state breaks a tie, as the text says.
 *
 *   Algorithm 2 remembers the fullest CPU in temp_maximum_utilization and compares
 *   with temp_utilization, which stays 0, so that the last CPU is taken. Here the
 *   two are one.
 *
 * Whatever finds no CPU leaves the question to upstream.
 */
#include "waeas.h"
#include "waeas_task.h"

#ifdef CONFIG_LULL_WAEAS

DEFINE_STATIC_KEY_FALSE(lull_waeas_track_key);
DEFINE_STATIC_KEY_FALSE(lull_waeas_place_key);
DEFINE_STATIC_KEY_FALSE(lull_waeas_choose_key);
DEFINE_STATIC_KEY_FALSE(lull_waeas_associate_key);
DEFINE_STATIC_KEY_FALSE(lull_waeas_balance_key);
DEFINE_STATIC_KEY_FALSE(lull_waeas_used_key);

u32 lull_waeas_era;

struct lull_waeas_settings lull_waeas = {
	.tracking = LULL_WAEAS_BES,
	.placement = 1,
	.frequency = 1,
	.window_us = 20000,
	.alpha = LULL_WAEAS_ONE / 2,
	.select = 1,
	.pack = 1,
	.pack_percent = 80,
	.associate = 1,
	.balance = 1,
};

/**
 * struct lull_waeas_cpu - a CPU's load
 * @lock: protects @speeds, and @load against others that change it; readers of @load take none, and
 * may see one that is half rolled
 * @load: the work of its tasks, which a task that moves takes along
 * @speeds: how fast it was before
 * @queued: the demands of its queued tasks, together; its rq->lock protects this and @era
 * @era: the lull_waeas_era that @queued is of
 */
struct lull_waeas_cpu {
	raw_spinlock_t lock;
	struct lull_waeas_load load;
	struct lull_waeas_speeds speeds;
	u32 queued;
	u32 era;
};

static DEFINE_PER_CPU(struct lull_waeas_cpu, lull_waeas_cpus) = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(lull_waeas_cpus.lock),
};

static DEFINE_PER_CPU(struct lull_waeas_counts, lull_waeas_counts);

/* When a CPU entered its idle state the last time. */
static DEFINE_PER_CPU(u64, lull_waeas_slept_since);

static u64 lull_waeas_window_ns(void)
{
	return READ_ONCE(lull_waeas.window_us) * (u64)NSEC_PER_USEC;
}

static u64 lull_waeas_now(void)
{
	return sched_clock_cpu(raw_smp_processor_id());
}

/* For lull_waeas_predict(): 0 is the mean of WALT. */
static unsigned int lull_waeas_weight(void)
{
	return READ_ONCE(lull_waeas.tracking) == LULL_WAEAS_BES ? READ_ONCE(lull_waeas.alpha) : 0;
}

/* What @p counts for among the queued tasks of a CPU. */
static void lull_waeas_count(struct lull_waeas_cpu *here, struct task_struct *p, u32 demand)
{
	WRITE_ONCE(here->queued, here->queued - p->waeas.queued + demand);
	p->waeas.queued = demand;
}

/**
 * __lull_waeas_enqueue - a task comes to the queue of its CPU
 * @p: the task
 *
 * WALT calls the sum of these demands cumulative_runnable_avg. It tells of tasks that have not run
 * yet. Each task remembers what it was counted for, so that the sum stays right.
 */
void __lull_waeas_enqueue(struct task_struct *p)
{
	struct lull_waeas_cpu *here = per_cpu_ptr(&lull_waeas_cpus, task_cpu(p));
	u32 era = READ_ONCE(lull_waeas_era);

	lockdep_assert_rq_held(task_rq(p));

	if (p->waeas.era == era)
		return;
	if (here->era != era) {
		WRITE_ONCE(here->queued, 0);
		WRITE_ONCE(here->era, era);
	}
	p->waeas.era = era;
	p->waeas.queued = 0;
	lull_waeas_count(here, p, lull_waeas_task_util(p));
}

/**
 * __lull_waeas_dequeue - a task leaves the queue of its CPU
 * @p: the task
 *
 * It may have left it already, if its dequeue was delayed.
 */
void __lull_waeas_dequeue(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));

	if (p->waeas.era != READ_ONCE(lull_waeas_era))
		return;
	lull_waeas_count(per_cpu_ptr(&lull_waeas_cpus, task_cpu(p)), p, 0);
	p->waeas.era = 0;
}

/* How fast a CPU is, of LULL_WAEAS_ONE. */
static unsigned int lull_waeas_speed(int cpu)
{
	return arch_scale_cpu_capacity(cpu) * arch_scale_freq_capacity(cpu) >> SCHED_CAPACITY_SHIFT;
}

/**
 * __lull_waeas_rescale - the frequency scale of a CPU is to change
 * @cpu: the CPU, with the scale that it has had until now; it need not be this one
 * @scale: the scale that it gets next
 */
void __lull_waeas_rescale(int cpu, unsigned long scale)
{
	struct lull_waeas_cpu *there = per_cpu_ptr(&lull_waeas_cpus, cpu);

	if (scale == arch_scale_freq_capacity(cpu))
		return;
	/* schedutil comes with interrupts off, and a thread that changes a frequency does not. */
	guard(raw_spinlock_irqsave)(&there->lock);
	lull_waeas_change(&there->speeds, sched_clock_cpu(cpu), lull_waeas_speed(cpu));
}

/**
 * lull_waeas_forget_speeds - windows are kept again
 *
 * While they were not, changes of speed were not remembered.
 */
void lull_waeas_forget_speeds(void)
{
	struct lull_waeas_cpu *there;
	int cpu;

	for_each_possible_cpu(cpu) {
		there = per_cpu_ptr(&lull_waeas_cpus, cpu);
		guard(raw_spinlock_irqsave)(&there->lock);
		there->speeds.count = 0;
	}
}

void __lull_waeas_ran(struct task_struct *p, u64 ns)
{
	struct rq *rq = task_rq(p);
	struct lull_waeas_cpu *here = per_cpu_ptr(&lull_waeas_cpus, cpu_of(rq));
	u64 window = lull_waeas_window_ns(), now = rq_clock(rq), number;
	unsigned int speed;

	lockdep_assert_rq_held(rq);

	/* What other classes take, upstream adds to a load, and takes off a capacity. */
	if (p->sched_class != &fair_sched_class)
		return;
	number = p->waeas.load.number;
	scoped_guard(raw_spinlock, &here->lock) {
		/* With the lock held, so that a new speed comes with its change. */
		speed = lull_waeas_speed(cpu_of(rq));
		lull_waeas_add_changing(&p->waeas.load, &here->speeds, now - ns, now, window, speed,
					false);
		lull_waeas_add_changing(&here->load, &here->speeds, now - ns, now, window, speed,
					true);
	}
	/* Another window, another demand. */
	if (number != p->waeas.load.number && p->waeas.era == READ_ONCE(lull_waeas_era))
		lull_waeas_count(here, p, lull_waeas_task_util(p));
}

/**
 * __lull_waeas_migrate - a task goes to another CPU
 * @p: the task; it does not run, and interrupts are off
 * @cpu: where it goes
 *
 * The work that @p did in the windows that a CPU remembers goes along. WALT does so for the last
 * window and the one in progress, as it remembers no others of a CPU.
 */
void __lull_waeas_migrate(struct task_struct *p, int cpu)
{
	struct lull_waeas_cpu *from = per_cpu_ptr(&lull_waeas_cpus, task_cpu(p));
	struct lull_waeas_cpu *to = per_cpu_ptr(&lull_waeas_cpus, cpu);
	u64 window = lull_waeas_window_ns(), now = lull_waeas_now();

	lockdep_assert_irqs_disabled();
	scoped_guard(raw_spinlock, &from->lock)
		lull_waeas_leave(&from->load, &p->waeas.load, now, window);
	scoped_guard(raw_spinlock, &to->lock)
		lull_waeas_join(&to->load, &p->waeas.load, now, window);
}

/**
 * __lull_waeas_detach - a task becomes one of another class
 * @p: the task
 *
 * From now on nobody tells of its moves. So its work leaves its CPU, as by PELT.
 */
void __lull_waeas_detach(struct task_struct *p)
{
	struct lull_waeas_cpu *here = per_cpu_ptr(&lull_waeas_cpus, task_cpu(p));

	lockdep_assert_rq_held(task_rq(p));
	guard(raw_spinlock)(&here->lock);
	lull_waeas_leave(&here->load, &p->waeas.load, lull_waeas_now(), lull_waeas_window_ns());
}

/**
 * __lull_waeas_attach - a task comes back from another class
 * @p: the task
 */
void __lull_waeas_attach(struct task_struct *p)
{
	struct lull_waeas_cpu *here = per_cpu_ptr(&lull_waeas_cpus, task_cpu(p));

	lockdep_assert_rq_held(task_rq(p));
	guard(raw_spinlock)(&here->lock);
	lull_waeas_join(&here->load, &p->waeas.load, lull_waeas_now(), lull_waeas_window_ns());
}

void __lull_waeas_fork(struct task_struct *p)
{
	p->waeas = (struct lull_waeas_task){};
	if (static_branch_unlikely(&lull_waeas_track_key) && READ_ONCE(lull_waeas.inherit))
		lull_waeas_begin(&p->waeas.load, lull_waeas_task_util(current), lull_waeas_now(),
				 lull_waeas_window_ns());
}

/**
 * lull_waeas_task_util - what a task is expected to need
 * @p: the task
 *
 * In place of task_util_est(), of which only PELT knows.
 */
unsigned long lull_waeas_task_util(struct task_struct *p)
{
	/* The task may be counted on another CPU meanwhile. */
	return data_race(lull_waeas_predict(&p->waeas.load, lull_waeas_now(),
					    lull_waeas_window_ns(), lull_waeas_weight(), false));
}

/*
 * What the queued tasks of a CPU are expected to need, without a task. It is one of them if it
 * executes a new program, and none of them if it wakes.
 */
static unsigned long lull_waeas_queued(int cpu, struct task_struct *without)
{
	struct lull_waeas_cpu *there = per_cpu_ptr(&lull_waeas_cpus, cpu);
	u32 era = READ_ONCE(lull_waeas_era), queued;

	if (READ_ONCE(there->era) != era)
		return 0;
	queued = READ_ONCE(there->queued);
	if (!without || task_cpu(without) != cpu)
		return queued;
	/* It may be counted anew meanwhile. */
	if (data_race(without->waeas.era) == era)
		/* Likewise. */
		queued -= min(queued, data_race(without->waeas.queued));

	return queued;
}

/*
 * What a CPU is expected to be asked for, without what a task did there and is to do: as much as it
 * worked, or as its queued tasks need. This may be more than the CPU can give.
 */
static unsigned long lull_waeas_asked(int cpu, struct task_struct *without)
{
	u64 window = lull_waeas_window_ns(), now = lull_waeas_now();
	struct lull_waeas_load load, own;

	/* And so may a CPU be. */
	load = data_race(per_cpu_ptr(&lull_waeas_cpus, cpu)->load);
	if (without && task_cpu(without) == cpu) {
		/* As above. */
		own = data_race(without->waeas.load);
		lull_waeas_leave(&load, &own, now, window);
	}

	return max(lull_waeas_predict(&load, now, window, lull_waeas_weight(), true),
		   lull_waeas_queued(cpu, without));
}

/**
 * lull_waeas_cpu_util - what a CPU is expected to be asked for
 * @cpu: the CPU
 * @p: a task that is to be placed, or NULL
 * @dst_cpu: where @p is to be; -1 if that is nowhere
 *
 * In place of cpu_util().
 */
unsigned long lull_waeas_cpu_util(int cpu, struct task_struct *p, int dst_cpu)
{
	unsigned long util = lull_waeas_asked(cpu, p);

	if (p && dst_cpu == cpu)
		util += lull_waeas_task_util(p);

	return min(util, arch_scale_cpu_capacity(cpu));
}

/* EAS may go by windows while schedutil goes by PELT, and the other way round. */
unsigned long __lull_waeas_freq_util(int cpu)
{
	return READ_ONCE(lull_waeas.frequency) ? lull_waeas_cpu_util(cpu, NULL, -1) :
						 __cpu_util(cpu, NULL, -1, 1);
}

static bool lull_waeas_usable(struct task_struct *p, int cpu)
{
	return cpumask_test_cpu(cpu, p->cpus_ptr) && cpu_active(cpu) && !lull_pseudo_offline(cpu);
}

static bool lull_waeas_fits(struct task_struct *p, unsigned long util, int cpu)
{
	return util_fits_cpu(util, uclamp_eff_value(p, UCLAMP_MIN), uclamp_eff_value(p, UCLAMP_MAX),
			     cpu) > 0;
}

static bool lull_waeas_is_sensitive(struct task_struct *p)
{
	return READ_ONCE(p->waeas.sensitive) || READ_ONCE(task_group(p)->latency_sensitive);
}

/* rq->idle_stamp is of when the last task left. An interrupt that wakes nobody leaves it alone. */
void __lull_waeas_sleeps(void)
{
	WRITE_ONCE(*this_cpu_ptr(&lull_waeas_slept_since), lull_waeas_now());
}

/* What speaks for and against waking an idle CPU. */
static struct lull_waeas_idle lull_waeas_idle_of(int cpu)
{
	struct cpuidle_state *state = idle_get_state(cpu_rq(cpu));
	struct lull_waeas_idle idle = {
		.cpu = cpu,
		.capacity = arch_scale_cpu_capacity(cpu),
	};
	s64 slept;

	if (!state)
		return idle;
	idle.exit_ns = state->exit_latency_ns;
	slept = sched_clock_cpu(cpu) - READ_ONCE(per_cpu(lull_waeas_slept_since, cpu));
	if (slept < state->target_residency_ns)
		idle.left_ns = state->target_residency_ns - slept;
	return idle;
}

/* Algorithm 1: the least idle CPU that suffices, in the lightest state. */
static int lull_waeas_light(struct task_struct *p, int prev, const struct cpumask *span)
{
	struct lull_waeas_idle idle, best = { .cpu = -1 };
	unsigned long demand = task_util_est(p);
	int cpu;

	for_each_cpu_and(cpu, span, p->cpus_ptr) {
		if (!lull_waeas_usable(p, cpu) || !available_idle_cpu(cpu) ||
		    !lull_waeas_fits(p, demand, cpu))
			continue;

		idle = lull_waeas_idle_of(cpu);
		if (lull_waeas_is_better(&idle, &best, prev))
			best = idle;
	}

	return best.cpu;
}

static unsigned long lull_waeas_least(const struct cpumask *span)
{
	unsigned long least = ULONG_MAX;
	int cpu;

	for_each_cpu(cpu, span)
		least = min(least, arch_scale_cpu_capacity(cpu));

	return least;
}

/*
 * Whether packing may bring a CPU to @util. How full that is, pack_percent says, and not the margin
 * of util_fits_cpu(). But a task whose uclamp.min asks for more than the CPU has does not fit.
 */
static bool lull_waeas_has_room(struct task_struct *p, unsigned long util, int cpu)
{
	return util * 100 < capacity_of(cpu) * READ_ONCE(lull_waeas.pack_percent) &&
	       lull_waeas_fits(p, 0, cpu);
}

/*
 * Whether packing leaves a CPU out, because a task that a user waits for runs there. A task that
 * exits meanwhile is freed only after the caller has left RCU.
 */
static bool lull_waeas_stays_off(int cpu)
{
	/* The task may change its group meanwhile. */
	return READ_ONCE(lull_waeas.pack_apart) &&
	       data_race(lull_waeas_is_sensitive(rcu_dereference(cpu_rq(cpu)->curr)));
}

/* Algorithm 2: the fullest little CPU at work that has room. */
static int lull_waeas_pack(struct task_struct *p, const struct cpumask *span)
{
	unsigned long demand = task_util_est(p), little = lull_waeas_least(span);
	unsigned long util, fullest = 0;
	int cpu, best = -1;

	for_each_cpu_and(cpu, span, p->cpus_ptr) {
		if (arch_scale_cpu_capacity(cpu) != little || !lull_waeas_usable(p, cpu) ||
		    idle_cpu(cpu) || lull_waeas_stays_off(cpu))
			continue;

		util = cpu_util(cpu, p, -1, 0) + demand;
		if (!lull_waeas_has_room(p, util, cpu))
			continue;
		if (best < 0 || util > fullest) {
			fullest = util;
			best = cpu;
		}
	}

	return best;
}

/* Current wakes @p, where it is now: that is where it comes back to if @p wakes it. */
static void lull_waeas_wakes(struct task_struct *p)
{
	if (in_task() && !is_idle_task(current))
		lull_waeas_remember(current->waeas.partners, p->pid, smp_processor_id(), jiffies);
}

/**
 * __lull_waeas_bound - a task wakes that may run on one CPU only, so that none is chosen
 * @p: the task, its pi_lock held
 * @wake_flags: WF_TTWU if it wakes
 *
 * Its waker may be woken by it all the same. Kernel threads of a CPU are no partners: there are so
 * many that others would be forgotten.
 */
void __lull_waeas_bound(struct task_struct *p, int wake_flags)
{
	lockdep_assert_held(&p->pi_lock);

	if (wake_flags & WF_TTWU && p->sched_class == &fair_sched_class &&
	    !(p->flags & PF_KTHREAD))
		lull_waeas_wakes(p);
}

/* Where @p was when it woke current the last time, if it did so and that CPU is idle. */
static int lull_waeas_return(struct task_struct *p)
{
	int cpu = lull_waeas_recall(p->waeas.partners, current->pid, jiffies);

	return cpu >= 0 && lull_waeas_usable(p, cpu) && available_idle_cpu(cpu) &&
	       lull_waeas_fits(p, task_util_est(p), cpu) ? cpu : -1;
}

/**
 * __lull_waeas_select - choose a CPU for a task that wakes
 * @p: the task, its pi_lock held
 * @prev: where it was
 *
 * Return: the CPU, or -1 if none of the algorithms has an answer.
 */
int __lull_waeas_select(struct task_struct *p, int prev)
{
	struct lull_waeas_counts *counts = this_cpu_ptr(&lull_waeas_counts);
	const struct cpumask *span = this_rq()->rd->span;
	int cpu = -1;

	lockdep_assert_held(&p->pi_lock);
	/* For idle_get_state(). */
	guard(rcu)();

	if (static_branch_unlikely(&lull_waeas_associate_key))
		lull_waeas_wakes(p);
	/* By PELT, cpu_util() takes the task off a CPU whose load has decayed while it slept. */
	sync_entity_load_avg(&p->se);

	/* Then CPUs are not chosen by energy. */
	if (is_rd_overutilized(this_rq()->rd)) {
		if (READ_ONCE(lull_waeas.associate) && in_task() && !is_idle_task(current))
			cpu = lull_waeas_return(p);
		counts->returned += cpu >= 0;
	} else if (lull_waeas_is_sensitive(p)) {
		if (READ_ONCE(lull_waeas.select))
			cpu = lull_waeas_light(p, prev, span);
		counts->selected += cpu >= 0;
	} else {
		if (READ_ONCE(lull_waeas.pack))
			cpu = lull_waeas_pack(p, span);
		counts->packed += cpu >= 0;
	}

	return cpu;
}

/**
 * __lull_waeas_local - whether a cluster can help itself
 * @cpu: one of its CPUs, which is over-utilised
 *
 * Return: false if the machine has to be balanced: a task does not fit on the CPU, or the tasks of
 * the cluster need more than it has, less the margin by which a CPU is over-utilised.
 */
bool __lull_waeas_local(int cpu)
{
	struct sched_domain *sd;
	unsigned long demand = 0, capacity = 0;
	int i;

	/* It is balanced by nobody: what runs there may run nowhere else. */
	if (lull_pseudo_offline(cpu))
		return true;
	if (READ_ONCE(cpu_rq(cpu)->misfit_task_load))
		return false;

	guard(rcu)();
	sd = rcu_dereference(per_cpu(sd_llc, cpu));
	if (!sd)
		return false;
	for_each_cpu(i, sched_domain_span(sd)) {
		/* What is too much for one CPU counts whole, as others may have room for it. */
		demand += lull_waeas_places() ? lull_waeas_asked(i, NULL) : cpu_util_cfs(i);
		/* A CPU that is out takes nothing. */
		if (!lull_pseudo_offline(i))
			capacity += capacity_of(i);
	}

	return fits_capacity(demand, capacity);
}

/**
 * __lull_waeas_balances - whether a domain is balanced by itself
 * @sd: the domain
 *
 * Return: true if the domain is a cluster, or a part of one, and a CPU of it is
 * over-utilised.
 */
bool __lull_waeas_balances(struct sched_domain *sd)
{
	int cpu;

	if (!(sd->flags & SD_SHARE_LLC))
		return false;

	for_each_cpu(cpu, sched_domain_span(sd)) {
		if (!cpu_overutilized(cpu))
			continue;
		this_cpu_inc(lull_waeas_counts.local);
		return true;
	}

	return false;
}

void lull_waeas_sum(struct lull_waeas_counts *sum)
{
	struct lull_waeas_counts one;
	int cpu;

	for_each_possible_cpu(cpu) {
		/* Counters of CPUs that go on counting. */
		one = data_race(*per_cpu_ptr(&lull_waeas_counts, cpu));
		sum->selected += one.selected;
		sum->packed += one.packed;
		sum->returned += one.returned;
		sum->local += one.local;
	}
}

int lull_waeas_mark(pid_t pid, bool sensitive)
{
	struct task_struct *p;

	guard(rcu)();
	p = find_task_by_vpid(pid);
	if (!p)
		return -ESRCH;
	WRITE_ONCE(p->waeas.sensitive, sensitive);
	return 0;
}

static struct task_group *lull_waeas_tg(struct cgroup_subsys_state *css)
{
	return container_of(css, struct task_group, css);
}

static u64 latency_sensitive_read(struct cgroup_subsys_state *css, struct cftype *file)
{
	return READ_ONCE(lull_waeas_tg(css)->latency_sensitive);
}

static int latency_sensitive_write(struct cgroup_subsys_state *css, struct cftype *file, u64 value)
{
	if (value > 1)
		return -EINVAL;
	WRITE_ONCE(lull_waeas_tg(css)->latency_sensitive, value);
	return 0;
}

static struct cftype lull_waeas_files[] = {
	{
		.name = "uclamp.latency_sensitive",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = latency_sensitive_read,
		.write_u64 = latency_sensitive_write,
	},
	{ }
};

int lull_waeas_add_files(void)
{
	return cgroup_add_dfl_cftypes(&cpu_cgrp_subsys, lull_waeas_files);
}

#endif /* CONFIG_LULL_WAEAS */
