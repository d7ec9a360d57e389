// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "quiescence_memory.h"
#include "quiescence_path.h"

#define MS	1000000ULL
#define LEAST	2000

static void lull_path_waits_when_nobody_can_run(struct kunit *test)
{
	struct lull_path path;
	bool evicted;
	int ui, net;

	lull_path_clear(&path);
	KUNIT_EXPECT_FALSE(test, lull_path_waits(&path));
	ui = lull_path_add(&path, &ui, true, &evicted);
	KUNIT_EXPECT_FALSE(test, lull_path_waits(&path));
	net = lull_path_add(&path, &net, true, &evicted);
	KUNIT_EXPECT_NE(test, ui, net);
	lull_path_set(&path, ui, false);
	KUNIT_EXPECT_FALSE(test, lull_path_waits(&path));
	lull_path_set(&path, net, false);
	KUNIT_EXPECT_TRUE(test, lull_path_waits(&path));
	/* Twice is once. */
	lull_path_set(&path, net, true);
	lull_path_set(&path, net, true);
	KUNIT_EXPECT_FALSE(test, lull_path_waits(&path));
	lull_path_set(&path, net, false);
	KUNIT_EXPECT_TRUE(test, lull_path_waits(&path));
}

static void lull_path_of_nobody_does_not_wait(struct kunit *test)
{
	struct lull_path path;
	bool evicted;
	int slot;

	lull_path_clear(&path);
	slot = lull_path_add(&path, &path, true, &evicted);
	lull_path_remove(&path, slot);
	KUNIT_EXPECT_EQ(test, path.active, 0);
	KUNIT_EXPECT_FALSE(test, lull_path_waits(&path));
	KUNIT_EXPECT_EQ(test, lull_path_find(&path, &path), -1);
}

static void lull_path_forgets_who_slept_longest(struct kunit *test)
{
	static char ids[LULL_PATH_MEMBERS + 1];
	struct lull_path path;
	unsigned int i;
	bool evicted;

	lull_path_clear(&path);
	for (i = 0; i < LULL_PATH_MEMBERS; i++) {
		KUNIT_EXPECT_EQ(test, lull_path_add(&path, &ids[i], i == 0, &evicted), i);
		KUNIT_EXPECT_FALSE(test, evicted);
	}
	/* The first runs; the second has just slept; so the third goes. */
	lull_path_set(&path, 1, true);
	lull_path_set(&path, 1, false);
	KUNIT_EXPECT_EQ(test, lull_path_add(&path, &ids[LULL_PATH_MEMBERS], false, &evicted), 2);
	KUNIT_EXPECT_TRUE(test, evicted);
	KUNIT_EXPECT_EQ(test, lull_path_find(&path, &ids[2]), -1);
	KUNIT_EXPECT_EQ(test, lull_path_find(&path, &ids[0]), 0);
	KUNIT_EXPECT_EQ(test, path.count, LULL_PATH_MEMBERS);
	KUNIT_EXPECT_EQ(test, path.active, 1);
}

/* A path without room, whose members all run or sleep. Returns them, and one who is not on it. */
static char *lull_path_fill(struct lull_path *path, bool active)
{
	static char ids[LULL_PATH_MEMBERS + 1];
	unsigned int i;
	bool evicted;

	lull_path_clear(path);
	for (i = 0; i < LULL_PATH_MEMBERS; i++)
		lull_path_add(path, &ids[i], active, &evicted);
	return ids;
}

static void lull_path_keeps_who_runs(struct kunit *test)
{
	struct lull_path path;
	char *ids = lull_path_fill(&path, true);
	bool evicted;

	KUNIT_EXPECT_EQ(test, lull_path_add(&path, &ids[LULL_PATH_MEMBERS], true, &evicted), -1);
	KUNIT_EXPECT_FALSE(test, evicted);
	KUNIT_EXPECT_EQ(test, path.active, LULL_PATH_MEMBERS);
}

static void lull_path_keeps_who_read_the_event(struct kunit *test)
{
	struct lull_path path;
	char *ids = lull_path_fill(&path, false);
	bool evicted;

	KUNIT_EXPECT_EQ(test, lull_path_add(&path, &ids[LULL_PATH_MEMBERS], false, &evicted), 1);
	KUNIT_EXPECT_TRUE(test, evicted);
	KUNIT_EXPECT_EQ(test, lull_path_find(&path, &ids[0]), 0);
}

static struct lull_memory *lull_memory_of(struct kunit *test)
{
	struct lull_memory *memory = kunit_kzalloc(test, sizeof(*memory), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

/* An action whose waits are 100 ms and 40 ms, with a short one in between. */
static void lull_memory_load(struct lull_memory *memory, u64 key)
{
	lull_memory_begin(memory, key);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 100000, LEAST, false);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 300, LEAST, false);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 40000, LEAST, false);
	/* The user thinks; the next key press ends that. */
	lull_memory_expect(memory);
	lull_memory_waited(memory, 5000000, LEAST, true);
}

