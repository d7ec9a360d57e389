/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_EVENT_INPUT_H
#define _LULL_EVENT_INPUT_H

#include <linux/ktime.h>
#include <linux/types.h>

struct device;
struct input_dev;
struct lull_clock_reading;
struct lull_event;

struct input_dev *lull_event_input_create(struct device *parent);
void lull_event_input_send(struct input_dev *input, const struct lull_event *event, u32 serial,
			   ktime_t when, const struct lull_clock_reading *clock);

#endif /* _LULL_EVENT_INPUT_H */
