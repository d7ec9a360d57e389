/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a driver that is not an input device.
 *
 *	source = esm_source_create("doorbell", irq);
 *	...
 *	esm_source_push(source, values, ARRAY_SIZE(values), when);	in its interrupt
 *	...
 *	esm_source_destroy(source);
 */
#ifndef _LULL_ESM_SOURCE_H
#define _LULL_ESM_SOURCE_H

#include <linux/input.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct esm_source;

struct esm_source *esm_source_create(const char *name, unsigned int irq);
void esm_source_destroy(struct esm_source *source);
void esm_source_push(struct esm_source *source, const struct input_value *values,
		     unsigned int count, ktime_t hardware);

#endif /* _LULL_ESM_SOURCE_H */
