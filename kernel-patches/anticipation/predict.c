// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a device will take. A request of storage takes a time that grows with
 * its size, so there it is a line. A job of an accelerator takes about as long as
 * the same job did before, so there it is a median. Both say how far off they
 * were, and neither predicts where that is too much to be of use.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "predict.h"

/* A slope has so many bits after the point. */
#define LULL_SLOPE_BITS		10

/* A prediction that is off by more than this part of itself is of no use. */
#define LULL_PREDICT_PART	4

/**
 * lull_prediction_is_useful - whether predictions are good enough
 * @prediction: one of them
 *
 * Return: false if such predictions were off by too much to gain by one.
 */
bool lull_prediction_is_useful(const struct lull_prediction *prediction)
{
	return prediction->error_ns <= prediction->ns / LULL_PREDICT_PART;
}

static struct lull_line_sums lull_line_all(const struct lull_line *line)
{
	return (struct lull_line_sums){
		.count = line->now.count + line->before.count,
		.x = line->now.x + line->before.x,
		.y = line->now.y + line->before.y,
		.xx = line->now.xx + line->before.xx,
		.xy = line->now.xy + line->before.xy,
	};
}

/*
 * ns per sector, << LULL_SLOPE_BITS; 0 if all requests have one size. A slope is
 * an average of those between two requests, so it is below 2^30 ns, and below
 * 2^38 requests times sectors squared are under the fraction.
 */
static s64 lull_line_slope(const struct lull_line_sums *all)
{
	s64 below = all->count * all->xx - all->x * all->x;
	s64 above = all->count * all->xy - all->x * all->y;
	s64 whole;

	if (!below)
		return 0;
	whole = div64_s64(above, below);
	return whole * (1 << LULL_SLOPE_BITS) +
	       div64_s64((above - whole * below) * (1 << LULL_SLOPE_BITS), below);
}

static u64 lull_line_at(const struct lull_line_sums *all, u32 sectors)
{
	s64 away = sectors * all->count - all->x;
	s64 ns = div64_s64(all->y, all->count) +
		 div64_s64(lull_line_slope(all) * away, all->count << LULL_SLOPE_BITS);

	return clamp_t(s64, ns, 0, LULL_LINE_NS);
}

/* What a request counts as: one that is far off counts as less far off. */
static u64 lull_line_clip(struct lull_line *line, u64 ns, u64 expected)
{
	u64 reach = max(4 * line->error_ns, expected / 16);
	u64 clipped = clamp(ns, expected - min(reach, expected), expected + reach);

	line->outliers = clipped == ns ? 0 : line->outliers + 1;
	return clipped;
}

static void lull_line_add(struct lull_line_sums *sums, u64 x, u64 y)
{
	sums->count++;
	sums->x += x;
	sums->y += y;
	sums->xx += x * x;
	sums->xy += x * y;
}

/*
 * While a CPU's exit latency is unknown, latencies are too long by it. They make a
 * first line, whose predictions have a timer wake the CPU, which then learns its
 * exit latency. A line of exact latencies replaces that one as soon as there is one.
 */
static bool lull_line_becomes_exact(struct lull_line *line, u64 x, u64 y)
{
	lull_line_add(&line->exact, x, y);
	if (line->exact.count < LULL_LINE_LEAST)
		return false;

	*line = (struct lull_line){ .now = line->exact, .is_exact = true };
	return true;
}

/**
 * lull_line_learn - a request has been done
 * @line: the line
 * @sectors: its size
 * @ns: what it took
 * @exact: whether @ns is exact, or what it took at most
 *
 * An outlier moves the line no more than a request at the edge of what is usual.
 * Many in a row are a device that has changed, and the line begins anew.
 * Latencies that are not exact count until there are enough that are. Then they count
 * only where they are below the line, because they say that the line is too high.
 */
