// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/time64.h>

#include "eanem_control.h"

#define MS	1000000ULL
#define MBIT	125000ULL
#define MSS	1448
/* A window scale of 7, as with receive buffers of 6 MB. */
#define UNIT	128

/* What exact fractions give for algorithm 1, cut to whole bytes where the law cuts. */
static const struct {
	u64 window, target, before, bandwidth, rtt_ns, delta_ns, next;
} lull_eanem_rows[] = {
	/* A new target, in proportion. */
	{ 125000, 12500000, 6250000, 6250000, 20 * MS, 0, 250000 },
	{ 250000, 6250000, 12500000, 12500000, 20 * MS, 0, 125000 },
	{ 10000, 5000000, 6250000, 7000000, 1 * MS, 0, 7142 },
	/* The window was not what held the connection back. */
	{ 3000000, 6250000, 12500000, 100000000, 1 * MS, 0, 12500 },
	/* The same target: three quarters of the connection's own delta. */
	{ 125000, 6250000, 6250000, 5000000, 20 * MS, 0, 148437 },
	{ 125000, 6250000, 6250000, 8000000, 20 * MS, 0, 104493 },
	/* At most twice, however little came. */
	{ 125000, 6250000, 6250000, 1000, 20 * MS, 0, 250000 },
	/* The paper's delta: bytes for each byte/s. */
	{ 125000, 6250000, 6250000, 5000000, 20 * MS, 1 * MS, 126250 },
	{ 125000, 6250000, 6250000, 8000000, 20 * MS, 10 * MS, 107500 },
	{ 1000, 6250000, 6250000, 80000000, 20 * MS, 10 * MS, 1 },
	/* There. */
	{ 125000, 6250000, 6250000, 6250000, 20 * MS, 0, 125000 },
	/* Nothing came: nothing is learned, and a new target begins anew. */
	{ 125000, 6250000, 6250000, 0, 20 * MS, 0, 125000 },
	{ 125000, 12500000, 6250000, 0, 20 * MS, 0, 250000 },
	/* The ends. */
	{ 1, 1, 2, 1000000000, 1 * MS, 0, 1 },
	{ 1ULL << 30, 1ULL << 40, 1ULL << 40, 1, 1 * MS, 0, 1ULL << 30 },
};

static void lull_eanem_law_is_the_reference(struct kunit *test)
{
	for (size_t i = 0; i < ARRAY_SIZE(lull_eanem_rows); i++) {
		typeof(lull_eanem_rows[i]) *row = &lull_eanem_rows[i];

		KUNIT_EXPECT_EQ_MSG(test,
				    lull_eanem_next(row->window, row->target, row->before,
						    row->bandwidth, row->rtt_ns, row->delta_ns),
				    row->next, "row %zu", i);
	}
}

/*
 * A sender that always has data, behind a pipe. It sends whole segments as far as it may, and hears
 * of a new edge one round trip before what it then sends comes.
 */
struct lull_eanem_pipe {
	struct lull_eanem_control control;
	struct lull_eanem_view view;
	u32 offered[256];
	u64 tick_ns;
	unsigned int delay;
	unsigned int now;
};

/* One tick passes; at most @most bytes come in it. */
static void lull_eanem_tick(struct lull_eanem_pipe *pipe, u64 most)
{
	struct lull_eanem_view *view = &pipe->view;
	u32 edge = pipe->offered[(pipe->now - pipe->delay) % ARRAY_SIZE(pipe->offered)];
	u32 came = rounddown(min_t(u64, edge - view->next, most), view->mss);
	u64 bandwidth;

	view->now += pipe->tick_ns;
	view->next += came;
	view->received += came;
	view->open -= came;
	lull_eanem_step(&pipe->control, view, &bandwidth);
	view->open = lull_eanem_scaled(view, lull_eanem_raise(&pipe->control, view));
	pipe->offered[++pipe->now % ARRAY_SIZE(pipe->offered)] = view->next + view->open;
}

