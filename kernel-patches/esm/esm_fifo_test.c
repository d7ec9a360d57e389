// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of an application's queue. Each event has its place in the stream of
 * all that were added as its value, so that a gap can be compared with what
 * the queue says that it lost there.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "esm_fifo.h"

/**
 * struct esm_stream - a queue with a writer and a reader
 * @fifo: the queue
 * @added: events that were added
 * @seen: of these, events that the reader knows about, delivered or lost
 * @read: where it reads to
 */
struct esm_stream {
	struct esm_fifo fifo;
	u64 added;
	u64 seen;
	struct esm_event read[64];
};

static void esm_stream_free(void *data)
{
	struct esm_stream *stream = data;

	kvfree(stream->fifo.events);
}

static struct esm_stream *esm_stream(struct kunit *test, unsigned int size)
{
	struct esm_stream *stream = kunit_kzalloc(test, sizeof(*stream), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, stream);
	KUNIT_ASSERT_EQ(test, esm_fifo_init(&stream->fifo, size, GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, esm_stream_free, stream), 0);

	return stream;
}

static bool esm_stream_add(struct esm_stream *stream, unsigned int packet)
{
	struct esm_event event = { .handler = 1 };

	while (packet--) {
		event.value = stream->added;
		event.kernel_ns = stream->added++;
		esm_fifo_add(&stream->fifo, &event);
	}

	return esm_fifo_end_packet(&stream->fifo);
}

/* Reads up to @count and drops up to @drop of them; what it saw must be the next in the stream. */
static unsigned int esm_stream_read(struct kunit *test, struct esm_stream *stream,
				    unsigned int count, unsigned int drop)
{
	unsigned int got = esm_fifo_peek(&stream->fifo, stream->read, count);
	const struct esm_event *event;
	unsigned int index;

	drop = min(drop, got);
	for (index = 0; index < drop; index++) {
		event = &stream->read[index];
		KUNIT_EXPECT_EQ(test, event->kernel_ns, stream->seen);
		if (event->flags & ESM_EVENT_OVERFLOW) {
			KUNIT_EXPECT_GT(test, event->value, 0);
			KUNIT_EXPECT_EQ(test, event->handler, 0ULL);
			stream->seen += event->value;
		} else {
			stream->seen++;
		}
	}
	esm_fifo_drop(&stream->fifo, drop);

	return got;
}

static void esm_test_order(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);
	unsigned int round;

	/* Often enough to pass the end of the ring at every slot. */
	for (round = 0; round < 20; round++) {
		KUNIT_EXPECT_TRUE(test, esm_fifo_empty(&stream->fifo));
		KUNIT_EXPECT_TRUE(test, esm_stream_add(stream, 2));
		KUNIT_EXPECT_TRUE(test, esm_stream_add(stream, 1));
		KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 64), 3U);
		KUNIT_EXPECT_EQ(test, stream->read[0].flags, 0U);
		KUNIT_EXPECT_EQ(test, stream->read[1].flags, ESM_EVENT_LAST);
		KUNIT_EXPECT_EQ(test, stream->read[2].flags, ESM_EVENT_LAST);
	}
	KUNIT_EXPECT_EQ(test, stream->seen, 60ULL);
	KUNIT_EXPECT_EQ(test, stream->fifo.lost_ever, 0ULL);
}

/* A packet is not seen before its end, and not at all if it does not fit. */
static void esm_test_packet(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);
	struct esm_event event = {};

	esm_fifo_add(&stream->fifo, &event);
	esm_fifo_add(&stream->fifo, &event);
	KUNIT_EXPECT_EQ(test, esm_fifo_peek(&stream->fifo, stream->read, 64), 0U);
	KUNIT_EXPECT_TRUE(test, esm_fifo_end_packet(&stream->fifo));
	KUNIT_EXPECT_EQ(test, esm_fifo_peek(&stream->fifo, stream->read, 64), 2U);
	esm_fifo_drop(&stream->fifo, 2);

	KUNIT_EXPECT_TRUE(test, esm_stream_add(stream, 6));
	KUNIT_EXPECT_FALSE(test, esm_stream_add(stream, 3));
	KUNIT_EXPECT_EQ(test, stream->fifo.lost_ever, 3ULL);
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 64), 7U);
	KUNIT_EXPECT_EQ(test, stream->read[6].flags, ESM_EVENT_OVERFLOW);
	KUNIT_EXPECT_EQ(test, stream->read[6].value, 3);
	KUNIT_EXPECT_EQ(test, stream->seen, 9ULL);
}

