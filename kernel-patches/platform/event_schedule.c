// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of a schedule, and the list of events that it stands for. A line is
 *
 *   TIME_US TYPE CODE VALUE
 *   periodic START_US PERIOD_US COUNT TYPE CODE VALUE
 *   poisson START_US MEAN_US COUNT SEED TYPE CODE VALUE
 *
 * or empty; # begins a comment. The last line is "end", without which a text
 * that was cut would pass. Recorded lines are in the order of time; periodic
 * and poisson lines are merged with them. A key in such a line is pressed and
 * released in turn. TYPE and CODE are evdev's numbers.
 *
 * All arithmetic is on integers, so that a seed means the same events in every
 * kernel and in scripts/lull/runspec/schedule.py.
 */
#include <kunit/visibility.h>
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/input-event-codes.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "event_schedule.h"

/* ln 2 in units of 2^-64. */
#define LULL_LN2	0xb17217f7d1cf79abULL

#define LULL_WORDS_MAX	8

enum lull_line_kind { LULL_LINE_EMPTY, LULL_LINE_END, LULL_LINE_ONE, LULL_LINE_PERIODIC,
		      LULL_LINE_POISSON };

/* A line as it was understood; what its kind has no word for is 0. */
struct lull_line {
	enum lull_line_kind kind;
	u64 start_us;
	u64 gap_us;
	u64 count;
	u64 seed;
	u16 type;
	u16 code;
	s32 value;
};

bool lull_event_possible(unsigned int type, unsigned int code)
{
	switch (type) {
	case EV_KEY:
		return (code >= KEY_ESC && code <= KEY_MICMUTE) ||
		       code == BTN_LEFT || code == BTN_RIGHT;
	case EV_REL:
		return code == REL_X || code == REL_Y || code == REL_WHEEL;
	default:
		return false;
	}
}

/* splitmix64, the generator of Vigna and Steele. */
VISIBLE_IF_KUNIT u64 lull_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/*
 * -ln(random / 2^64) in units of 2^-32: the distance to the next event of a
 * Poisson process of rate 1. The logarithm to base 2 comes bit by bit: each
 * squaring of a number between 1 and 2 moves one bit of its logarithm out.
 */
VISIBLE_IF_KUNIT u64 lull_exponential(u64 random)
{
	u64 fraction = 0, mantissa, minus_log2;
	unsigned int whole, i;

	random = max(random, 1ULL);
	whole = __fls(random);
	mantissa = random << (63 - whole);
	for (i = 0; i < 32; i++) {
		mantissa = mul_u64_u64_shr(mantissa, mantissa, 64);
		fraction <<= 1;
		if (mantissa >> 63)
			fraction |= 1;
		else
			mantissa <<= 1;
	}

	minus_log2 = ((u64)(64 - whole) << 32) - fraction;
	return mul_u64_u64_shr(minus_log2, LULL_LN2, 64);
}

static const char *lull_read_number(const char *word, u64 limit, u64 *number)
{
	/* kstrtoull() would take a sign. */
	if (!isdigit(*word) || kstrtoull(word, 10, number))
		return "not a number where one is needed";
	if (*number > limit)
		return "a number is too large";
	return NULL;
}

static const char *lull_read_event(char **words, struct lull_line *line)
{
	const char *reason;
	u64 type, code;

	reason = lull_read_number(words[0], U16_MAX, &type);
	if (!reason)
		reason = lull_read_number(words[1], U16_MAX, &code);
	if (reason)
		return reason;
	if (!lull_event_possible(type, code))
		return "the device has no such type and code";
	if (*words[2] == '+' || kstrtos32(words[2], 10, &line->value))
		return "the value is no number";
	if (type == EV_KEY && line->value != 1 &&
	    (line->value || line->kind != LULL_LINE_ONE))
		return "the value of a key is 1, or 0 in a line of its own";
	if (type == EV_REL && !line->value)
		return "a motion by 0 is no event";

	line->type = type;
	line->code = code;
	return NULL;
}