static struct lull_eanem_pipe *lull_eanem_pipe(struct kunit *test, u64 rtt_us, u32 open)
{
	struct lull_eanem_pipe *pipe = kunit_kzalloc(test, sizeof(*pipe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pipe);
	pipe->tick_ns = max(rtt_us * NSEC_PER_USEC / 100, 50000ULL);
	pipe->delay = max(rtt_us * NSEC_PER_USEC / pipe->tick_ns, 1ULL) - 1;
	pipe->now = pipe->delay;
	pipe->view = (struct lull_eanem_view){
		.now = 1000 * MS,
		.rtt_ns = rtt_us * NSEC_PER_USEC,
		.interval_ns = 100 * MS,
		.period_ns = 1 * MS,
		.next = U32_MAX - 100000,
		.open = open,
		.most = 6 << 20,
		.unit = UNIT,
		.mss = MSS,
	};
	for (size_t i = 0; i < ARRAY_SIZE(pipe->offered); i++)
		pipe->offered[i] = pipe->view.next + open;
	return pipe;
}

/* The bandwidth over so many intervals of control, in units of 0.1 % of the target. */
static u64 lull_eanem_after(struct lull_eanem_pipe *pipe, u64 target, unsigned int intervals)
{
	u64 interval = max(100 * MS, 4 * pipe->view.rtt_ns);
	u64 from = pipe->view.received, began = pipe->view.now;

	pipe->view.target = target;
	while (pipe->view.now < began + intervals * interval)
		lull_eanem_tick(pipe, 125 * pipe->tick_ns / 1000);
	return mul_u64_u64_div_u64(1000 * (pipe->view.received - from), NSEC_PER_SEC,
				   (pipe->view.now - began) * target);
}

static void lull_eanem_follows_steps(struct kunit *test)
{
	static const u64 rtts_us[] = { 100, 1000, 20000, 100000 };
	struct lull_eanem_pipe *pipe;
	u64 there;

	for (size_t i = 0; i < ARRAY_SIZE(rtts_us); i++) {
		pipe = lull_eanem_pipe(test, rtts_us[i], 1 << 20);
		for (u64 mbit = 50; mbit <= 400; mbit += 50) {
			lull_eanem_after(pipe, mbit * MBIT, 5);
			there = lull_eanem_after(pipe, mbit * MBIT, 5);
			KUNIT_EXPECT_GE_MSG(test, there, 980, "rtt %llu us, %llu Mb/s", rtts_us[i],
					    mbit);
			KUNIT_EXPECT_LE_MSG(test, there, 1020, "rtt %llu us, %llu Mb/s",
					    rtts_us[i], mbit);
		}
		/* And down again, all at once. */
		lull_eanem_after(pipe, 25 * MBIT, 5);
		there = lull_eanem_after(pipe, 25 * MBIT, 5);
		KUNIT_EXPECT_GE_MSG(test, there, 980, "down, rtt %llu us", rtts_us[i]);
		KUNIT_EXPECT_LE_MSG(test, there, 1020, "down, rtt %llu us", rtts_us[i]);
	}
}

/* How far the window swings in the last of 40 intervals, in thousandths of its mean. */
static u64 lull_eanem_swing(struct kunit *test, u64 delta_us)
{
	struct lull_eanem_pipe *pipe = lull_eanem_pipe(test, 1000, 1 << 20);
	u64 least = U64_MAX, most = 0;

	pipe->view.delta_ns = delta_us * NSEC_PER_USEC;
	lull_eanem_after(pipe, 200 * MBIT, 20);
	lull_eanem_after(pipe, 100 * MBIT, 20);
	for (unsigned int i = 0; i < 20; i++) {
		lull_eanem_after(pipe, 100 * MBIT, 1);
		least = min(least, pipe->control.window);
		most = max(most, pipe->control.window);
	}
	return div64_u64(2000 * (most - least), most + least);
}

/* A window takes 1 ms here. A constant delta of more than twice this time is not stable. */
static void lull_eanem_has_a_stable_delta(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, lull_eanem_swing(test, 0), 100);
	KUNIT_EXPECT_LE(test, lull_eanem_swing(test, 250), 100);
	KUNIT_EXPECT_LE(test, lull_eanem_swing(test, 1000), 100);
	KUNIT_EXPECT_GE(test, lull_eanem_swing(test, 4000), 500);
}

static void lull_eanem_is_slow_for_few_bytes(struct kunit *test)
{
	struct lull_eanem_pipe *pipe = lull_eanem_pipe(test, 100, 64 << 10);
	u64 there;

	/* 12.5 bytes in a period: two segments each 232 ms. */
	lull_eanem_after(pipe, 12500, 10);
	there = lull_eanem_after(pipe, 12500, 40);
	KUNIT_EXPECT_GE(test, there, 900);
	KUNIT_EXPECT_LE(test, there, 1100);
}

