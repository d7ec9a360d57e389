// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Event Stream Model: its switch, and the calls to register and to wait.
 *
 *   /sys/kernel/lull/esm/enabled   0 or 1, 0 after boot
 *   /sys/kernel/lull/esm/fifo      events that the queue of an application has
 *                                  room for, if it registers from now on
 *   /sys/kernel/lull/esm/sources   number, interrupt, packets so far and name
 */
#define pr_fmt(fmt) "lull: esm: " fmt

#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/syscalls.h>
#include <linux/sysfs.h>
#include <linux/time.h>
#include <linux/uaccess.h>

#include "esm.h"
#include "esm_stats.h"
#include "esm_task.h"
#include "lull.h"

#define CREATE_TRACE_POINTS
#include "esm_trace.h"

static_assert(sizeof(struct esm_registration) == ESM_REGISTRATION_SIZE_VER0);
static_assert(sizeof(struct esm_event) == ESM_EVENT_SIZE_VER0);

DEFINE_MUTEX(esm_mutex); /* see esm.h */
bool esm_on;
unsigned int esm_fifo_size = 256;
DEFINE_PER_CPU(struct esm_stats, esm_stats);

/* Events that are copied at a time: as many as the stack is good for. */
#define ESM_COPY 8

static int esm_registration_check(const struct esm_registration *what)
{
	if (what->reserved)
		return -EINVAL;
	if (what->fd == -1 ? !what->source : what->source)
		return -EINVAL;
	if (what->type == ESM_ANY)
		return what->code == ESM_ANY ? 0 : -EINVAL;
	if (what->type >= EV_CNT)
		return -EINVAL;
	/* The end of a packet is told by ESM_EVENT_LAST. */
	if (what->type == EV_SYN && what->code == SYN_REPORT)
		return -EINVAL;

	return 0;
}

/* What a registration is about: a file that reads a device, or a number. */
static struct esm_source *esm_registration_source(const struct esm_registration *what,
						  struct file *file, struct esm_reader **reader)
{
	struct input_dev *dev;

	if (!file) {
		*reader = NULL;
		return esm_source_by_number(what->source) ?: ERR_PTR(-ENODEV);
	}

	*reader = evdev_stream_reader(file, &dev);
	if (IS_ERR(*reader))
		return ERR_CAST(*reader);
	return esm_source_by_device(dev) ?: ERR_PTR(-ENODEV);
}

/*
 * Whether a registration would be taken, before anything is made for it: a task
 * that registers in vain is no application, not even for a moment. One by number
 * keeps its source, and the source's device open, until it is made.
 */
static int esm_registration_look(const struct esm_registration *what, struct file *file,
				 struct esm_source **reserved)
{
	struct esm_reader *reader;
	struct esm_source *source;
	int error;

	guard(mutex)(&esm_mutex);

	if (!esm_on)
		return -EOPNOTSUPP;
	source = esm_registration_source(what, file, &reader);
	if (IS_ERR(source))
		return PTR_ERR(source);
	error = esm_may_subscribe(current->esm, task_tgid(current), source,
				  esm_key(what->type, what->code));
	if (error || file)
		return error;

	esm_source_reserve(source);
	*reserved = source;
	return 0;
}

/* Everything may have changed since it was looked at. */
static int esm_registration_apply(const struct esm_registration *what, struct file *file,
				  struct esm_subscription **spare)
{
	struct esm_match now = {
		.key = esm_key(what->type, what->code),
		.handler = what->handler,
		.file = file,
	};
	struct esm_source *source;

	guard(mutex)(&esm_mutex);

	if (!esm_on)
		return -EOPNOTSUPP;
	source = esm_registration_source(what, file, &now.reader);
	if (IS_ERR(source))
		return PTR_ERR(source);

	return esm_subscribe(current->esm, source, spare, &now);
}

static int esm_registration_make(const struct esm_registration *what, struct file *file)
{
	struct esm_subscription *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	int error;

	if (!spare)
		return -ENOMEM;
	error = current->esm ? 0 : esm_application_create();
	if (!error)
		error = esm_registration_apply(what, file, &spare);
	kfree(spare);

	return error;
}

