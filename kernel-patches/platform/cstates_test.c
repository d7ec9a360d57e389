// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what may be written to /sys/kernel/lull/cstates, on a machine made
 * up here: CPUs 0 and 1 with C1, C2, C3 and C4, the next without a driver.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "cstates.h"

#define LULL_TEST_CPUS 3

static const struct lull_cstates lull_test_cpu = {
	.count = 4,
	.states = {
		{ .depth = 1, .exit_us = 1, .residency_us = 1 },
		{ .depth = 2, .exit_us = 100, .residency_us = 200 },
		{ .depth = 3, .exit_us = 1000, .residency_us = 2000 },
		{ .depth = 4, .exit_us = 1000, .residency_us = 3000 },
	},
};

struct lull_test_machine {
	struct lull_cstates cpus[LULL_TEST_CPUS];
	char text[256];
};

static struct lull_test_machine *lull_test_make(struct kunit *test)
{
	struct lull_test_machine *machine = kunit_kzalloc(test, sizeof(*machine), GFP_KERNEL);
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, machine);
	for (cpu = 0; cpu < 2; cpu++) {
		machine->cpus[cpu] = lull_test_cpu;
		machine->cpus[cpu].sharers = cpumask_of(cpu);
	}
	return machine;
}

static int lull_test_write(struct lull_test_machine *machine, const char *text)
{
	strscpy(machine->text, text);
	return lull_cstates_change(machine->cpus, LULL_TEST_CPUS, machine->text);
}

static void lull_expect_state(struct kunit *test, struct lull_test_machine *machine, int cpu,
			      int index, unsigned int exit_us, unsigned int residency_us)
{
	KUNIT_EXPECT_EQ(test, machine->cpus[cpu].states[index].exit_us, exit_us);
	KUNIT_EXPECT_EQ(test, machine->cpus[cpu].states[index].residency_us, residency_us);
}

static void lull_test_one_cpu(struct kunit *test)
{
	struct lull_test_machine *machine = lull_test_make(test);

	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C3 1000 2500\n"), 0);
	lull_expect_state(test, machine, 0, 1, 100, 200);
	lull_expect_state(test, machine, 0, 2, 1000, 2500);
	lull_expect_state(test, machine, 0, 3, 1000, 3000);
	lull_expect_state(test, machine, 1, 2, 1000, 2000);
}

static void lull_test_several(struct kunit *test)
{
	struct lull_test_machine *machine = lull_test_make(test);

	if (nr_cpu_ids < 2)
		kunit_skip(test, "a CPU list of this machine has one CPU");
	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0-1  C2\t1 2\n\n1 C4 5000 5000"), 0);
	lull_expect_state(test, machine, 0, 1, 1, 2);
	lull_expect_state(test, machine, 1, 1, 1, 2);
	lull_expect_state(test, machine, 0, 3, 1000, 3000);
	lull_expect_state(test, machine, 1, 3, 5000, 5000);
}

/* Neither line alone would be in order. */
static void lull_test_overtaking(struct kunit *test)
{
	struct lull_test_machine *machine = lull_test_make(test);

	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C2 1100 1110"), -EINVAL);
	machine = lull_test_make(test);
	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C3 1200 1220\n0 C4 1200 1230\n"
						       "0 C2 1100 1210\n"), 0);
	lull_expect_state(test, machine, 0, 1, 1100, 1210);
	lull_expect_state(test, machine, 0, 2, 1200, 1220);
	lull_expect_state(test, machine, 0, 3, 1200, 1230);
}

static void lull_test_refused(struct kunit *test)
{
	static const char * const texts[] = {
		"", "\n", " ", "0", "0 C3", "0 C3 1000", "0 C3 1000 2500 1",
		/* words */
		"0 3 1000 2500", "0 c3 1000 2500", "0 C 1000 2500", "0 Cx 1000 2500",
		"0 C3 -1 2500", "0 C3 1000 x", "0 C3 1e3 2500", "0 C3 1000 4294967297",
		"0 C3 1000 2500;",
		/* CPUs: malformed, none, beyond the machine, without a driver */
		"x C3 1000 2500", "0- C3 1000 2500", "2-1 C3 1000 2500", "99 C3 1000 2500",
		"2 C3 1000 2500", "0-2 C3 1000 2500", "99999999999 C3 1000 2500",
		/* states: WFI, and one that is not there */
		"0 C1 1 1", "0 C5 5000 5000", "0 C0 1 1",
		/* a residency below the exit latency */
		"0 C3 1000 999", "0 C4 4000 3999",
		/* an order that is none */
		"0 C3 1000 200", "0 C3 1000 3000", "0 C3 99 2500", "0 C3 1001 2500",
		"0 C2 0 200", "0 C2 1 1", "0 C4 999 3000",
		/* out of range */
		"0 C4 2000001 3000000", "0 C4 1000 10000001",
		/* one bad line among good ones */
		"0 C3 1000 2500\n0 C9 1 1", "0 C9 1 1\n0 C3 1000 2500",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, lull_test_write(lull_test_make(test), texts[i]),
				    -EINVAL, "\"%s\"", texts[i]);
}

static void lull_test_limits(struct kunit *test)
{
	struct lull_test_machine *machine = lull_test_make(test);

	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C4 2000000 10000000"), 0);
	lull_expect_state(test, machine, 0, 3, 2000000, 10000000);
	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C3 1000 1000"), 0);
	lull_expect_state(test, machine, 0, 2, 1000, 1000);
}

/* CPUs with one driver have one set of numbers. */
static void lull_test_shared(struct kunit *test)
{
	struct lull_test_machine *machine = lull_test_make(test);

	if (nr_cpu_ids < 2)
		kunit_skip(test, "a CPU list of this machine has one CPU");
	machine->cpus[0].sharers = cpu_possible_mask;
	KUNIT_EXPECT_EQ(test, lull_test_write(machine, "0 C3 1000 2500"), -EINVAL);
}

static struct kunit_case lull_cstates_cases[] = {
	KUNIT_CASE(lull_test_one_cpu),
	KUNIT_CASE(lull_test_several),
	KUNIT_CASE(lull_test_overtaking),
	KUNIT_CASE(lull_test_refused),
	KUNIT_CASE(lull_test_limits),
	KUNIT_CASE(lull_test_shared),
	{}
};

static struct kunit_suite lull_cstates_suite = {
	.name = "lull-cstates",
	.test_cases = lull_cstates_cases,
};

kunit_test_suite(lull_cstates_suite);
