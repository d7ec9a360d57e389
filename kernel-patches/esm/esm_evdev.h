/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ESM_EVDEV_H
#define _LULL_ESM_EVDEV_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct esm_source;
struct file;
struct input_dev;
struct input_value;

#ifdef CONFIG_LULL_ESM

/**
 * struct esm_reader - an open evdev file, as the Event Stream Model sees it
 * @streams: registrations that were made with it; changed under the device's event_lock
 */
struct esm_reader {
	unsigned int streams;
};

/**
 * struct esm_device - an evdev device, as the Event Stream Model sees it
 * @streams: registrations that were made with its files; changed under its event_lock
 * @source: where its packets go while there are any
 */
struct esm_device {
	unsigned int streams;
	struct esm_source *source;
};

struct esm_reader *evdev_stream_reader(struct file *file, struct input_dev **dev);
void evdev_stream_start(struct esm_reader *reader, struct esm_source *source);
void evdev_stream_stop(struct esm_reader *reader);

void esm_interpret(struct esm_source *source, const struct input_value *values,
		   unsigned int count, ktime_t hardware, const struct esm_reader *only);
void esm_reader_revoked(struct esm_reader *reader);

/* Whether what the file would read is pushed to registered tasks instead. */
static inline bool esm_reader_streams(const struct esm_reader *reader)
{
	return reader->streams;
}

/* Whether that is so for any file of a device. */
static inline bool esm_device_streams(const struct esm_device *device)
{
	return unlikely(device->streams);
}

/* A packet has come from a device that streams, for one reader alone if that has grabbed it. */
static inline void esm_device_events(const struct esm_device *device,
				     const struct esm_reader *grab,
				     const struct input_value *values, unsigned int count,
				     ktime_t hardware)
{
	if (!grab || esm_reader_streams(grab))
		esm_interpret(device->source, values, count, hardware, grab);
}

#else

struct esm_reader {
};

struct esm_device {
};

static inline bool esm_reader_streams(const struct esm_reader *reader)
{
	return false;
}

static inline bool esm_device_streams(const struct esm_device *device)
{
	return false;
}

static inline void esm_device_events(const struct esm_device *device,
				     const struct esm_reader *grab,
				     const struct input_value *values, unsigned int count,
				     ktime_t hardware)
{
}

static inline void esm_reader_revoked(struct esm_reader *reader)
{
}

#endif /* CONFIG_LULL_ESM */

#endif /* _LULL_ESM_EVDEV_H */