/* A window that was offered stays, whatever the target. The sender reads whole units. */
static void lull_eanem_takes_nothing_back(struct kunit *test)
{
	struct lull_eanem_pipe *pipe = lull_eanem_pipe(test, 20000, 1 << 20);
	u32 edge = pipe->view.next + pipe->view.open, now;

	pipe->view.target = 400 * MBIT;
	for (unsigned int i = 0; i < 20000; i++) {
		if (i % 997 == 0)
			pipe->view.target = (1 + i * 7919 % 800) * MBIT;
		lull_eanem_tick(pipe, 125 * pipe->tick_ns / 1000);
		now = pipe->view.next + pipe->view.open;
		KUNIT_ASSERT_EQ(test, pipe->view.open % UNIT, 0);
		KUNIT_ASSERT_GE(test, (s32)(now - edge), 0);
		/* But for what is rounded, it goes up by a segment at least. */
		if (now - edge >= UNIT)
			KUNIT_ASSERT_GT(test, now - edge, MSS - UNIT);
		edge = now;
	}
}

/* What is open is rounded up: rounded down, 88 bytes would be taken back here. */
static void lull_eanem_rounds_up_what_is_open(struct kunit *test)
{
	struct lull_eanem_view view = { .open = 2816 - MSS, .unit = UNIT, .mss = MSS };

	KUNIT_EXPECT_EQ(test, lull_eanem_scaled(&view, view.open), 1408);
	KUNIT_EXPECT_EQ(test, lull_eanem_scaled(&view, view.open + 2 * MSS), 4224);
	view.unit = 1;
	KUNIT_EXPECT_EQ(test, lull_eanem_scaled(&view, view.open), view.open);
	view.open = 0;
	view.unit = 1 << 14;
	KUNIT_EXPECT_EQ(test, lull_eanem_scaled(&view, 0), 0);
}

/* A sender that has used up its window gets a segment, or it would be silent for ever. */
static void lull_eanem_raises_at_any_scale(struct kunit *test)
{
	for (unsigned int scale = 0; scale <= 14; scale++) {
		struct lull_eanem_view view = {
			.now = 1000 * NSEC_PER_SEC, .period_ns = MS, .unit = 1U << scale,
			.mss = max(MSS, 1 << scale),
		};

		for (view.open = 0; view.open < MSS; view.open++) {
			struct lull_eanem_control control = { .target = 1, .window = 1 };
			u32 offer = lull_eanem_scaled(&view, lull_eanem_raise(&control, &view));

			KUNIT_ASSERT_GE_MSG(test, offer, view.open + MSS, "scale %u, open %u",
					    scale, view.open);
		}
	}
}

/* After the system was off: where the edge was then says nothing. */
static void lull_eanem_forgets_an_old_edge(struct kunit *test)
{
	struct lull_eanem_control control = {
		.target = 1, .window = 20000, .round = 10 * MS, .edge = 1 << 30, .first = 4000,
	};
	struct lull_eanem_view view = {
		.now = 10 * MS, .target = 1, .period_ns = MS, .next = 4000, .open = 1 << 20,
		.unit = 1, .mss = MSS,
	};
	u64 bandwidth;

	KUNIT_EXPECT_FALSE(test, lull_eanem_step(&control, &view, &bandwidth));
	KUNIT_EXPECT_EQ(test, lull_eanem_raise(&control, &view), 1 << 20);
}

/* A socket that connects anew: what came on the old connection says nothing. */
static void lull_eanem_begins_anew(struct kunit *test)
{
	struct lull_eanem_control control = {
		.target = 6250000, .window = 60000, .since = 10 * MS, .received = 1 << 20,
		.round = 900 * MS, .edge = 1 << 30, .first = 77,
	};
	struct lull_eanem_view view = {
		.now = 1000 * MS, .target = 6250000, .interval_ns = 100 * MS, .rtt_ns = 20 * MS,
		.period_ns = MS, .next = 4000, .open = 65536, .most = 6 << 20, .unit = UNIT,
		.mss = MSS,
	};
	u64 bandwidth;

	KUNIT_EXPECT_FALSE(test, lull_eanem_controls(&control, &view));
	KUNIT_EXPECT_TRUE(test, lull_eanem_step(&control, &view, &bandwidth));
	KUNIT_EXPECT_EQ(test, bandwidth, 0);
	KUNIT_EXPECT_EQ(test, control.window, 125000);
	KUNIT_EXPECT_EQ(test, control.edge, 4000 + 65536);
	KUNIT_EXPECT_TRUE(test, lull_eanem_controls(&control, &view));
}

