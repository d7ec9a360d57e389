// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of schedules and of the arithmetic of timers and clocks. The events of
 * lull_test_merge() are also those that tests/unit/test_schedule.py expects.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/input-event-codes.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "event_schedule.h"
#include "sp804.h"
#include "wall_clock.h"

static void lull_test_random(struct kunit *test)
{
	u64 zero = 0, one = 1;

	KUNIT_EXPECT_EQ(test, lull_random(&zero), 0xe220a8397b1dcdafULL);
	KUNIT_EXPECT_EQ(test, lull_random(&zero), 0x6e789e6aa1b965f4ULL);
	KUNIT_EXPECT_EQ(test, lull_random(&one), 0x910a2dec89025cc1ULL);
}

static void lull_test_exponential(struct kunit *test)
{
	u64 seed = 1, sum = 0, longer = 0, distance;
	const unsigned int draws = 65536;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, lull_exponential(0), lull_exponential(1));
	KUNIT_EXPECT_EQ(test, lull_exponential(1), 0x2c5c85fdf4ULL);
	KUNIT_EXPECT_EQ(test, lull_exponential(BIT_ULL(63)), 0xb17217f7ULL);
	KUNIT_EXPECT_EQ(test, lull_exponential(0x123456789abcdef0ULL), 0x2a4bd2e74ULL);
	KUNIT_EXPECT_EQ(test, lull_exponential(U64_MAX), 0ULL);

	/* Mean 1, and e^-1 of all distances are longer than that: 0.367879. */
	for (i = 0; i < draws; i++) {
		distance = lull_exponential(lull_random(&seed));
		sum += distance;
		longer += distance > BIT_ULL(32);
	}
	KUNIT_EXPECT_GT(test, sum / draws, BIT_ULL(32) * 99 / 100);
	KUNIT_EXPECT_LT(test, sum / draws, BIT_ULL(32) * 101 / 100);
	KUNIT_EXPECT_GT(test, longer * 1000000 / draws, 362000ULL);
	KUNIT_EXPECT_LT(test, longer * 1000000 / draws, 374000ULL);
}

static struct lull_schedule *lull_parse(struct kunit *test, const char *text)
{
	struct lull_schedule_error error = {};
	struct lull_schedule *schedule;

	schedule = lull_schedule_parse(text, strlen(text), &error);
	if (IS_ERR(schedule))
		KUNIT_FAIL(test, "line %u: %s", error.line, error.reason);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, schedule);
	return schedule;
}

static void lull_test_merge(struct kunit *test)
{
	static const struct lull_event expected[] = {
		{ 0, 3, EV_REL, REL_X, 3 },
		{ 500000, 4, EV_KEY, KEY_A, 1 },
		{ 500000, 5, EV_KEY, KEY_A, 0 },
		{ 2494963, 2, EV_KEY, BTN_LEFT, 1 },
		{ 4000000, 3, EV_REL, REL_X, 3 },
		{ 8000000, 3, EV_REL, REL_X, 3 },
		{ 11660671, 2, EV_KEY, BTN_LEFT, 0 },
		{ 12000000, 3, EV_REL, REL_X, 3 },
		{ 18050541, 2, EV_KEY, BTN_LEFT, 1 },
		{ 23383337, 2, EV_KEY, BTN_LEFT, 0 },
		{ 39730214, 2, EV_KEY, BTN_LEFT, 1 },
		{ 40436718, 2, EV_KEY, BTN_LEFT, 0 },
	};
	struct lull_schedule *schedule;
	int i;

	schedule = lull_parse(test, "# all three\n"
				    "poisson 1000 5000 6 42 1 272 1\n"
				    "\tperiodic 0  4000 4 2 0 3 # to the right\n"
				    "500 1 30 1\n"
				    "500 1 30 0\n"
				    "\n"
				    "end\n");
	KUNIT_ASSERT_EQ(test, schedule->count, ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, schedule->events[i].time_ns, expected[i].time_ns);
		KUNIT_EXPECT_EQ(test, schedule->events[i].line, expected[i].line);
		KUNIT_EXPECT_EQ(test, schedule->events[i].type, expected[i].type);
		KUNIT_EXPECT_EQ(test, schedule->events[i].code, expected[i].code);
		KUNIT_EXPECT_EQ(test, schedule->events[i].value, expected[i].value);
	}
	lull_schedule_free(schedule);
}

