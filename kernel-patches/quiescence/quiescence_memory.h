/* SPDX-License-Identifier: GPL-2.0-only */
/* What is remembered: how long the waits of an action were, and how long tasks were held. */
#ifndef _LULL_QUIESCENCE_MEMORY_H
#define _LULL_QUIESCENCE_MEMORY_H

#include <linux/limits.h>
#include <linux/types.h>

#define LULL_MEMORY_ACTIONS	16
#define LULL_MEMORY_WAITS	16

/**
 * struct lull_action - an action of the user
 * @key: what was pressed where, and who read it; 0 if the place is free
 * @used: when it was done last, by the memory's clock
 * @times: how often it was done to its end
 * @count: waits that it had
 * @waits_us: how long they were
 * @errors_us: by how much these lengths were wrong the last times, on average; LULL_ERROR_UNKNOWN
 * of a wait that was there once
 */
struct lull_action {
	u64 key;
	u64 used;
	unsigned int times;
	unsigned int count;
	u32 waits_us[LULL_MEMORY_WAITS];
	u32 errors_us[LULL_MEMORY_WAITS];
};

/**
 * struct lull_memory - actions, and the one in progress
 * @actions: in no order
 * @now: the one in progress, with the waits so far; its key is 0 if there is none
 * @user: nothing was waited for since the last of them, which the user may have ended
 * @clock: counts actions
 */
struct lull_memory {
	struct lull_action actions[LULL_MEMORY_ACTIONS];
	struct lull_action now;
	bool user;
	u64 clock;
};

/* What is known of a wait before it begins. */
#define LULL_WAIT_UNKNOWN	-1
#define LULL_ERROR_UNKNOWN	U32_MAX

/* The end of a wait is foreseen if its length was wrong by at most this part of itself. */
#define LULL_WAIT_PART		8
/* On each side of the expected end; timers of programs may be so late (their slack). */
#define LULL_WAIT_MARGIN_NS	50000

/**
 * struct lull_wait_window - when a wait is expected to end
 * @start_ns: at the earliest, from the begin of the wait on
 * @end_ns: and at the latest
 */
struct lull_wait_window {
	u64 start_ns;
	u64 end_ns;
};

void lull_memory_clear(struct lull_memory *memory);
void lull_memory_begin(struct lull_memory *memory, u64 key);
s64 lull_memory_expect(struct lull_memory *memory);
void lull_memory_waited(struct lull_memory *memory, u64 us, unsigned int least_us, bool user);
void lull_memory_input(struct lull_memory *memory);
u32 lull_memory_error(struct lull_memory *memory);
bool lull_wait_is_sure(u64 us, u32 error_us);
bool lull_wait_foresee(u64 us, u32 error_us, u64 exit_ns, struct lull_wait_window *window);

/**
 * struct lull_budget - how much time tasks may be held
 * @used_ns: of the bound
 * @since: when that was so
 */
struct lull_budget {
	u64 used_ns;
	u64 since;
};

u64 lull_budget_left(struct lull_budget *budget, u64 now, u64 bound_ns);
void lull_budget_spend(struct lull_budget *budget, u64 now, u64 held_ns);

#endif /* _LULL_QUIESCENCE_MEMORY_H */
