/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of predictions: how long a device will take, from how long it took. */
#ifndef _LULL_PREDICT_H
#define _LULL_PREDICT_H

#include <linux/types.h>

/* The greatest size, in sectors, and latency. What is greater counts as this. */
#define LULL_LINE_SECTORS	8192
#define LULL_LINE_NS		1000000000ULL
/* A line is of the last so many requests, to twice as many. */
#define LULL_LINE_MEMORY	32
/* As few are not believed. */
#define LULL_LINE_LEAST		4
/* So many outliers in a row are no outliers: the line begins anew. */
#define LULL_LINE_OUTLIERS	8

/**
 * struct lull_line_sums - what least squares need of some requests
 * @count: how many
 * @x: sum of sizes, in sectors
 * @y: sum of latencies, in ns
 * @xx: sum of squares of sizes
 * @xy: sum of products
 */
struct lull_line_sums {
	s64 count;
	s64 x;
	s64 y;
	s64 xx;
	s64 xy;
};

/**
 * struct lull_line - latency against size, by least squares
 * @now: the last requests, fewer than LULL_LINE_MEMORY
 * @before: LULL_LINE_MEMORY before them
 * @exact: the first whose latencies are exact, until they are enough for a line
 * @is_exact: they were enough: @now and @before are of such requests only
 * @error_ns: how far predictions were off, on average over the last eight or so
 * @outliers: how many in a row
 *
 * Zeroed before its first use.
 */
struct lull_line {
	struct lull_line_sums now;
	struct lull_line_sums before;
	struct lull_line_sums exact;
	bool is_exact;
	u64 error_ns;
	u32 outliers;
};

/* Durations that were seen last, of one kind of work. */
#define LULL_HISTORY_SAMPLES	9
#define LULL_HISTORY_LEAST	3

/**
 * struct lull_history - the last durations of one kind of work
 * @count: how many there were
 * @ns: the last of them
 *
 * Zeroed before its first use.
 */
struct lull_history {
	unsigned int count;
	u32 ns[LULL_HISTORY_SAMPLES];
};

/**
 * struct lull_prediction - what is expected
 * @ns: the duration
 * @error_ns: how far such predictions were off
 */
struct lull_prediction {
	u64 ns;
	u64 error_ns;
};

bool lull_prediction_is_useful(const struct lull_prediction *prediction);
void lull_line_learn(struct lull_line *line, u32 sectors, u64 ns, bool exact);
bool lull_line_predict(const struct lull_line *line, u32 sectors,
		       struct lull_prediction *prediction);
void lull_line_shape(const struct lull_line *line, u64 *ns, s64 *ns_per_kib);
void lull_history_learn(struct lull_history *history, u64 ns);
bool lull_history_predict(const struct lull_history *history, struct lull_prediction *prediction);

#endif /* _LULL_PREDICT_H */
