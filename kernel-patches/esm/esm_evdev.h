/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ESM_EVDEV_H
#define _LULL_ESM_EVDEV_H

#include <linux/atomic.h>
#include <linux/types.h>

struct file;
struct input_dev;
struct input_value;

#ifdef CONFIG_LULL_ESM

/**
 * struct esm_reader - an open evdev file, as the Event Stream Model sees it
 * @streams: registrations that were made with it
 */
struct esm_reader {
	atomic_t streams;
};

struct esm_reader *evdev_stream_reader(struct file *file, struct input_dev **dev);

void esm_input_grabbed(struct esm_reader *reader, struct input_dev *dev,
		       const struct input_value *values, unsigned int count);
void esm_reader_revoked(struct esm_reader *reader);

/* Whether what the file would read is pushed to registered tasks instead. */
static inline bool esm_reader_streams(const struct esm_reader *reader)
{
	return unlikely(atomic_read(&reader->streams));
}

/* A packet that only this reader gets. */
static inline void esm_reader_grabbed(struct esm_reader *reader, struct input_dev *dev,
				      const struct input_value *values, unsigned int count)
{
	if (esm_reader_streams(reader))
		esm_input_grabbed(reader, dev, values, count);
}

#else

struct esm_reader {
};

static inline bool esm_reader_streams(const struct esm_reader *reader)
{
	return false;
}

static inline void esm_reader_grabbed(struct esm_reader *reader, struct input_dev *dev,
				      const struct input_value *values, unsigned int count)
{
}

static inline void esm_reader_revoked(struct esm_reader *reader)
{
}

#endif /* CONFIG_LULL_ESM */

#endif /* _LULL_ESM_EVDEV_H */