static void lull_memory_knows_nothing_at_first(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), LULL_WAIT_UNKNOWN);
	lull_memory_begin(memory, 7);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), LULL_WAIT_UNKNOWN);
}

static void lull_memory_tells_the_waits_of_last_time(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	lull_memory_load(memory, 7);
	lull_memory_begin(memory, 7);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 100000);
	lull_memory_waited(memory, 100000, LEAST, false);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 40000);
	/* One that is too short does not count. */
	lull_memory_waited(memory, LEAST - 1, LEAST, false);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 40000);
	lull_memory_waited(memory, LEAST, LEAST, false);
	/* Then the user thought. */
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 0);
}

static void lull_memory_keeps_actions_apart(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	lull_memory_load(memory, 7);
	lull_memory_begin(memory, 8);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), LULL_WAIT_UNKNOWN);
	lull_memory_begin(memory, 7);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 100000);
	lull_memory_begin(memory, 8);
	/* It was done, and did not wait. */
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 0);
}

static void lull_memory_goes_half_way(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	lull_memory_load(memory, 7);
	lull_memory_begin(memory, 7);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 20000, LEAST, false);
	lull_memory_begin(memory, 7);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 60000);
	lull_memory_waited(memory, 60000, LEAST, false);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 0);
}

/* One action with one wait, which is known by how much it was wrong before. */
static u32 lull_memory_error_after(struct lull_memory *memory, u64 us)
{
	u32 error_us;

	lull_memory_begin(memory, 7);
	lull_memory_expect(memory);
	error_us = lull_memory_error(memory);
	lull_memory_waited(memory, us, LEAST, false);
	return error_us;
}

static void lull_memory_knows_its_error(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	/* Not done before; once; and then by half, from the mean as it was before. */
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 100000), LULL_ERROR_UNKNOWN);
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 104000), LULL_ERROR_UNKNOWN);
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 102000), 4000);
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 92000), 2000);
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 97000), (2000 + 10000) / 2);
	/* A second wait has an error of its own. */
	lull_memory_expect(memory);
	KUNIT_EXPECT_EQ(test, lull_memory_error(memory), LULL_ERROR_UNKNOWN);
	lull_memory_waited(memory, 5000, LEAST, false);
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 97000), 3000);
	lull_memory_expect(memory);
	KUNIT_EXPECT_EQ(test, lull_memory_error(memory), LULL_ERROR_UNKNOWN);
	/* Which is forgotten with the wait. */
	KUNIT_EXPECT_EQ(test, lull_memory_error_after(memory, 97000), 1500);
	lull_memory_expect(memory);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 0);
	KUNIT_EXPECT_EQ(test, lull_memory_error(memory), LULL_ERROR_UNKNOWN);
}

static void lull_memory_of_no_action_has_no_error(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lull_memory_error(lull_memory_of(test)), LULL_ERROR_UNKNOWN);
}

static void lull_wait_is_sure_up_to_an_eighth(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, lull_wait_is_sure(80000, 0));
	KUNIT_EXPECT_TRUE(test, lull_wait_is_sure(80000, 10000));
	KUNIT_EXPECT_FALSE(test, lull_wait_is_sure(80000, 10001));
	KUNIT_EXPECT_FALSE(test, lull_wait_is_sure(7, 1));
	KUNIT_EXPECT_TRUE(test, lull_wait_is_sure(0, 0));
	KUNIT_EXPECT_FALSE(test, lull_wait_is_sure(U32_MAX, LULL_ERROR_UNKNOWN));
	KUNIT_EXPECT_FALSE(test, lull_wait_is_sure(U64_MAX, LULL_ERROR_UNKNOWN));
}

static void lull_wait_is_foreseen_by_exit_and_error(struct kunit *test)
{
	struct lull_wait_window window;

	KUNIT_EXPECT_TRUE(test, lull_wait_foresee(100000, 2000, 900000, &window));
	KUNIT_EXPECT_EQ(test, window.start_ns, 97050000);
	KUNIT_EXPECT_EQ(test, window.end_ns, 102950000);
	/* Never empty. */
	KUNIT_EXPECT_TRUE(test, lull_wait_foresee(100000, 0, 0, &window));
	KUNIT_EXPECT_EQ(test, window.start_ns, 99950000);
	KUNIT_EXPECT_EQ(test, window.end_ns, 100050000);
	/* The CPU could not sleep before. */
	KUNIT_EXPECT_FALSE(test, lull_wait_foresee(1000, 100, 850000, &window));
	KUNIT_EXPECT_TRUE(test, lull_wait_foresee(1000, 100, 849999, &window));
	KUNIT_EXPECT_EQ(test, window.start_ns, 1);
	KUNIT_EXPECT_FALSE(test, lull_wait_foresee(0, 0, 0, &window));
	/* The longest wait that is remembered, and the greatest error. */
	KUNIT_EXPECT_TRUE(test, lull_wait_foresee(U32_MAX, U32_MAX / 8, U32_MAX, &window));
	KUNIT_EXPECT_EQ(test, window.start_ns + window.end_ns, 2 * 1000ULL * U32_MAX);
}