static void lull_test_seed(struct kunit *test)
{
	struct lull_schedule *first, *same, *other;

	first = lull_parse(test, "poisson 0 1000 1000 7 2 1 -1\nend\n");
	same = lull_parse(test, "poisson 0 1000 1000 7 2 1 -1\nend\n");
	other = lull_parse(test, "poisson 0 1000 1000 8 2 1 -1\nend\n");
	KUNIT_EXPECT_MEMEQ(test, first->events, same->events, 1000 * sizeof(first->events[0]));
	KUNIT_EXPECT_MEMNEQ(test, first->events, other->events, 1000 * sizeof(first->events[0]));
	lull_schedule_free(first);
	lull_schedule_free(same);
	lull_schedule_free(other);
}

static void lull_test_limits(struct kunit *test)
{
	struct lull_schedule *schedule;

	/* Events at one moment, in the order of the text; and all that fit. */
	schedule = lull_parse(test, "poisson 0 1 262144 1 2 8 1\nend\n");
	KUNIT_EXPECT_EQ(test, schedule->count, LULL_SCHEDULE_EVENTS_MAX);
	lull_schedule_free(schedule);
	schedule = lull_parse(test, "86400000000 2 0 -2147483648\nend\n");
	KUNIT_EXPECT_EQ(test, schedule->events[0].value, S32_MIN);
	lull_schedule_free(schedule);
}

