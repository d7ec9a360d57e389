// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of storage, predicted:
 *
 *   /sys/kernel/lull/anticipation/block         1: predict, 0: do not
 *   /sys/kernel/lull/anticipation/block_stats   root's: how well, and what was learned
 *
 * For each device a line is learned for reads and one for writes: latency against
 * size. When a driver gives a request to its device, the CPU that took the
 * device's last interrupt is made ready for this one's, and so is the CPU that
 * waits for the request. A device whose latencies are not a line, say because
 * requests queue up in it, is found out by its errors: it is learned from, and
 * not predicted, until its errors are small again.
 */
#include <linux/blk-mq.h>
#include <linux/jump_label.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "block.h"
#include "expect.h"
#include "lull.h"

#define LULL_BLOCK_DEVICES	4
/* Requests of a device that are watched at a time. */
#define LULL_BLOCK_SLOTS	16

/* A request that a device has. */
struct lull_block_slot {
	const struct request *request;
	struct wake_ahead_event event;
	u32 sectors;
};

/**
 * struct lull_block_device - a device and what was learned of it
 * @queue: the device, or NULL
 * @name: of its disk
 * @cpu: the CPU that took its last interrupt, or -1
 * @lines: of reads and of writes
 * @accuracy: likewise
 * @slots: requests, by their tags
 */
struct lull_block_device {
	const struct request_queue *queue;
	char name[DISK_NAME_LEN];
	int cpu;
	struct lull_line lines[2];
	struct wake_ahead_accuracy accuracy[2];
	struct lull_block_slot slots[LULL_BLOCK_SLOTS];
};

static struct lull_block_device lull_block_devices[LULL_BLOCK_DEVICES];
/* Protects the devices. */
static DEFINE_RAW_SPINLOCK(lull_block_lock);
static unsigned int lull_block_predicts = 1;

/* A disk that has gone leaves what was learned of it to the next of its name and place. */
static struct lull_block_device *lull_block_find(const struct request *request, bool make)
{
	const struct gendisk *disk = request->q->disk;
	struct lull_block_device *device;
	int i;

	lockdep_assert_held(&lull_block_lock);

	if (!disk)
		return NULL;
	for (i = 0; i < LULL_BLOCK_DEVICES; i++) {
		device = &lull_block_devices[i];
		if (device->queue == request->q && !strcmp(device->name, disk->disk_name))
			return device;
		if (device->queue && strcmp(device->name, disk->disk_name))
			continue;
		if (!make)
			continue;
		device->queue = request->q;
		strscpy(device->name, disk->disk_name, sizeof(device->name));
		device->cpu = -1;
		return device;
	}

	return NULL;
}

static bool lull_block_is_data(const struct request *request)
{
	return (req_op(request) == REQ_OP_READ || req_op(request) == REQ_OP_WRITE) &&
	       !(request->cmd_flags & REQ_POLLED) && request->tag >= 0;
}

/**
 * __lull_block_start - a driver gives a request to its device
 * @request: the request
 * @cpu: on which it was submitted, and is waited for
 */
void __lull_block_start(struct request *request, int cpu)
{
	struct lull_prediction prediction;
	struct lull_block_device *device;
	struct lull_block_slot *slot;
	bool known;

	if (!READ_ONCE(lull_block_predicts) || !lull_block_is_data(request))
		return;

	guard(raw_spinlock_irqsave)(&lull_block_lock);
	/* Pairs with lull_block_stop(), which may have been here meanwhile. */
	if (!static_key_enabled(&lull_ahead_on))
		return;
	device = lull_block_find(request, true);
	if (!device)
		return;

	slot = &device->slots[request->tag % LULL_BLOCK_SLOTS];
	slot->request = request;
	slot->sectors = blk_rq_sectors(request);
	slot->event.task.owner = device->name;
	slot->event.interrupt.owner = device->name;
	known = lull_line_predict(&device->lines[rq_data_dir(request)], slot->sectors,
				  &prediction);
	slot->event.what = 2 * slot->sectors + rq_data_dir(request);
	wake_ahead_expect(&slot->event, device->cpu, cpu, known ? &prediction : NULL);
}

/**
 * __lull_block_done - the device's interrupt says that a request is done
 * @request: the request
 */
void __lull_block_done(struct request *request)
{
	struct lull_block_device *device;
	struct lull_block_slot *slot;
	int write = rq_data_dir(request);
	u64 ns;

	if (!lull_block_is_data(request))
		return;

	guard(raw_spinlock_irqsave)(&lull_block_lock);
	device = lull_block_find(request, false);
	slot = device ? &device->slots[request->tag % LULL_BLOCK_SLOTS] : NULL;
	if (!slot || slot->request != request)
		return;

	slot->request = NULL;
	device->cpu = smp_processor_id();
	ns = wake_ahead_came(&slot->event, &device->accuracy[write]);
	lull_line_learn(&device->lines[write], slot->sectors, ns, slot->event.dated);
}

/*
 * lull_block_stop - the system has been switched off: forget the requests that devices have
 *
 * Their ends are not told of. A request that is begun later may be at the same address.
 */
void lull_block_stop(void)
{
	int device, slot;

	guard(raw_spinlock_irqsave)(&lull_block_lock);
	for (device = 0; device < LULL_BLOCK_DEVICES; device++)
		for (slot = 0; slot < LULL_BLOCK_SLOTS; slot++)
			lull_block_devices[device].slots[slot].request = NULL;
}

static LULL_NUMBER(block, lull_block_predicts, 0, 1);

static ssize_t lull_block_line(char *buf, ssize_t at, const struct lull_block_device *device,
			       int write)
{
	const struct wake_ahead_accuracy *accuracy = &device->accuracy[write];
	const struct lull_line *line = &device->lines[write];
	s64 ns_per_kib;
	u64 ns;

	lull_line_shape(line, &ns, &ns_per_kib);
	return sysfs_emit_at(buf, at,
			     "%s %s seen %llu predicted %llu hits %llu early %llu late %llu ns %llu ns_per_kib %lld error_ns %llu\n",
			     device->name, write ? "writes" : "reads", accuracy->seen,
			     accuracy->predicted, accuracy->hits, accuracy->early, accuracy->late,
			     ns, ns_per_kib, line->error_ns);
}

static ssize_t block_stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t length = 0;
	int i, write;

	for (i = 0; i < LULL_BLOCK_DEVICES; i++) {
		guard(raw_spinlock_irqsave)(&lull_block_lock);
		if (!lull_block_devices[i].queue)
			break;
		for (write = 0; write < 2; write++)
			length += lull_block_line(buf, length, &lull_block_devices[i], write);
	}

	return length;
}

static struct kobj_attribute block_stats_attr = __ATTR(block_stats, 0400, block_stats_show, NULL);

const struct attribute *const lull_block_attrs[] = {
	&lull_number_block.attr.attr,
	&block_stats_attr.attr,
	NULL
};
