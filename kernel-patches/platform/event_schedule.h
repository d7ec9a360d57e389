/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_EVENT_SCHEDULE_H
#define _LULL_EVENT_SCHEDULE_H

#include <linux/types.h>

/* What scripts/lull/schedule.py allows too. */
#define LULL_SCHEDULE_EVENTS_MAX	262144U
#define LULL_SCHEDULE_TEXT_MAX		(16U << 20)
#define LULL_SCHEDULE_LINE_MAX		127
#define LULL_SCHEDULE_TIME_MAX_US	(24ULL * 3600 * 1000000)

/**
 * struct lull_event - one event of the generator, and one packet of evdev
 * @time_ns: when, from the start of the schedule
 * @line: the line of the text it comes from
 * @type: EV_KEY or EV_REL
 * @code: which key, button or axis
 * @value: 1 and 0 press and release, otherwise a distance
 */
struct lull_event {
	u64 time_ns;
	u32 line;
	u16 type;
	u16 code;
	s32 value;
};

/**
 * struct lull_schedule - what the generator plays, in the order of time
 * @count: number of events, at least 1
 * @events: the events
 */
struct lull_schedule {
	unsigned int count;
	struct lull_event events[] __counted_by(count);
};

/**
 * struct lull_schedule_error - why a text was refused
 * @line: the line at fault, from 1
 * @reason: what is wrong with it, a constant
 */
struct lull_schedule_error {
	unsigned int line;
	const char *reason;
};

/* Keys of a keyboard and the two buttons of a mouse; axes and a wheel. */
bool lull_event_possible(unsigned int type, unsigned int code);

struct lull_schedule *lull_schedule_parse(const char *text, size_t size,
					  struct lull_schedule_error *error);
void lull_schedule_free(struct lull_schedule *schedule);

/**
 * struct lull_schedule_text - a text on its way in, in pieces of any size
 * @data: what has come so far
 * @used: how much
 * @size: room at @data
 */
struct lull_schedule_text {
	char *data;
	size_t used;
	size_t size;
};

int lull_schedule_text_add(struct lull_schedule_text *text, const char *piece,
			   u64 offset, size_t size);
void lull_schedule_text_drop(struct lull_schedule_text *text);

#if IS_ENABLED(CONFIG_KUNIT)
u64 lull_random(u64 *state);
u64 lull_exponential(u64 random);
#endif

#endif /* _LULL_EVENT_SCHEDULE_H */
