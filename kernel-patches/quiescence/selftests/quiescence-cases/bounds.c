// SPDX-License-Identifier: BSD-3-Clause
/* How long others are held at most, in one hold and in many, and how short a wait holds nobody. */
#include <stdatomic.h>
#include <stdint.h>

#include "actions.h"
#include "cases.h"
#include "clock.h"
#include "others.h"
#include "report.h"
#include "shared.h"
#include "system.h"

void test_bound(void)
{
	unsigned long deadlines, held;
	uint64_t begun;

	restart("all", "40", "2000");
	do_all(CHAIN);
	deadlines = stat_of("by_deadline");
	held = stat_of("held_sum_us");
	do_all(CHAIN);
	begun = atomic_load(&shared->begun);
	check(stat_of("by_deadline") == deadlines + 1, "the bound ends a hold");
	check(!ran(HOG, begun + SLACK_MS * MS, begun + 38 * MS), "not before it is over");
	check(ran(HOG, begun + 38 * MS, begun + WAIT_MS * MS) &&
		      ran(SLEEPER, begun + 38 * MS, begun + WAIT_MS * MS),
	      "and then others run, though the path still waits");
	held = stat_of("held_sum_us") - held;
	check(held >= 40000 && held < (40 + SLACK_MS) * 1000,
	      "the hold was as long as its bound: %lu us", held);
}

/* Presses again and again. Returns in how many milliseconds one of the others ran, of how many. */
static unsigned int run_beside_actions(uint64_t *ms)
{
	uint64_t from = clock_ns();

	for (int i = 0; i < 8; i++)
		do_all(CHAIN);
	*ms = (clock_ns() - from) / MS;
	return ran(HOG, from, clock_ns());
}

/* Whoever holds all the time leaves half of it. */
void test_starvation(void)
{
	unsigned int ran_free, ran_held;
	uint64_t free_ms, ms;
	unsigned long held;

	put(SYSTEM "enabled", "0");
	ran_free = run_beside_actions(&free_ms);
	restart("all", "40", "2000");
	do_all(CHAIN);
	held = stat_of("held_sum_us");
	ran_held = run_beside_actions(&ms);
	held = stat_of("held_sum_us") - held;
	check(held > 40000 && held <= 1000 * ms / 2 + 40000,
	      "in a row of actions others are held for half of the time at most");
	/* One bound may come on top, once. And somebody else may take the CPU, held or not. */
	check(ran_held * free_ms >= ran_free * (ms / 2 - 40),
	      "and they run in the other half: for %u of %lu ms, and for %u of %lu ms if free",
	      ran_held, (unsigned long)ms, ran_free, (unsigned long)free_ms);
}

void test_least(void)
{
	unsigned long holds = stat_of("holds"), brief;

	restart("all", "200", "500000");
	do_all(CHAIN);
	brief = stat_of("brief");
	do_all(CHAIN);
	check(stat_of("holds") == holds && stat_of("brief") > brief,
	      "a wait that is too short holds nobody");
}
