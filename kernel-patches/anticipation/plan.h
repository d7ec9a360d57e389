/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of a CPU's plan: which windows lie ahead, and how deep to sleep until then. */
#ifndef _LULL_PLAN_H
#define _LULL_PLAN_H

#include <linux/types.h>

/* Windows in a plan. A bound for who has to look at all of them, the idle loop first. */
#define LULL_PLAN_MOST	64
/* Of these programs may have so many, and the rest is the kernel's. */
#define LULL_PLAN_PROGRAMS	48
/* As many as cpuidle has. */
#define LULL_PLAN_STATES	10

/**
 * struct lull_window - a time in which a CPU has to be ready
 * @start: when, in ns of CLOCK_MONOTONIC
 * @end: and until when; later than @start
 * @bound_ns: the longest exit latency that the CPU may have meanwhile
 */
struct lull_window {
	u64 start;
	u64 end;
	u32 bound_ns;
};

/**
 * struct lull_plan - the windows of a CPU
 * @count: how many
 * @windows: ordered by their start
 */
struct lull_plan {
	unsigned int count;
	struct lull_window *windows[LULL_PLAN_MOST];
};

/**
 * struct lull_outlook - what a plan says of a moment
 * @inside: whether the moment is in a window
 * @bound_ns: the least bound of the windows that it is in
 * @until: when the plan says something else. Inside: this bound ends or a lower
 * one begins. Outside: the next window starts, or U64_MAX
 * @next_bound_ns: the bound from @until on, of the windows that start then
 * @next_until: for how long that bound holds
 */
struct lull_outlook {
	bool inside;
	u32 bound_ns;
	u64 until;
	u32 next_bound_ns;
	u64 next_until;
};

/**
 * struct lull_plan_state - an idle state, to be chosen from
 * @usable: neither disabled nor longer in leaving than someone can bear
 * @exit_ns: what it takes to leave the state
 * @residency_ns: the least sleep that is worth it, with entry and exit
 */
struct lull_plan_state {
	bool usable;
	u64 exit_ns;
	u64 residency_ns;
};

int lull_plan_add(struct lull_plan *plan, struct lull_window *window);
bool lull_plan_remove(struct lull_plan *plan, const struct lull_window *window);
struct lull_window *lull_plan_over(const struct lull_plan *plan, u64 now);
void lull_plan_look(const struct lull_plan *plan, u64 now, struct lull_outlook *outlook);
int lull_plan_choose(const struct lull_plan_state *states, int count, u64 bound_ns, u64 timer_ns,
		     u64 free_ns);

/* Exit latencies that were seen last, of one CPU and state. */
#define LULL_LEARN_SAMPLES	8
/* As few are not believed. */
#define LULL_LEARN_LEAST	3

struct lull_learned {
	unsigned int count;
	u32 ns[LULL_LEARN_SAMPLES];
};

void lull_learn(struct lull_learned *learned, u64 ns);
u64 lull_learned_ns(const struct lull_learned *learned, u64 advertised_ns);

#endif /* _LULL_PLAN_H */