void lull_line_learn(struct lull_line *line, u32 sectors, u64 ns, bool exact)
{
	struct lull_line_sums all = lull_line_all(line);
	u64 x = min_t(u64, sectors, LULL_LINE_SECTORS);
	u64 y = min_t(u64, ns, LULL_LINE_NS);

	if (line->is_exact && !exact && y >= lull_line_at(&all, x))
		return;
	if (!line->is_exact && exact && lull_line_becomes_exact(line, x, y))
		return;

	if (all.count >= LULL_LINE_LEAST) {
		u64 expected = lull_line_at(&all, x), clipped = lull_line_clip(line, y, expected);

		if (line->outliers == LULL_LINE_OUTLIERS) {
			memset(line, 0, sizeof(*line));
		} else {
			y = clipped;
			line->error_ns += (abs_diff(y, expected) + 7) / 8;
			line->error_ns -= line->error_ns / 8;
		}
	}

	lull_line_add(&line->now, x, y);
	if (line->now.count < LULL_LINE_MEMORY)
		return;
	line->before = line->now;
	memset(&line->now, 0, sizeof(line->now));
}

/**
 * lull_line_predict - how long a request will take
 * @line: what was learned
 * @sectors: its size
 * @prediction: is filled in
 *
 * Return: whether that is known well enough to be of use.
 */
bool lull_line_predict(const struct lull_line *line, u32 sectors,
		       struct lull_prediction *prediction)
{
	const struct lull_line_sums all = lull_line_all(line);

	if (all.count < LULL_LINE_LEAST)
		return false;

	prediction->ns = lull_line_at(&all, min_t(u32, sectors, LULL_LINE_SECTORS));
	prediction->error_ns = line->error_ns;
	return lull_prediction_is_useful(prediction);
}

/**
 * lull_line_shape - the line, for people
 * @line: what was learned
 * @ns: is set to the latency at no size at all
 * @ns_per_kib: is set to the slope
 */
void lull_line_shape(const struct lull_line *line, u64 *ns, s64 *ns_per_kib)
{
	const struct lull_line_sums all = lull_line_all(line);

	*ns = all.count ? lull_line_at(&all, 0) : 0;
	*ns_per_kib = 2 * lull_line_slope(&all) / (1 << LULL_SLOPE_BITS);
}

/**
 * lull_history_learn - a job has been done
 * @history: what was learned
 * @ns: what it took
 */
void lull_history_learn(struct lull_history *history, u64 ns)
{
	history->ns[history->count++ % LULL_HISTORY_SAMPLES] = min_t(u64, ns, U32_MAX);
	/* Neither wraps nor forgets how many are known. */
	if (history->count == 2 * LULL_HISTORY_SAMPLES)
		history->count = LULL_HISTORY_SAMPLES;
}

static int lull_compare(const void *one, const void *other)
{
	u32 a = *(const u32 *)one, b = *(const u32 *)other;

	return a < b ? -1 : a > b;
}

/* Of all, so many quarters are not longer. */
static u32 lull_quarters(u32 *ns, unsigned int count, unsigned int quarters)
{
	sort(ns, count, sizeof(*ns), lull_compare, NULL);
	return ns[count * quarters / 4];
}

/**
 * lull_history_predict - how long a job will take
 * @history: what was learned
 * @prediction: is filled in: the median, and how far three quarters are not away from it
 *
 * Return: whether that is known well enough to be of use.
 */
bool lull_history_predict(const struct lull_history *history, struct lull_prediction *prediction)
{
	unsigned int i, count = min_t(unsigned int, history->count, LULL_HISTORY_SAMPLES);
	u32 ns[LULL_HISTORY_SAMPLES];

	if (count < LULL_HISTORY_LEAST)
		return false;

	memcpy(ns, history->ns, sizeof(ns));
	prediction->ns = lull_quarters(ns, count, 2);
	for (i = 0; i < count; i++)
		ns[i] = abs_diff(ns[i], (u32)prediction->ns);
	prediction->error_ns = lull_quarters(ns, count, 3);
	return lull_prediction_is_useful(prediction);
}