static const char *lull_read_words(char **words, unsigned int count, struct lull_line *line)
{
	const char *reason = NULL;
	unsigned int needed;

	if (count == 0)
		return NULL;
	if (count == 1 && !strcmp(words[0], "end")) {
		line->kind = LULL_LINE_END;
		return NULL;
	}

	if (!strcmp(words[0], "periodic")) {
		line->kind = LULL_LINE_PERIODIC;
		needed = 7;
	} else if (!strcmp(words[0], "poisson")) {
		line->kind = LULL_LINE_POISSON;
		needed = 8;
	} else {
		line->kind = LULL_LINE_ONE;
		needed = 4;
	}
	if (count != needed)
		return "the number of words is wrong";

	line->count = 1;
	if (line->kind == LULL_LINE_ONE) {
		reason = lull_read_number(words[0], LULL_SCHEDULE_TIME_MAX_US, &line->start_us);
		return reason ?: lull_read_event(words + 1, line);
	}

	reason = lull_read_number(words[1], LULL_SCHEDULE_TIME_MAX_US, &line->start_us);
	if (!reason)
		reason = lull_read_number(words[2], LULL_SCHEDULE_TIME_MAX_US, &line->gap_us);
	if (!reason)
		reason = lull_read_number(words[3], LULL_SCHEDULE_EVENTS_MAX, &line->count);
	if (!reason && line->kind == LULL_LINE_POISSON)
		reason = lull_read_number(words[4], U64_MAX, &line->seed);
	if (reason)
		return reason;
	if (!line->gap_us || !line->count)
		return "period, mean and count must not be 0";
	return lull_read_event(words + needed - 3, line);
}

static const char *lull_read_line(const char *text, size_t size, struct lull_line *line)
{
	char copy[LULL_SCHEDULE_LINE_MAX + 1], *words[LULL_WORDS_MAX], *rest, *word;
	unsigned int count = 0;

	memset(line, 0, sizeof(*line));
	if (size > LULL_SCHEDULE_LINE_MAX)
		return "the line is too long";
	if (memchr(text, '\0', size))
		return "not text";

	memcpy(copy, text, size);
	copy[size] = '\0';
	rest = copy;
	rest = strsep(&rest, "#");
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		if (count == LULL_WORDS_MAX)
			return "the number of words is wrong";
		words[count++] = word;
	}

	return lull_read_words(words, count, line);
}

/* The next line of a text, without its end. */
static bool lull_next_line(const char **text, size_t *left, const char **line, size_t *size)
{
	const char *stop;

	if (!*left)
		return false;
	*line = *text;
	stop = memchr(*text, '\n', *left);
	*size = stop ? stop - *text : *left;
	*left -= *size + !!stop;
	*text += *size + !!stop;
	return true;
}

/* Reads all lines for the first time, to know how many events there will be. */
static const char *lull_count_events(const char *text, size_t left, unsigned int *number,
				     unsigned int *events)
{
	struct lull_line line = {};
	const char *at, *reason;
	u64 recorded_us = 0;
	size_t size;

	*number = 0;
	*events = 0;
	while (lull_next_line(&text, &left, &at, &size)) {
		++*number;
		reason = lull_read_line(at, size, &line);
		if (reason)
			return reason;
		if (line.kind == LULL_LINE_END)
			break;
		if (line.kind == LULL_LINE_ONE) {
			if (line.start_us < recorded_us)
				return "time goes backwards";
			recorded_us = line.start_us;
		}
		if (line.count > LULL_SCHEDULE_EVENTS_MAX - *events)
			return "too many events";
		*events += line.count;
	}

	if (line.kind != LULL_LINE_END)
		return "there is no line that says end";
	if (left) {
		++*number;
		return "something follows the end";
	}
	return *events ? NULL : "there is no event";
}

/* Appends the events of a line. */
static const char *lull_expand(const struct lull_line *line, unsigned int number,
			       struct lull_event *event)
{
	u64 time_ns = line->start_us * NSEC_PER_USEC;
	u64 gap_ns = line->gap_us * NSEC_PER_USEC;
	u64 random = line->seed, pause_ns;
	u64 i;

	for (i = 0; i < line->count; i++) {
		if (line->kind == LULL_LINE_POISSON) {
			/* Never 0: events of a line stay in order. */
			pause_ns = mul_u64_u64_shr(gap_ns, lull_exponential(lull_random(&random)),
						   32);
			time_ns += max(pause_ns, 1ULL);
		} else if (i) {
			time_ns += gap_ns;
		}
		if (time_ns > LULL_SCHEDULE_TIME_MAX_US * NSEC_PER_USEC)
			return "it goes on for more than 24 hours";

		event[i].time_ns = time_ns;
		event[i].line = number;
		event[i].type = line->type;
		event[i].code = line->code;
		event[i].value = line->value;
		if (line->type == EV_KEY && line->kind != LULL_LINE_ONE)
			event[i].value = !(i & 1);
	}

	return NULL;
}

static int lull_event_order(const void *a, const void *b)
{
	const struct lull_event *first = a, *second = b;

	if (first->time_ns != second->time_ns)
		return first->time_ns < second->time_ns ? -1 : 1;
	if (first->line != second->line)
		return first->line < second->line ? -1 : 1;
	return 0;
}

