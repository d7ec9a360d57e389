// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input device "lull-event": a keyboard, the buttons of a mouse, and what
 * moves. Each packet tells exactly when the hardware raised it:
 *
 *   time of the packet   CLOCK_MONOTONIC, which evdev cuts to microseconds
 *   MSC_SERIAL           number of the event in the schedule, from 1
 *   MSC_RAW              CLOCK_MONOTONIC in nanoseconds, low 32 bits
 *   MSC_TIMESTAMP        the wall clock's count, low 32 bits
 *
 * Latency is a later reading of the same clock minus this one, modulo 2^32.
 */
#include <linux/err.h>
#include <linux/input.h>

#include "event_input.h"
#include "event_schedule.h"
#include "wall_clock.h"

/*
 * evdev keeps eight packets of this size for each reader: room for 800 of our
 * events before a reader that sleeps too long loses some and is told so.
 */
#define LULL_PACKET_VALUES	512

/**
 * lull_event_input_create - register the input device
 * @parent: the device that raises its events
 *
 * Return: the input device, which lives as long as @parent, or an error pointer.
 */
struct input_dev *lull_event_input_create(struct device *parent)
{
	struct input_dev *input = devm_input_allocate_device(parent);
	unsigned int code;
	int error;

	if (!input)
		return ERR_PTR(-ENOMEM);

	input->name = "lull-event";
	input->phys = "lull-event/input0";
	input->id.bustype = BUS_HOST;
	for (code = 0; code < KEY_CNT; code++)
		if (lull_event_possible(EV_KEY, code))
			input_set_capability(input, EV_KEY, code);
	for (code = 0; code < REL_CNT; code++)
		if (lull_event_possible(EV_REL, code))
			input_set_capability(input, EV_REL, code);
	input_set_capability(input, EV_MSC, MSC_SERIAL);
	input_set_capability(input, EV_MSC, MSC_RAW);
	input_set_capability(input, EV_MSC, MSC_TIMESTAMP);
	input_set_events_per_packet(input, LULL_PACKET_VALUES);

	error = input_register_device(input);
	return error ? ERR_PTR(error) : input;
}

/**
 * lull_event_input_send - send one event to whoever reads the device
 * @input: the device
 * @event: the event
 * @serial: its number
 * @when: when the hardware raised it
 * @clock: a reading of the wall clock since then
 *
 * Context: any; one at a time.
 */
void lull_event_input_send(struct input_dev *input, const struct lull_event *event, u32 serial,
			   ktime_t when, const struct lull_clock_reading *clock)
{
	input_set_timestamp(input, when);
	input_event(input, EV_MSC, MSC_SERIAL, serial);
	input_event(input, EV_MSC, MSC_RAW, (u32)ktime_to_ns(when));
	if (clock->hz)
		input_event(input, EV_MSC, MSC_TIMESTAMP, (u32)lull_clock_count_at(clock, when));
	input_event(input, event->type, event->code, event->value);
	input_sync(input);
}
