// SPDX-License-Identifier: BSD-3-Clause
/* What the counts and the trace points say of an action, whose course is known. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "path.h"
#include "report.h"
#include "shared.h"
#include "system.h"
#include "trace_line.h"

#define INSTANCE "/sys/kernel/tracing/instances/lull-quiescence/"
#define BOUND_MS "55"
#define BOUND_NS 55000000LL

struct counts {
	unsigned long actions, joined, waits, unknown, brief, holds, refused;
};

static struct counts counts_now(void)
{
	return (struct counts){
		.actions = stat_of("actions"),
		.joined = stat_of("joined"),
		.waits = stat_of("waits"),
		.unknown = stat_of("unknown"),
		.brief = stat_of("brief"),
		.holds = stat_of("holds"),
		.refused = stat_of("refused"),
	};
}

/* The consumer asks the network; each waits once, and then the consumer for the next key. */
static void count_actions(void)
{
	struct counts before, first, second;

	restart("all", "200", "2000");
	before = counts_now();
	do_all(CHAIN);
	first = counts_now();
	do_all(CHAIN);
	second = counts_now();
	check(first.actions == before.actions + 1 && second.actions == first.actions + 1,
	      "each key that is read is an action");
	check(first.joined >= before.joined + 2 && second.joined >= first.joined + 2,
	      "the consumer and the network join in each");
	check(first.waits >= before.waits + 2 && second.waits >= first.waits + 2,
	      "the path waits for the network, and then for the user");
	check(first.unknown == before.unknown + first.waits - before.waits &&
		      first.brief == before.brief && first.holds == before.holds,
	      "the first time all waits are unknown");
	check(second.unknown == first.unknown && second.brief > first.brief,
	      "the second time none is, and that for the user is brief");
	check(second.waits - first.waits >= second.brief - first.brief + second.holds -
						    first.holds + second.refused - first.refused,
	      "no wait is counted for two reasons");
}

/* After a hold of 55 ms, which is all that is allowed, it takes 50 ms until another may begin. */
static void count_refusals(void)
{
	struct counts before, after;

	restart("all", BOUND_MS, "50000");
	do_all(CHAIN);
	before = after = counts_now();
	for (int i = 0; i < 20 && after.refused == before.refused; i++) {
		do_all(CHAIN);
		after = counts_now();
	}
	check(after.holds > before.holds && after.refused > before.refused,
	      "a hold for which no time is left is refused");
}

static void count_length(void)
{
	unsigned long before = stat_of("held_most_us"), sum, most;

	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	check(stat_of("held_most_us") == before, "without a hold the longest one stays the same");
	sum = stat_of("held_sum_us");
	do_all(CHAIN);
	atomic_store(&shared->wait_ms, WAIT_MS);
	sum = stat_of("held_sum_us") - sum;
	most = stat_of("held_most_us");
	/* Both are cut to whole microseconds. */
	check(sum >= (LONG_MS - SLACK_MS) * 1000 && most + 1 >= sum && most <= sum + 1 &&
		      most > before,
	      "the longest hold is known: %lu us, before %lu", most, before);
	/* Holds are half of the time at most: until all of it is allowed again. */
	clock_sleep(2 * LONG_MS * MS);
	sum = stat_of("held_sum_us");
	do_all(CHAIN);
	check(stat_of("held_sum_us") > sum && stat_of("held_most_us") == most,
	      "and a shorter one does not change it");
	clock_sleep(2 * LONG_MS * MS);
}

void test_counts(void)
{
	count_actions();
	count_refusals();
	count_length();
}

static long long traced(const char *event, const char *detail, const char *key)
{
	return trace_number(INSTANCE "trace", event, detail, key);
}

void test_trace(void)
{
	char joined[32], wait[32];
	unsigned long mistaken;
	long long number;

	if (mkdir(INSTANCE, 0755))
		bail("cannot trace: %s", strerror(errno));
	restart("all", BOUND_MS, "2000");
	put(INSTANCE "events/lull/enable", "1");
	put(INSTANCE "tracing_on", "1");
	do_all(CHAIN);
	put(INSTANCE "tracing_on", "0");
	snprintf(joined, sizeof(joined), "pid=%d ", net);
	check(traced("lull_quiet_action: ", "code=30", "pid=") == ui, "the trace has the action");
	check(traced("lull_quiet_join: ", joined, "by=") == ui, "who joins, and by whom");
	check(traced("lull_quiet_wait: ", "", "expected_us=") == -1, "a wait that is not known");
	check(traced("lull_quiet_hold: ", "", "wait=") == -2, "and no hold");

	put(INSTANCE "trace", "\n");
	mistaken = stat_of("mistaken");
	put(INSTANCE "tracing_on", "1");
	press(STRAY);
	clock_sleep((SLACK_MS + 10) * MS);
	atomic_store(&shared->stray, 1);
	/* Who is held tells the consumer when the bound is over. */
	finish();
	put(INSTANCE "tracing_on", "0");
	number = traced("lull_quiet_hold: ", "all=1", "wait=");
	check(number >= 0 && traced("lull_quiet_hold: ", "", "bound_ns=") == BOUND_NS,
	      "a hold, and how long it may be");
	snprintf(wait, sizeof(wait), "wait=%lld ", number);
	check(traced("lull_quiet_wait: ", wait, "expected_us=") >= (WAIT_MS - 1) * 1000,
	      "the wait that it is for, as it was the last time");
	check(traced("lull_quiet_release: ", wait, "why=") == 1 &&
		      traced("lull_quiet_release: ", wait, "held_ns=") >= BOUND_NS,
	      "its end, why, and how long it was");
	check(stat_of("mistaken") == mistaken + 1 &&
		      traced("lull_quiet_mistake: ", wait, "pid=") == others[SLEEPER],
	      "and who should not have been held");

	put(INSTANCE "events/enable", "0");
	check(!rmdir(INSTANCE), "nothing keeps the trace");
}
