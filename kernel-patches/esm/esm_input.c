// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input devices as sources. While the system is on, every device that evdev
 * takes has a handle of ours too; it is open while somebody is registered.
 *
 * A packet comes one way. While there are registrations that were made with
 * files, evdev passes it on to all, because it alone knows whether a file has
 * grabbed the device; there is an open file then, so evdev gets every packet.
 * Otherwise it comes through our handle, which the input core leaves out while
 * another has grabbed the device.
 */
#include <linux/err.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "esm.h"

struct esm_input {
	struct input_handle handle;
	struct esm_source source;
};

static unsigned int esm_input_events(struct input_handle *handle, struct input_value *values,
				     unsigned int count)
{
	struct esm_input *input = container_of(handle, struct esm_input, handle);

	if (!input->source.files)
		esm_interpret(&input->source, values, count,
			      input_get_timestamp(handle->dev)[INPUT_CLK_MONO], NULL);
	return count;
}

/* The interrupt of the platform device that an input device belongs to. */
static unsigned int esm_input_irq(const struct input_dev *dev)
{
	struct device *parent = dev->dev.parent;
	int irq;

	if (!parent || !dev_is_platform(parent))
		return 0;
	irq = platform_get_irq_optional(to_platform_device(parent), 0);

	return irq > 0 ? irq : 0;
}

static int esm_input_connect(struct input_handler *handler, struct input_dev *dev,
			     const struct input_device_id *id)
{
	struct esm_input *input;
	int error;

	input = kzalloc(sizeof(*input), GFP_KERNEL);
	if (!input)
		return -ENOMEM;

	input->handle.dev = input_get_device(dev);
	input->handle.name = "esm";
	input->handle.handler = handler;
	error = input_register_handle(&input->handle);
	if (error) {
		input_put_device(dev);
		kfree(input);
		return error;
	}

	input->source.name = dev->name ?: "";
	input->source.irq = esm_input_irq(dev);
	input->source.handle = &input->handle;
	mutex_lock(&esm_mutex);
	esm_source_add(&input->source);
	mutex_unlock(&esm_mutex);

	return 0;
}

static void esm_input_disconnect(struct input_handle *handle)
{
	struct esm_input *input = container_of(handle, struct esm_input, handle);

	mutex_lock(&esm_mutex);
	esm_source_remove(&input->source);
	mutex_unlock(&esm_mutex);

	/* Waits until no interrupt looks at it any more. */
	input_unregister_handle(handle);
	input_put_device(handle->dev);
	kfree(input);
}

static const struct input_device_id esm_input_ids[] = {
	{ .driver_info = 1 },	/* all devices, as evdev */
	{ },
};

static struct input_handler esm_input_handler = {
	.name = "esm",
	.events = esm_input_events,
	.connect = esm_input_connect,
	.disconnect = esm_input_disconnect,
	.id_table = esm_input_ids,
};

/**
 * esm_input_register - take all input devices, and those that come later
 *
 * Return: 0 or the input core's error.
 */
int esm_input_register(void)
{
	return input_register_handler(&esm_input_handler);
}

/**
 * esm_input_unregister - let go of all input devices
 */
void esm_input_unregister(void)
{
	input_unregister_handler(&esm_input_handler);
}
