// SPDX-License-Identifier: BSD-3-Clause
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/input-event-codes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "events.h"
#include "random.h"
#include "sysfs.h"

#define SECOND_US 1000000
/* A finger stays on a key for at most so long, or half the interval if that is shorter. */
#define HOLD_US 80000
#define WARM_UP 3
#define MAX_EVENTS (1 << 18)

struct planned {
	uint64_t time_us;
	uint16_t type, code;
	int32_t value;
};

static struct planned all[MAX_EVENTS];
static unsigned int count;

static int add(uint64_t time_us, uint16_t type, uint16_t code, int32_t value)
{
	if (count == MAX_EVENTS)
		return -E2BIG;
	all[count++] = (struct planned){time_us, type, code, value};
	return 0;
}

static int add_tap(uint64_t time_us, uint64_t hold_us, uint16_t code)
{
	int error = add(time_us, EV_KEY, code, 1);

	return error ? error : add(time_us + hold_us, EV_KEY, code, 0);
}

static uint64_t next_look(uint64_t us, const struct places *places)
{
	return (us + places->look_us - 1) / places->look_us * places->look_us;
}

/* Each kind has numbers of its own: one more of one kind does not move the others. */
enum kind { KEYS, CLICKS, MOVES };

static int add_one(enum kind kind, uint64_t start_us, uint64_t interval_us,
		   const struct places *places, uint64_t *numbers)
{
	uint64_t hold_us = interval_us / 2 < HOLD_US ? interval_us / 2 : HOLD_US;
	uint64_t room_us = kind == MOVES ? interval_us : interval_us - hold_us;
	uint64_t at_us = start_us + next_random(numbers) % room_us;

	if (kind != MOVES)
		hold_us -= next_random(numbers) % (hold_us / 2);
	if (!places->random) {
		at_us = next_look(start_us, places) + places->after_us;
		hold_us = next_look(hold_us, places);
	}
	if (kind == KEYS)
		return add_tap(at_us, hold_us, (uint16_t)(KEY_1 + next_random(numbers) % 10));
	if (kind == CLICKS)
		return add_tap(at_us, hold_us, BTN_LEFT);
	return add(at_us, EV_REL, next_random(numbers) % 2 ? REL_X : REL_Y, 1);
}

/* `rate` per `period_us`. */
static int add_kind(enum kind kind, uint64_t rate, uint64_t period_us, const struct times *times,
		    const struct places *places, uint64_t seed)
{
	uint64_t length_us = times->window_us * times->windows, numbers = 0;
	uint64_t window = UINT64_MAX;
	int error = 0;

	for (uint64_t i = 0; rate && !error && i * period_us / rate < length_us; i++) {
		uint64_t start_us = i * period_us / rate;

		if (start_us / times->window_us != window) {
			window = start_us / times->window_us;
			numbers = (seed + window) ^ (uint64_t)kind << 32;
		}
		error = add_one(kind, times->settle_us + start_us,
				(i + 1) * period_us / rate - start_us, places, &numbers);
	}
	return error;
}

static int earlier(const void *a, const void *b)
{
	const struct planned *first = a, *second = b;

	return (first->time_us > second->time_us) - (first->time_us < second->time_us);
}

static int load(void)
{
	int fd = open(EVENTS_DIR "schedule", O_WRONLY | O_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return -errno;
	for (const struct planned *event = all; event < all + count; event++)
		fprintf(out, "%" PRIu64 " %d %d %d\n", event->time_us, event->type, event->code,
			event->value);
	fputs("end\n", out);
	return fclose(out) ? -errno : 0;
}

int plan_load(const struct rates *rates, const struct times *times, const struct places *places,
	      uint64_t seed)
{
	int error = add_kind(KEYS, rates->keys_per_minute, 60 * SECOND_US, times, places, seed);

	if (!error)
		error = add_kind(CLICKS, rates->clicks_per_second, SECOND_US, times, places, seed);
	if (!error)
		error = add_kind(MOVES, rates->moves_per_second, SECOND_US, times, places, seed);
	if (error || !count)
		return error;
	for (uint64_t i = 0; !error && i < WARM_UP; i++)
		error = add_tap(times->settle_us * (i + 1) / (2 * WARM_UP),
				times->settle_us / (4 * WARM_UP), KEY_ENTER);
	if (error)
		return error;
	qsort(all, count, sizeof(*all), earlier);
	error = load();
	return error ? error : (int)count;
}

unsigned int plan_windowed(const struct times *times, bool only_keys)
{
	uint64_t begin_us = times->settle_us;
	uint64_t end_us = begin_us + times->window_us * times->windows;
	unsigned int found = 0;

	/* A release may come after the last of them. */
	for (const struct planned *event = all; event < all + count; event++)
		found += event->time_us >= begin_us && event->time_us < end_us &&
			 (event->type == EV_KEY || !only_keys);
	return found;
}

int plan_play(bool on)
{
	return count ? write_text(EVENTS_DIR "enabled", on ? "1" : "0") : 0;
}