static int esm_registration_add(const struct esm_registration *what, struct file *file)
{
	struct esm_source *reserved = NULL;
	int error;

	error = esm_registration_look(what, file, &reserved);
	if (!error && reserved && reserved->handle)
		error = esm_input_open(reserved);
	if (!error)
		error = esm_registration_make(what, file);
	if (reserved) {
		scoped_guard(mutex, &esm_mutex)
			esm_source_release(reserved);
		esm_source_put(reserved);
	}

	return error;
}

static int esm_registration_remove(const struct esm_registration *what, struct file *file)
{
	struct esm_reader *reader;
	struct esm_source *source;

	guard(mutex)(&esm_mutex);

	if (!esm_on)
		return -EOPNOTSUPP;
	source = esm_registration_source(what, file, &reader);
	if (IS_ERR(source))
		return PTR_ERR(source);
	if (!current->esm)
		return -ENOENT;

	return esm_unsubscribe(current->esm, source, esm_key(what->type, what->code));
}

/**
 * sys_esm_register - say what is to be done with an event, or nothing any more
 * @what: the event, its source and the handler
 * @size: of @what, as the program knows it
 * @flags: 0
 */
SYSCALL_DEFINE3(esm_register, const struct esm_registration __user *, what, size_t, size,
		unsigned int, flags)
{
	struct esm_registration registration;
	struct file *file = NULL;
	int error;

	if (flags || size < ESM_REGISTRATION_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	error = copy_struct_from_user(&registration, sizeof(registration), what, size);
	if (!error)
		error = esm_registration_check(&registration);
	if (error)
		return error;
	if (!READ_ONCE(esm_on))
		return -EOPNOTSUPP;

	if (registration.fd != -1) {
		file = fget(registration.fd);
		if (!file)
			return -EBADF;
		/* To be pushed events is to read them. */
		if (registration.handler)
			error = security_file_permission(file, MAY_READ);
	} else if (registration.handler && !capable(CAP_SYS_ADMIN)) {
		return -EPERM;
	}

	if (!error)
		error = registration.handler ? esm_registration_add(&registration, file) :
					       esm_registration_remove(&registration, file);
	if (file)
		fput(file);
	if (current->esm && esm_application_idle(current->esm))
		esm_application_end();

	return error;
}

static bool esm_copy_event(void __user *to, const struct esm_event *event, size_t size)
{
	size_t known = min(size, sizeof(*event));

	return !copy_to_user(to, event, known) && !clear_user(to + known, size - known);
}

/* Events leave the queue once they have been copied. */
static long esm_deliver(struct esm_application *application, void __user *events, size_t size,
			unsigned int count)
{
	struct esm_event some[ESM_COPY];
	unsigned int peeked, copied;
	long delivered = 0;

	do {
		peeked = esm_application_peek(application, some,
					      min_t(long, count - delivered, ESM_COPY));
		for (copied = 0; copied < peeked; copied++, delivered++)
			if (!esm_copy_event(events + delivered * size, &some[copied], size))
				break;
		esm_application_drop(application, copied);
	} while (copied == ESM_COPY);

	if (!delivered)
		return -EFAULT;
	esm_count(ESM_DELIVERED, delivered);
	trace_esm_deliver(task_pid_nr(current), delivered);
	return delivered;
}

/* A time that is no time is refused; one of long ago is one. */
static int esm_until(const struct __kernel_timespec __user *until, ktime_t *end)
{
	struct timespec64 time;

	if (get_timespec64(&time, until))
		return -EFAULT;
	if (!timespec64_valid(&time))
		return -EINVAL;
	*end = timespec64_to_ktime(time);

	return 0;
}

/**
 * sys_esm_wait - wait for events
 * @events: where to put them
 * @event_size: of one of them, as the program knows it
 * @count: how many there is room for
 * @flags: of ESM_WAIT_*
 * @until: when to give up, with ESM_WAIT_UNTIL
 *
 * Return: how many events there were, at least one.
 */
SYSCALL_DEFINE5(esm_wait, struct esm_event __user *, events, size_t, event_size,
		unsigned int, count, unsigned int, flags,
		const struct __kernel_timespec __user *, until)
{
	struct esm_application *application = current->esm;
	ktime_t end, *at = NULL;
	int error;

	if (flags & ~(ESM_WAIT_NONBLOCK | ESM_WAIT_UNTIL) || !count ||
	    event_size < ESM_EVENT_SIZE_VER0)
		return -EINVAL;
	if (event_size > PAGE_SIZE)
		return -E2BIG;
	if (!access_ok(events, count * event_size))
		return -EFAULT;

	if (flags & ESM_WAIT_UNTIL) {
		error = esm_until(until, &end);
		if (error)
			return error;
		at = &end;
	}

	error = -ENODEV;
	if (application && READ_ONCE(esm_on))
		error = esm_application_wait(application, !(flags & ESM_WAIT_NONBLOCK), at);
	if (!error)
		return esm_deliver(application, events, event_size, count);

	if (!READ_ONCE(esm_on))
		error = -EOPNOTSUPP;
	if (application && (error == -ENODEV || error == -EOPNOTSUPP))
		esm_application_end();
	return error;
}

/* Whoever waits is woken, because its registrations end. */
static void esm_stop(void)
{
	struct esm_source *source;

	guard(mutex)(&esm_mutex);

	WRITE_ONCE(esm_on, false);
	list_for_each_entry(source, &esm_sources, node)
		esm_source_silence(source);
}

static int esm_enable(struct lull_system *system)
{
	int error;

	scoped_guard(mutex, &esm_mutex)
		WRITE_ONCE(esm_on, true);

	error = esm_input_register();
	if (error)
		esm_stop();

	return error;
}

static int esm_disable(struct lull_system *system)
{
	esm_stop();
	esm_input_unregister();
	return 0;
}

static struct lull_system esm_system = {
	.name = "esm",
	.enable = esm_enable,
	.disable = esm_disable,
};

static LULL_NUMBER(fifo, esm_fifo_size, ESM_FIFO_MIN, ESM_FIFO_MAX);

/* Whoever makes a device chooses its name, which must not pass for another line. */
static ssize_t esm_name_emit_at(char *buf, ssize_t length, const char *name)
{
	int room = PAGE_SIZE - 1 - length;

	return min(room, string_escape_mem(name, strlen(name), buf + length, room,
					   LULL_ESCAPES, "\\"));
}

static ssize_t sources_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct esm_source *source;
	ssize_t length = 0, before;

	mutex_lock(&esm_mutex);
	list_for_each_entry(source, &esm_sources, node) {
		before = length;
		length += sysfs_emit_at(buf, length, "%u %u %llu ", source->number, source->irq,
					READ_ONCE(source->packets));
		length += esm_name_emit_at(buf, length, source->name);
		length += sysfs_emit_at(buf, length, "\n");
		/* A line that does not fit as a whole is left out, and so are those after it. */
		if (length >= PAGE_SIZE - 1) {
			length = before;
			break;
		}
	}
	mutex_unlock(&esm_mutex);

	return length;
}

/* The count of packets tells when a user types, which is nobody else's business. */
static struct kobj_attribute sources_attr = __ATTR_RO_MODE(sources, 0400);

static const struct attribute *const esm_attrs[] = {
	&esm_dispatch_attr.attr,
	&esm_dispatcher_cpus_attr.attr,
	&lull_number_fifo.attr.attr,
	&sources_attr.attr,
	&esm_foreground_attr.attr,
	NULL
};

static int __init esm_init(void)
{
	int error;

	esm_dispatch_init();
	error = lull_register_system(&esm_system);
	if (error)
		return error;
	esm_debug_init();
	error = sysfs_create_files(esm_system.kobj, esm_attrs);
	if (error)
		lull_unregister_system(&esm_system);

	return error;
}
late_initcall(esm_init);