/* The key is released while the network is waited for, and read at once. */
static void lull_memory_leaves_out_the_user(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);

	lull_memory_begin(memory, 7);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 80000, LEAST, true);
	lull_memory_input(memory);
	lull_memory_expect(memory);
	lull_memory_waited(memory, 20000, LEAST, false);
	/* Something that is read later has ended no wait. */
	lull_memory_input(memory);
	lull_memory_begin(memory, 7);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 20000);
	/* A wait that does not count is not taken back either. */
	lull_memory_waited(memory, 20000, LEAST, false);
	lull_memory_waited(memory, 10, LEAST, true);
	lull_memory_input(memory);
	KUNIT_EXPECT_EQ(test, memory->now.count, 1);
}

static void lull_memory_forgets_the_oldest(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);
	u64 key;

	for (key = 1; key <= LULL_MEMORY_ACTIONS + 1; key++)
		lull_memory_load(memory, key);
	lull_memory_begin(memory, 2);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), 100000);
	lull_memory_begin(memory, 1);
	KUNIT_EXPECT_EQ(test, lull_memory_expect(memory), LULL_WAIT_UNKNOWN);
}

static void lull_memory_has_an_end(struct kunit *test)
{
	struct lull_memory *memory = lull_memory_of(test);
	unsigned int i;

	lull_memory_begin(memory, 7);
	for (i = 0; i < 3 * LULL_MEMORY_WAITS; i++) {
		lull_memory_expect(memory);
		lull_memory_waited(memory, 5000, LEAST, false);
	}
	KUNIT_EXPECT_EQ(test, memory->now.count, LULL_MEMORY_WAITS);
}

static void lull_budget_ends_a_hold(struct kunit *test)
{
	struct lull_budget budget = {};

	KUNIT_EXPECT_EQ(test, lull_budget_left(&budget, 1000 * MS, 200 * MS), 200 * MS);
	lull_budget_spend(&budget, 1100 * MS, 100 * MS);
	KUNIT_EXPECT_EQ(test, lull_budget_left(&budget, 1110 * MS, 200 * MS), 110 * MS);
	lull_budget_spend(&budget, 1220 * MS, 110 * MS);
	KUNIT_EXPECT_EQ(test, lull_budget_left(&budget, 1220 * MS, 200 * MS), 0);
	KUNIT_EXPECT_EQ(test, lull_budget_left(&budget, 5000 * MS, 200 * MS), 200 * MS);
	/* A bound that was made shorter meanwhile. */
	lull_budget_spend(&budget, 5100 * MS, 100 * MS);
	KUNIT_EXPECT_EQ(test, lull_budget_left(&budget, 5100 * MS, 10 * MS), 0);
}

/* However holds come, tasks run half of the time in the long run. */
static void lull_budget_leaves_half(struct kunit *test)
{
	struct lull_budget budget = {};
	u64 now = 1000 * MS, held = 0, left;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		left = lull_budget_left(&budget, now, 200 * MS);
		now += left;
		held += left;
		lull_budget_spend(&budget, now, left);
		now += (i % 7) * MS;
	}
	KUNIT_EXPECT_LE(test, held, (now - 1000 * MS) / 2 + 200 * MS);
}

static struct kunit_case lull_quiet_cases[] = {
	KUNIT_CASE(lull_path_waits_when_nobody_can_run),
	KUNIT_CASE(lull_path_of_nobody_does_not_wait),
	KUNIT_CASE(lull_path_forgets_who_slept_longest),
	KUNIT_CASE(lull_path_keeps_who_read_the_event),
	KUNIT_CASE(lull_path_keeps_who_runs),
	KUNIT_CASE(lull_memory_knows_nothing_at_first),
	KUNIT_CASE(lull_memory_tells_the_waits_of_last_time),
	KUNIT_CASE(lull_memory_keeps_actions_apart),
	KUNIT_CASE(lull_memory_goes_half_way),
	KUNIT_CASE(lull_memory_knows_its_error),
	KUNIT_CASE(lull_memory_of_no_action_has_no_error),
	KUNIT_CASE(lull_wait_is_sure_up_to_an_eighth),
	KUNIT_CASE(lull_wait_is_foreseen_by_exit_and_error),
	KUNIT_CASE(lull_memory_leaves_out_the_user),
	KUNIT_CASE(lull_memory_forgets_the_oldest),
	KUNIT_CASE(lull_memory_has_an_end),
	KUNIT_CASE(lull_budget_ends_a_hold),
	KUNIT_CASE(lull_budget_leaves_half),
	{}
};

static struct kunit_suite lull_quiet_suite = {
	.name = "lull-quiescence",
	.test_cases = lull_quiet_cases,
};

kunit_test_suite(lull_quiet_suite);