static void lull_order(struct lull_schedule *schedule)
{
	unsigned int i;

	for (i = 1; i < schedule->count; i++) {
		if (lull_event_order(&schedule->events[i - 1], &schedule->events[i]) > 0) {
			sort(schedule->events, schedule->count, sizeof(schedule->events[0]),
			     lull_event_order, NULL);
			return;
		}
	}
}

/* The input core swallows a key that is pressed twice, and we lose no event. */
static const char *lull_check_keys(const struct lull_schedule *schedule, unsigned int *number)
{
	DECLARE_BITMAP(pressed, KEY_CNT) = {};
	const struct lull_event *event;
	unsigned int i;

	for (i = 0; i < schedule->count; i++) {
		event = &schedule->events[i];
		if (event->type != EV_KEY)
			continue;
		if (test_bit(event->code, pressed) == event->value) {
			*number = event->line;
			return event->value ? "the key is pressed already" :
					      "the key is not pressed";
		}
		__assign_bit(event->code, pressed, event->value);
	}

	return NULL;
}

/**
 * lull_schedule_parse - the events of a text
 * @text: the text
 * @size: its length
 * @error: where the first fault is told
 *
 * Return: a schedule, for lull_schedule_free(); or -EINVAL, with @error set, or
 * -ENOMEM as an error pointer.
 */
struct lull_schedule *lull_schedule_parse(const char *text, size_t size,
					  struct lull_schedule_error *error)
{
	struct lull_schedule *schedule;
	unsigned int events, number, used = 0;
	size_t left = size, length;
	struct lull_line line;
	const char *reason, *at;

	reason = lull_count_events(text, size, &error->line, &events);
	if (reason) {
		error->reason = reason;
		return ERR_PTR(-EINVAL);
	}

	schedule = kvzalloc(struct_size(schedule, events, events), GFP_KERNEL);
	if (!schedule)
		return ERR_PTR(-ENOMEM);
	schedule->count = events;

	for (number = 1; used < events && lull_next_line(&text, &left, &at, &length); number++) {
		/* Was understood before. */
		lull_read_line(at, length, &line);
		reason = lull_expand(&line, number, &schedule->events[used]);
		if (reason)
			break;
		used += line.count;
	}
	error->line = number;
	if (!reason) {
		lull_order(schedule);
		reason = lull_check_keys(schedule, &error->line);
	}
	if (reason) {
		error->reason = reason;
		lull_schedule_free(schedule);
		return ERR_PTR(-EINVAL);
	}

	return schedule;
}

void lull_schedule_free(struct lull_schedule *schedule)
{
	kvfree(schedule);
}

static bool lull_schedule_text_ends(const struct lull_schedule_text *text, size_t from)
{
	size_t i;

	for (i = from; i + 4 <= text->used; i++)
		if ((!i || text->data[i - 1] == '\n') && !memcmp(text->data + i, "end\n", 4))
			return true;

	return false;
}

/**
 * lull_schedule_text_add - take the next piece of a text
 * @text: what came before
 * @piece: the piece
 * @offset: where it belongs; 0 begins a new text
 * @size: its length
 *
 * Return: 1 if the text has its end, 0 if it has not, -EINVAL for a piece that
 * does not follow the last one, -EFBIG, -ENOMEM. After an error the text is
 * dropped.
 */
int lull_schedule_text_add(struct lull_schedule_text *text, const char *piece,
			   u64 offset, size_t size)
{
	size_t before, room;
	char *data;

	if (!offset)
		lull_schedule_text_drop(text);
	if (offset != text->used) {
		lull_schedule_text_drop(text);
		return -EINVAL;
	}
	if (size > LULL_SCHEDULE_TEXT_MAX - text->used) {
		lull_schedule_text_drop(text);
		return -EFBIG;
	}

	if (text->used + size > text->size) {
		room = max(2 * text->size, text->used + size);
		data = kvmalloc(room, GFP_KERNEL);
		if (!data) {
			lull_schedule_text_drop(text);
			return -ENOMEM;
		}
		if (text->used)
			memcpy(data, text->data, text->used);
		kvfree(text->data);
		text->data = data;
		text->size = room;
	}
	memcpy(text->data + text->used, piece, size);
	before = text->used;
	text->used += size;

	/* The last line may have come in two pieces. */
	return lull_schedule_text_ends(text, before < 4 ? 0 : before - 4);
}

void lull_schedule_text_drop(struct lull_schedule_text *text)
{
	kvfree(text->data);
	memset(text, 0, sizeof(*text));
}
