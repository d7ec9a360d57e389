// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the table of registrations; a registration's handler says which it is.
 */
#include <kunit/test.h>
#include <linux/input-event-codes.h>

#include "esm.h"

static struct esm_matches *esm_table(struct kunit *test)
{
	struct esm_matches *matches = kunit_kzalloc(test, sizeof(*matches), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, matches);
	return matches;
}

static void esm_table_add(struct esm_matches *matches, u16 type, u16 code, u64 handler)
{
	esm_matches_insert(matches, esm_key(type, code))->handler = handler;
}

static u64 esm_table_find(struct esm_matches *matches, u16 type, u16 code)
{
	const struct esm_match *match = esm_matches_find(matches, type, code, NULL);

	return match ? match->handler : 0;
}

static void esm_test_narrowest(struct kunit *test)
{
	struct esm_matches *matches = esm_table(test);

	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_A), 0ULL);
	esm_table_add(matches, ESM_ANY, ESM_ANY, 1);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_A), 1ULL);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_SYN, SYN_MT_REPORT), 1ULL);
	esm_table_add(matches, EV_KEY, ESM_ANY, 2);
	esm_table_add(matches, EV_KEY, KEY_A, 3);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_A), 3ULL);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_B), 2ULL);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_REL, KEY_A), 1ULL);

	esm_matches_remove(matches, esm_matches_exact(matches, esm_key(EV_KEY, ESM_ANY)));
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_A), 3ULL);
	KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, KEY_B), 1ULL);
	KUNIT_EXPECT_NULL(test, esm_matches_exact(matches, esm_key(EV_KEY, ESM_ANY)));
}

/* A reader that grabbed the device gets what it registered, however wide. */
static void esm_test_only(struct kunit *test)
{
	struct esm_matches *matches = esm_table(test);
	struct esm_reader grabbing, other;

	esm_matches_insert(matches, esm_key(EV_KEY, KEY_A))->reader = &other;
	esm_matches_insert(matches, esm_key(EV_KEY, ESM_ANY))->reader = &grabbing;

	KUNIT_EXPECT_PTR_EQ(test, esm_matches_find(matches, EV_KEY, KEY_A, NULL)->reader, &other);
	KUNIT_EXPECT_PTR_EQ(test, esm_matches_find(matches, EV_KEY, KEY_A, &grabbing)->reader,
			    &grabbing);
	KUNIT_EXPECT_NULL(test, esm_matches_find(matches, EV_KEY, KEY_B, &other));
	KUNIT_EXPECT_NULL(test, esm_matches_find(matches, EV_REL, REL_X, &grabbing));
}

static void esm_test_types(struct kunit *test)
{
	struct esm_matches *matches = esm_table(test);

	KUNIT_EXPECT_EQ(test, matches->types, 0U);
	esm_table_add(matches, EV_KEY, KEY_A, 1);
	esm_table_add(matches, EV_FF_STATUS, ESM_ANY, 2);
	KUNIT_EXPECT_EQ(test, matches->types, (u32)(BIT(EV_KEY) | BIT(EV_FF_STATUS)));
	esm_table_add(matches, ESM_ANY, ESM_ANY, 3);
	KUNIT_EXPECT_EQ(test, matches->types, U32_MAX);
	esm_matches_remove(matches, esm_matches_exact(matches, esm_key(ESM_ANY, ESM_ANY)));
	esm_matches_remove(matches, esm_matches_exact(matches, esm_key(EV_KEY, KEY_A)));
	KUNIT_EXPECT_EQ(test, matches->types, (u32)BIT(EV_FF_STATUS));
}

/* A full table, filled and emptied in an order of no pattern. */
static void esm_test_full(struct kunit *test)
{
	struct esm_matches *matches = esm_table(test);
	unsigned int step;
	u16 code;

	for (step = 0; step < ESM_REGISTRATIONS; step++) {
		code = step * 37 % ESM_REGISTRATIONS;
		esm_table_add(matches, EV_KEY, code, code + 1);
	}
	for (code = 0; code < ESM_REGISTRATIONS; code++)
		KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, code), code + 1ULL);

	for (step = 0; step < ESM_REGISTRATIONS; step++) {
		code = step * 23 % ESM_REGISTRATIONS;
		esm_matches_remove(matches, esm_matches_exact(matches, esm_key(EV_KEY, code)));
		KUNIT_EXPECT_EQ(test, esm_table_find(matches, EV_KEY, code), 0ULL);
	}
	KUNIT_EXPECT_EQ(test, matches->count, 0U);
	KUNIT_EXPECT_EQ(test, matches->types, 0U);
}

static struct kunit_case esm_matches_cases[] = {
	KUNIT_CASE(esm_test_narrowest),
	KUNIT_CASE(esm_test_only),
	KUNIT_CASE(esm_test_types),
	KUNIT_CASE(esm_test_full),
	{}
};

static struct kunit_suite esm_matches_suite = {
	.name = "lull-esm-matches",
	.test_cases = esm_matches_cases,
};

kunit_test_suite(esm_matches_suite);