static void lull_eanem_waits_for_what_is_missing(struct kunit *test)
{
	struct lull_eanem_control control = { .target = 1, .window = 20000, .edge = 5000 };
	struct lull_eanem_view view = {
		.now = 10 * MS, .target = 1, .period_ns = MS, .next = 4000, .open = 1000,
		.mss = MSS, .hole = true,
	};

	KUNIT_EXPECT_EQ(test, lull_eanem_raise(&control, &view), 1000);
	view.hole = false;
	KUNIT_EXPECT_EQ(test, lull_eanem_raise(&control, &view), 21000);
	/* Once in a period. */
	view.next += 20000;
	view.open = 1000;
	view.now += MS / 2;
	KUNIT_EXPECT_EQ(test, lull_eanem_raise(&control, &view), 1000);
	view.now += MS / 2;
	KUNIT_EXPECT_EQ(test, lull_eanem_raise(&control, &view), 21000);
}

static void lull_eanem_rounds_are_worth_two_segments(struct kunit *test)
{
	struct lull_eanem_control control = { .target = 1, .window = MSS / 2 };
	struct lull_eanem_view view = { .period_ns = MS, .mss = MSS };

	KUNIT_EXPECT_EQ(test, lull_eanem_round_ns(&control, &view), 4 * MS);
	control.window = 2 * MSS;
	KUNIT_EXPECT_EQ(test, lull_eanem_round_ns(&control, &view), MS);
	control.window = 200 * MSS;
	KUNIT_EXPECT_EQ(test, lull_eanem_round_ns(&control, &view), MS);
}

/* A sender that has little to send does not make the window grow for ever. */
static void lull_eanem_does_not_wind_up(struct kunit *test)
{
	struct lull_eanem_pipe *pipe = lull_eanem_pipe(test, 1000, 64 << 10);

	pipe->view.target = 400 * MBIT;
	pipe->view.most = 200000;
	for (unsigned int i = 0; i < 40000; i++)
		lull_eanem_tick(pipe, 2 * MSS);
	KUNIT_EXPECT_LE(test, pipe->control.window, 200000);
	lull_eanem_after(pipe, 100 * MBIT, 5);
	KUNIT_EXPECT_LE(test, lull_eanem_after(pipe, 100 * MBIT, 5), 1020);
}

/* A program that has the socket for a second costs 100 looks, and no 20000. */
static void lull_eanem_looks_ever_less_often(struct kunit *test)
{
	unsigned int looks = 0;
	u64 ns = 0, sum = 0;

	KUNIT_EXPECT_EQ(test, lull_eanem_again_ns(0), 50ULL * NSEC_PER_USEC);
	while (sum < NSEC_PER_SEC) {
		u64 next = lull_eanem_again_ns(ns);

		/* Not later than after twice the time, or 10 ms. */
		KUNIT_EXPECT_LE(test, next, sum + 50 * NSEC_PER_USEC);
		KUNIT_EXPECT_LE(test, next, 10 * MS);
		KUNIT_EXPECT_GE(test, next, ns);
		ns = next;
		sum += ns;
		looks++;
	}
	KUNIT_EXPECT_LE(test, looks, 110);
}

static struct kunit_case lull_eanem_cases[] = {
	KUNIT_CASE(lull_eanem_law_is_the_reference),
	KUNIT_CASE(lull_eanem_follows_steps),
	KUNIT_CASE(lull_eanem_has_a_stable_delta),
	KUNIT_CASE(lull_eanem_is_slow_for_few_bytes),
	KUNIT_CASE(lull_eanem_takes_nothing_back),
	KUNIT_CASE(lull_eanem_rounds_up_what_is_open),
	KUNIT_CASE(lull_eanem_raises_at_any_scale),
	KUNIT_CASE(lull_eanem_forgets_an_old_edge),
	KUNIT_CASE(lull_eanem_begins_anew),
	KUNIT_CASE(lull_eanem_waits_for_what_is_missing),
	KUNIT_CASE(lull_eanem_rounds_are_worth_two_segments),
	KUNIT_CASE(lull_eanem_does_not_wind_up),
	KUNIT_CASE(lull_eanem_looks_ever_less_often),
	{}
};

static struct kunit_suite lull_eanem_suite = {
	.name = "lull-eanem-control",
	.test_cases = lull_eanem_cases,
};

kunit_test_suite(lull_eanem_suite);