static void lull_test_refused(struct kunit *test)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *reason;
	} cases[] = {
		{ "", 0, "there is no line that says end" },
		{ "0 2 0 1\n", 1, "there is no line that says end" },
		{ "end\n", 1, "there is no event" },
		{ "0 2 0 1\nend\n0 2 0 1\n", 3, "something follows the end" },
		{ "0 2 0 1\n0 2 0\nend\n", 2, "the number of words is wrong" },
		{ "1 2 3 4 5 6 7 8 9\nend\n", 1, "the number of words is wrong" },
		{ "periodic 0 1 1 2 0\nend\n", 1, "the number of words is wrong" },
		{ "-1 2 0 1\nend\n", 1, "not a number where one is needed" },
		{ "+1 2 0 1\nend\n", 1, "not a number where one is needed" },
		{ "1.5 2 0 1\nend\n", 1, "not a number where one is needed" },
		{ "18446744073709551616 2 0 1\nend\n", 1, "not a number where one is needed" },
		{ "86400000001 2 0 1\nend\n", 1, "a number is too large" },
		{ "periodic 0 1 262145 2 0 1\nend\n", 1, "a number is too large" },
		{ "periodic 0 1 262144 2 0 1\n0 2 0 1\nend\n", 2, "too many events" },
		{ "periodic 0 0 1 2 0 1\nend\n", 1, "period, mean and count must not be 0" },
		{ "poisson 0 1 0 1 2 0 1\nend\n", 1, "period, mean and count must not be 0" },
		{ "periodic 0 86400000000 3 2 0 1\nend\n", 1, "it goes on for more than 24 hours" },
		{ "0 3 0 1\nend\n", 1, "the device has no such type and code" },
		{ "0 1 0 1\nend\n", 1, "the device has no such type and code" },
		{ "0 1 274 1\nend\n", 1, "the device has no such type and code" },
		{ "0 2 2 1\nend\n", 1, "the device has no such type and code" },
		{ "0 2 0 2147483648\nend\n", 1, "the value is no number" },
		{ "0 2 0 +1\nend\n", 1, "the value is no number" },
		{ "0 2 0 0\nend\n", 1, "a motion by 0 is no event" },
		{ "0 1 30 2\nend\n", 1, "the value of a key is 1, or 0 in a line of its own" },
		{ "periodic 0 1 1 1 30 0\nend\n", 1,
		  "the value of a key is 1, or 0 in a line of its own" },
		{ "5 2 0 1\n4 2 0 1\nend\n", 2, "time goes backwards" },
		{ "0 1 30 0\nend\n", 1, "the key is not pressed" },
		{ "0 1 30 1\n9 1 30 1\nend\n", 2, "the key is pressed already" },
		{ "periodic 5 10 2 1 30 1\n6 1 30 1\nend\n", 2, "the key is pressed already" },
	};
	struct lull_schedule_error error;
	struct lull_schedule *schedule;
	char line[200];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		schedule = lull_schedule_parse(cases[i].text, strlen(cases[i].text), &error);
		KUNIT_ASSERT_PTR_EQ_MSG(test, schedule, ERR_PTR(-EINVAL), "%s", cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, error.line, cases[i].line, "%s", cases[i].text);
		KUNIT_EXPECT_STREQ(test, error.reason, cases[i].reason);
	}

	memset(line, ' ', sizeof(line));
	KUNIT_EXPECT_PTR_EQ(test, lull_schedule_parse(line, sizeof(line), &error),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_STREQ(test, error.reason, "the line is too long");
	KUNIT_EXPECT_PTR_EQ(test, lull_schedule_parse("0 2 0 1\0\nend\n", 13, &error),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_STREQ(test, error.reason, "not text");
}

/* However it is cut, a text is complete with its last byte and not before. */
static void lull_test_pieces(struct kunit *test)
{
	static const char whole[] = "# the end\nendless\n end\n1 2 0 1\nend\n";
	const size_t size = sizeof(whole) - 1;
	struct lull_schedule_text text = {};
	size_t step, at;

	for (step = 1; step <= size; step++) {
		for (at = 0; at < size; at += step)
			KUNIT_EXPECT_EQ(test, at + step >= size,
					lull_schedule_text_add(&text, whole + at, at,
							       min(step, size - at)));
		KUNIT_ASSERT_EQ(test, text.used, size);
		KUNIT_EXPECT_MEMEQ(test, text.data, whole, size);
	}

	/* A piece is missing: the text is gone. A new one may begin. */
	KUNIT_EXPECT_EQ(test, lull_schedule_text_add(&text, "x", size + 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, text.used, 0);
	KUNIT_EXPECT_EQ(test, lull_schedule_text_add(&text, "x", 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, lull_schedule_text_add(&text, "end\n", 0, 4), 1);
	KUNIT_EXPECT_EQ(test, lull_schedule_text_add(&text, "en", 0, 2), 0);
	KUNIT_EXPECT_EQ(test, lull_schedule_text_add(&text, "d\n", 2, LULL_SCHEDULE_TEXT_MAX),
			-EFBIG);
	KUNIT_EXPECT_EQ(test, text.used, 0);
	lull_schedule_text_drop(&text);
}

static void lull_test_clock(struct kunit *test)
{
	const u64 round = U32_MAX;
	struct lull_clock_reading reading = {
		.count = 5000, .hz = 1000000, .at = ms_to_ktime(10),
	};

	KUNIT_EXPECT_EQ(test, lull_clock_extend(7, 7), 7ULL);
	KUNIT_EXPECT_EQ(test, lull_clock_extend(7, 0), 7ULL);
	KUNIT_EXPECT_EQ(test, lull_clock_extend(7, round - 1000), round + 7);
	KUNIT_EXPECT_EQ(test, lull_clock_extend(7, round + 1000), round + 7);
	KUNIT_EXPECT_EQ(test, lull_clock_extend(U32_MAX - 1, round + 1000), round - 1);
	KUNIT_EXPECT_EQ(test, lull_clock_extend(7, 1000 * round), 1000 * round + 7);

	KUNIT_EXPECT_EQ(test, lull_clock_count_at(&reading, ms_to_ktime(8)), 3000ULL);
	KUNIT_EXPECT_EQ(test, lull_clock_count_at(&reading, ms_to_ktime(10)), 5000ULL);
	KUNIT_EXPECT_EQ(test, lull_clock_count_at(&reading, ms_to_ktime(11)), 5000ULL);
	KUNIT_EXPECT_EQ(test, lull_clock_count_at(&reading, ms_to_ktime(1)), 0ULL);
}

static void lull_test_sp804(struct kunit *test)
{
	const struct lull_sp804 timer = { .hz = 100000000 }, slow = { .hz = 1000 };

	KUNIT_EXPECT_EQ(test, lull_sp804_to_ticks(&timer, 19), 1ULL);
	KUNIT_EXPECT_EQ(test, lull_sp804_to_ticks(&timer, 24ULL * 3600 * NSEC_PER_SEC),
			24ULL * 3600 * 100000000);
	KUNIT_EXPECT_EQ(test, lull_sp804_to_ns(&timer, LULL_SP804_TICKS_MAX), 21474836470ULL);
	KUNIT_EXPECT_EQ(test, lull_sp804_to_ns(&slow, 2ULL * U32_MAX), 8589934590000000ULL);
}

static struct kunit_case lull_schedule_test_cases[] = {
	KUNIT_CASE(lull_test_random),
	KUNIT_CASE(lull_test_exponential),
	KUNIT_CASE(lull_test_merge),
	KUNIT_CASE(lull_test_seed),
	KUNIT_CASE(lull_test_limits),
	KUNIT_CASE(lull_test_refused),
	KUNIT_CASE(lull_test_pieces),
	KUNIT_CASE(lull_test_clock),
	KUNIT_CASE(lull_test_sp804),
	{}
};

static struct kunit_suite lull_schedule_test_suite = {
	.name = "lull-events",
	.test_cases = lull_schedule_test_cases,
};

kunit_test_suite(lull_schedule_test_suite);
