// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input devices as sources. While the system is on, every device that evdev
 * takes has a handle of ours too. It is open while somebody is registered by
 * number: who registers with a file has the device open by that.
 *
 * A packet comes one way. While there are registrations that were made with
 * files, evdev passes it on to all, because it alone knows whether a file has
 * grabbed the device; there is an open file then, so evdev gets every packet.
 * Otherwise it comes through our handle, which the input core leaves out while
 * another has grabbed the device.
 *
 * To open a device is to run its driver, and to close it takes a grace period.
 * So who registers opens it before esm_mutex is taken, and a work item closes
 * it when the last one is gone: neither makes anybody else wait.
 */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/irqdomain.h>
#include <linux/of_irq.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "esm.h"

/**
 * struct esm_input - an input device
 * @handle: ours
 * @source: what it is for applications
 * @lock: protects @open and @gone, while drivers open and close. As evdev's, it
 * is taken when a device goes away, but not when one comes
 * @open: whether @handle is open
 * @gone: whether the device is going away
 * @close: looks whether @handle is open in vain
 */
struct esm_input {
	struct input_handle handle;
	struct esm_source source;
	struct mutex lock; /* see above */
	bool open;
	bool gone;
	struct work_struct close;
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

static void esm_input_close_work(struct work_struct *work)
{
	struct esm_input *input = container_of(work, struct esm_input, close);

	scoped_guard(mutex, &input->lock) {
		/* Somebody may have registered since, and counts on its being open. */
		if (input->open && !READ_ONCE(input->source.numbered)) {
			input_close_device(&input->handle);
			input->open = false;
		}
	}
	esm_source_put(&input->source);
}

/**
 * esm_input_open - make an input device send its packets
 * @source: the device, reserved
 *
 * Return: 0, -ENODEV if the device is going away, or the device's error.
 */
int esm_input_open(struct esm_source *source)
{
	struct esm_input *input = container_of(source, struct esm_input, source);
	int error = 0;

	guard(mutex)(&input->lock);

	if (input->gone)
		return -ENODEV;
	if (!input->open)
		error = input_open_device(&input->handle);
	if (!error)
		input->open = true;

	return error;
}

/**
 * esm_input_close - nobody needs an input device's packets by number any more
 * @source: the device
 */
void esm_input_close(struct esm_source *source)
{
	struct esm_input *input = container_of(source, struct esm_input, source);

	lockdep_assert_held(&esm_mutex);

	kref_get(&source->ref);
	/* Not on this CPU, which may be the shadow. */
	if (!queue_work(system_unbound_wq, &input->close))
		esm_source_put(source);
}

/**
 * esm_input_free - nobody knows an input device any more
 * @ref: its source's
 */
void esm_input_free(struct kref *ref)
{
	kfree(container_of(ref, struct esm_input, source.ref));
}

/*
 * The interrupt of the platform device that an input device belongs to, if it
 * has one alone: of several nobody knows which brings events. Its driver has
 * mapped it, or else does not use it; here nothing is mapped.
 */
static unsigned int esm_input_irq(const struct input_dev *dev)
{
	struct device *parent = dev->dev.parent;
	struct of_phandle_args args;
	struct irq_domain *domain;
	struct irq_fwspec fwspec;
	irq_hw_number_t hwirq;
	unsigned int type;

	if (!parent || !dev_is_platform(parent) || of_irq_count(parent->of_node) != 1)
		return 0;
	if (of_irq_parse_one(parent->of_node, 0, &args))
		return 0;

	of_phandle_args_to_fwspec(args.np, args.args, args.args_count, &fwspec);
	of_node_put(args.np);
	domain = irq_find_matching_fwspec(&fwspec, DOMAIN_BUS_WIRED) ?:
		 irq_find_matching_fwspec(&fwspec, DOMAIN_BUS_ANY);
	if (!domain || !domain->ops->translate ||
	    domain->ops->translate(domain, &fwspec, &hwirq, &type))
		return 0;

	return irq_find_mapping(domain, hwirq);
}

static int esm_input_connect(struct input_handler *handler, struct input_dev *dev,
			     const struct input_device_id *id)
{
	struct esm_input *input;
	int error;

	input = kzalloc(sizeof(*input), GFP_KERNEL);
	if (!input)
		return -ENOMEM;

	mutex_init(&input->lock);
	INIT_WORK(&input->close, esm_input_close_work);
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

	scoped_guard(mutex, &input->lock) {
		input->gone = true;
		if (input->open)
			input_close_device(handle);
		input->open = false;
	}

	/* Waits until no interrupt looks at it any more. */
	input_unregister_handle(handle);
	input_put_device(handle->dev);
	esm_source_put(&input->source);
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