/* The whole size is for events, and a loss shows between its neighbours. */
static void esm_test_overflow_has_its_place(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);

	KUNIT_EXPECT_TRUE(test, esm_stream_add(stream, 8));
	KUNIT_EXPECT_FALSE(test, esm_stream_add(stream, 1));
	KUNIT_EXPECT_FALSE(test, esm_stream_add(stream, 4));
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 4, 4), 4U);
	/* The loss takes one of the four slots. */
	KUNIT_EXPECT_FALSE(test, esm_stream_add(stream, 4));
	KUNIT_EXPECT_TRUE(test, esm_stream_add(stream, 3));
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 64), 8U);
	KUNIT_EXPECT_EQ(test, stream->read[4].flags, ESM_EVENT_OVERFLOW);
	KUNIT_EXPECT_EQ(test, stream->read[4].value, 9);
	KUNIT_EXPECT_EQ(test, stream->read[7].flags, ESM_EVENT_LAST);
	KUNIT_EXPECT_TRUE(test, esm_fifo_empty(&stream->fifo));
	KUNIT_EXPECT_EQ(test, stream->seen, stream->added);
}

/* A reader that has seen a loss but not taken it yet misses none that follow. */
static void esm_test_peeked_stays(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);

	esm_stream_add(stream, 8);
	esm_stream_add(stream, 2);
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 0), 9U);
	KUNIT_EXPECT_EQ(test, stream->read[8].value, 2);
	esm_stream_add(stream, 5);
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 64), 9U);
	KUNIT_EXPECT_EQ(test, stream->read[8].value, 2);

	KUNIT_EXPECT_FALSE(test, esm_fifo_empty(&stream->fifo));
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 64, 64), 1U);
	KUNIT_EXPECT_EQ(test, stream->read[0].value, 5);
	KUNIT_EXPECT_TRUE(test, esm_fifo_empty(&stream->fifo));
	KUNIT_EXPECT_EQ(test, stream->seen, 15ULL);
}

/* What can never fit is still told of. */
static void esm_test_packet_larger_than_queue(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);

	KUNIT_EXPECT_FALSE(test, esm_stream_add(stream, 9));
	KUNIT_EXPECT_FALSE(test, esm_fifo_empty(&stream->fifo));
	KUNIT_EXPECT_EQ(test, esm_stream_read(test, stream, 1, 1), 1U);
	KUNIT_EXPECT_EQ(test, stream->read[0].value, 9);
	KUNIT_EXPECT_EQ(test, stream->read[0].kernel_ns, 0ULL);
	KUNIT_EXPECT_TRUE(test, esm_fifo_empty(&stream->fifo));
}

static void esm_test_loss_saturates(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 8);

	esm_stream_add(stream, 8);
	esm_stream_add(stream, 1);
	stream->fifo.lost = S32_MAX - 1;
	esm_stream_add(stream, 3);
	KUNIT_EXPECT_EQ(test, esm_fifo_peek(&stream->fifo, stream->read, 64), 9U);
	KUNIT_EXPECT_EQ(test, stream->read[8].value, S32_MAX);
	KUNIT_EXPECT_EQ(test, stream->fifo.lost_ever, 4ULL);
}

/* Writers and readers of all sizes in any order: every event is accounted for, in order. */
static void esm_test_random(struct kunit *test)
{
	struct esm_stream *stream = esm_stream(test, 29);
	struct rnd_state random;
	unsigned int step;

	prandom_seed_state(&random, 1);
	for (step = 0; step < 200000; step++) {
		u32 draw = prandom_u32_state(&random);
		unsigned int size = 1 + (draw >> 8) % 32;

		if (draw & 1)
			esm_stream_add(stream, size);
		else
			esm_stream_read(test, stream, size, (draw >> 16) % 33);
	}
	while (esm_stream_read(test, stream, 64, 64))
		;

	KUNIT_EXPECT_TRUE(test, esm_fifo_empty(&stream->fifo));
	KUNIT_EXPECT_EQ(test, stream->seen, stream->added);
	KUNIT_EXPECT_GT(test, stream->fifo.lost_ever, stream->added / 10);
	KUNIT_EXPECT_LT(test, stream->fifo.lost_ever, stream->added);
}

static struct kunit_case esm_fifo_cases[] = {
	KUNIT_CASE(esm_test_order),
	KUNIT_CASE(esm_test_packet),
	KUNIT_CASE(esm_test_overflow_has_its_place),
	KUNIT_CASE(esm_test_peeked_stays),
	KUNIT_CASE(esm_test_packet_larger_than_queue),
	KUNIT_CASE(esm_test_loss_saturates),
	KUNIT_CASE(esm_test_random),
	{}
};

static struct kunit_suite esm_fifo_suite = {
	.name = "lull-esm-fifo",
	.test_cases = esm_fifo_cases,
};

kunit_test_suite(esm_fifo_suite);
