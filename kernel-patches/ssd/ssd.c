// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk in memory whose requests take as long as those of a drive:
 *
 *   /dev/lull-ssd                     the disk, while the system is on
 *   /sys/kernel/lull/ssd/model        which drive, of those of the device tree
 *   /sys/kernel/lull/ssd/size_mib     how large
 *   /sys/kernel/lull/ssd/seed         of the spread of times
 *   /sys/kernel/lull/ssd/stats        root's: requests and bytes since boot
 *
 * The bytes are copied when a request comes, which is the CPU's work; a real
 * drive copies by itself. The time of the request runs meanwhile. An event
 * timer of the platform interrupts when the request that is done first is done,
 * and its handler completes all that are done by then.
 */
#include <linux/blk-mq.h>
#include <linux/cleanup.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mod_devicetable.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timerqueue.h>
#include <linux/vmalloc.h>

#include "event_source.h"
#include "lull.h"
#include "ssd_model.h"

#define LULL_SSD_MODELS		8
#define LULL_SSD_MOST_MIB	512
#define LULL_SSD_MOST_SEED	1000000000
#define LULL_SSD_MOST_SECTORS	2560

/* A request that the drive has. */
struct lull_ssd_command {
	struct timerqueue_node node;
	struct request *request;
};

/**
 * struct lull_ssd - the drive
 * @system: its switch
 * @source: interrupts when a request is done
 * @models: the drives that it can be
 * @count: how many
 * @setting: protects what follows it, which is changed while there is no disk
 * @model: the drive that it is
 * @size_mib: how large
 * @seed: where the random numbers begin
 * @tags: requests
 * @disk: the disk, or NULL
 * @data: its bytes
 * @lock: protects what follows it
 * @state: what the drive is busy with
 * @waiting: requests in the order in which they will be done
 * @handling: the interrupt is being handled, and looks at @waiting before it ends
 * @requests: how many came, by operation
 * @bytes: how much, by operation
 */
struct lull_ssd {
	struct lull_system system;
	struct lull_event_source *source;
	struct lull_ssd_model models[LULL_SSD_MODELS];
	unsigned int count;
	struct mutex setting;	/* while it is held, there is a disk or there is none */
	const struct lull_ssd_model *model;
	unsigned int size_mib;
	unsigned int seed;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	u8 *data;
	raw_spinlock_t lock;
	struct lull_ssd_state state;
	struct timerqueue_head waiting;
	bool handling;
	u64 requests[3];
	u64 bytes[3];
};

/* There is one. */
static struct lull_ssd *lull_ssd;

static void lull_ssd_copy(struct lull_ssd *ssd, struct request *request)
{
	u8 *at = ssd->data + (blk_rq_pos(request) << SECTOR_SHIFT);
	struct req_iterator position;
	struct bio_vec part;

	rq_for_each_segment(part, request, position) {
		if (rq_data_dir(request) == WRITE)
			memcpy_from_bvec(at, &part);
		else
			memcpy_to_bvec(&part, at);
		at += part.bv_len;
	}
}

static blk_status_t lull_ssd_queue(struct blk_mq_hw_ctx *context,
				   const struct blk_mq_queue_data *what)
{
	struct lull_ssd *ssd = context->queue->queuedata;
	struct request *request = what->rq;
	struct lull_ssd_command *command = blk_mq_rq_to_pdu(request);
	enum lull_ssd_operation operation;
	u32 bytes = blk_rq_bytes(request);
	u64 now = ktime_get();

	switch (req_op(request)) {
	case REQ_OP_READ:
		operation = LULL_SSD_READ;
		break;
	case REQ_OP_WRITE:
		operation = LULL_SSD_WRITE;
		break;
	case REQ_OP_FLUSH:
		operation = LULL_SSD_FLUSH;
		bytes = 0;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}

	blk_mq_start_request(request);
	if (bytes)
		lull_ssd_copy(ssd, request);

	command->request = request;
	timerqueue_init(&command->node);
	guard(raw_spinlock_irqsave)(&ssd->lock);
	ssd->requests[operation]++;
	ssd->bytes[operation] += bytes;
	command->node.expires = lull_ssd_done(ssd->model, &ssd->state, operation, bytes, now);
	if (timerqueue_add(&ssd->waiting, &command->node) && !ssd->handling)
		ssd->source->arm(ssd->source, command->node.expires);

	return BLK_STS_OK;
}

static void lull_ssd_complete(struct request *request)
{
	blk_mq_end_request(request, BLK_STS_OK);
}

static const struct blk_mq_ops lull_ssd_ops = {
	.queue_rq = lull_ssd_queue,
	.complete = lull_ssd_complete,
};

static irqreturn_t lull_ssd_interrupt(int irq, void *data)
{
	struct lull_ssd *ssd = data;
	struct timerqueue_node *first;
	ktime_t when;

	scoped_guard(raw_spinlock_irqsave, &ssd->lock) {
		if (!ssd->source->expired(ssd->source, &when))
			return IRQ_HANDLED;
		/*
		 * From here on only this function arms the source, at its end. Were it
		 * to arm again a source that has expired meanwhile, the interrupt would
		 * stay raised until the next time it expires.
		 */
		ssd->handling = true;
	}

	for (;;) {
		struct lull_ssd_command *done = NULL;

		scoped_guard(raw_spinlock_irqsave, &ssd->lock) {
			first = timerqueue_getnext(&ssd->waiting);
			if (!first) {
				ssd->source->stop(ssd->source);
			} else if (first->expires > ktime_get()) {
				ssd->source->arm(ssd->source, first->expires);
			} else {
				timerqueue_del(&ssd->waiting, first);
				done = container_of(first, struct lull_ssd_command, node);
			}
			ssd->handling = done;
		}
		if (!done)
			return IRQ_HANDLED;
		blk_mq_complete_request(done->request);
	}
}

static const struct block_device_operations lull_ssd_fops = {
	.owner = THIS_MODULE,
};

static int lull_ssd_make_disk(struct lull_ssd *ssd)
{
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = 4096,
		/* As Linux has it for drives that take more: a program's request is seldom cut. */
		.max_hw_sectors = LULL_SSD_MOST_SECTORS,
		.max_segments = LULL_SSD_MOST_SECTORS * SECTOR_SIZE / PAGE_SIZE,
		.features = BLK_FEAT_WRITE_CACHE,
	};
	struct gendisk *disk;
	int error;

	disk = blk_mq_alloc_disk(&ssd->tags, &limits, ssd);
	if (IS_ERR(disk))
		return PTR_ERR(disk);

	disk->private_data = ssd;
	disk->fops = &lull_ssd_fops;
	strscpy(disk->disk_name, "lull-ssd", sizeof(disk->disk_name));
	set_capacity(disk, (sector_t)ssd->size_mib << (20 - SECTOR_SHIFT));
	error = add_disk(disk);
	if (error) {
		put_disk(disk);
		return error;
	}

	ssd->disk = disk;
	return 0;
}

static int lull_ssd_enable(struct lull_system *system)
{
	struct lull_ssd *ssd = container_of(system, struct lull_ssd, system);
	int error;

	guard(mutex)(&ssd->setting);
	ssd->data = vzalloc((size_t)ssd->size_mib << 20);
	if (!ssd->data)
		return -ENOMEM;
	memset(&ssd->state, 0, sizeof(ssd->state));
	ssd->state.random = ssd->seed;
	memset(&ssd->tags, 0, sizeof(ssd->tags));
	ssd->tags.ops = &lull_ssd_ops;
	ssd->tags.nr_hw_queues = 1;
	ssd->tags.queue_depth = ssd->model->depth;
	ssd->tags.numa_node = NUMA_NO_NODE;
	ssd->tags.cmd_size = sizeof(struct lull_ssd_command);
	error = blk_mq_alloc_tag_set(&ssd->tags);
	if (error)
		goto free_data;
	error = lull_ssd_make_disk(ssd);
	if (error)
		goto free_tags;

	return 0;

free_tags:
	blk_mq_free_tag_set(&ssd->tags);
free_data:
	vfree(ssd->data);
	ssd->data = NULL;
	return error;
}

static int lull_ssd_disable(struct lull_system *system)
{
	struct lull_ssd *ssd = container_of(system, struct lull_ssd, system);

	guard(mutex)(&ssd->setting);
	/* Who opens it from here on gets an error from each request. */
	if (disk_openers(ssd->disk))
		return -EBUSY;
	del_gendisk(ssd->disk);
	put_disk(ssd->disk);
	ssd->disk = NULL;
	blk_mq_free_tag_set(&ssd->tags);
	vfree(ssd->data);
	ssd->data = NULL;
	return 0;
}

static ssize_t model_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&lull_ssd->setting);
	return sysfs_emit(buf, "%s\n", lull_ssd->model->name);
}

static ssize_t model_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	unsigned int i;

	guard(mutex)(&lull_ssd->setting);
	if (lull_ssd->disk)
		return -EBUSY;
	for (i = 0; i < lull_ssd->count; i++) {
		if (!sysfs_streq(buf, lull_ssd->models[i].name))
			continue;
		lull_ssd->model = &lull_ssd->models[i];
		return count;
	}

	return -EINVAL;
}

static struct kobj_attribute model_attr = __ATTR_RW(model);

static ssize_t lull_ssd_number(const char *buf, size_t count, unsigned int least,
			       unsigned int most, unsigned int *to)
{
	unsigned int number;

	if (kstrtouint(buf, 10, &number) || number < least || number > most)
		return -EINVAL;
	guard(mutex)(&lull_ssd->setting);
	if (lull_ssd->disk)
		return -EBUSY;
	*to = number;
	return count;
}

static ssize_t size_mib_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&lull_ssd->setting);
	return sysfs_emit(buf, "%u\n", lull_ssd->size_mib);
}

static ssize_t size_mib_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	return lull_ssd_number(buf, count, 1, LULL_SSD_MOST_MIB, &lull_ssd->size_mib);
}

static struct kobj_attribute size_mib_attr = __ATTR_RW(size_mib);

static ssize_t seed_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&lull_ssd->setting);
	return sysfs_emit(buf, "%u\n", lull_ssd->seed);
}

static ssize_t seed_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	return lull_ssd_number(buf, count, 0, LULL_SSD_MOST_SEED, &lull_ssd->seed);
}

static struct kobj_attribute seed_attr = __ATTR_RW(seed);

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u64 requests[3], bytes[3];

	scoped_guard(raw_spinlock_irqsave, &lull_ssd->lock) {
		memcpy(requests, lull_ssd->requests, sizeof(requests));
		memcpy(bytes, lull_ssd->bytes, sizeof(bytes));
	}

	return sysfs_emit(buf, "reads %llu bytes %llu\nwrites %llu bytes %llu\nflushes %llu\n",
			  requests[LULL_SSD_READ], bytes[LULL_SSD_READ], requests[LULL_SSD_WRITE],
			  bytes[LULL_SSD_WRITE], requests[LULL_SSD_FLUSH]);
}

static struct kobj_attribute stats_attr = __ATTR(stats, 0400, stats_show, NULL);

static const struct attribute *const lull_ssd_attrs[] = {
	&model_attr.attr,
	&size_mib_attr.attr,
	&seed_attr.attr,
	&stats_attr.attr,
	NULL
};

static int lull_ssd_read_model(const struct device_node *node, struct lull_ssd_model *model)
{
	u32 times[2];
	int error, i;

	error = of_property_read_string(node, "label", &model->name);
	for (i = 0; !error && i < 2; i++) {
		error = of_property_read_u32_array(node, i ? "lull,write-ns" : "lull,read-ns",
						   times, 2);
		model->ns[i] = times[0];
		model->ns_per_kib[i] = times[1];
	}
	if (!error)
		error = of_property_read_u32(node, "lull,flush-ns", &model->flush_ns);
	if (!error)
		error = of_property_read_u32(node, "lull,jitter-permille", &model->jitter_permille);
	if (!error)
		error = of_property_read_u32(node, "lull,channels", &model->channels);
	if (!error)
		error = of_property_read_u32(node, "lull,queue-depth", &model->depth);
	if (!error && !lull_ssd_valid(model))
		error = -EINVAL;

	return error;
}

static int lull_ssd_probe(struct platform_device *device)
{
	struct lull_ssd *ssd;
	const char *label;
	int irq, error;

	/* The same hardware stands for other devices, whose drivers come next. */
	if (of_property_read_string(device->dev.of_node, "label", &label) || strcmp(label, "ssd"))
		return -ENODEV;
	if (lull_ssd)
		return -EEXIST;

	ssd = devm_kzalloc(&device->dev, sizeof(*ssd), GFP_KERNEL);
	if (!ssd)
		return -ENOMEM;
	raw_spin_lock_init(&ssd->lock);
	mutex_init(&ssd->setting);
	timerqueue_init_head(&ssd->waiting);
	ssd->size_mib = 16;
	ssd->seed = 1;
	for_each_child_of_node_scoped(device->dev.of_node, child) {
		if (ssd->count == LULL_SSD_MODELS)
			return -E2BIG;
		error = lull_ssd_read_model(child, &ssd->models[ssd->count++]);
		if (error)
			return dev_err_probe(&device->dev, error, "%pOFn is no drive\n", child);
	}
	if (!ssd->count)
		return -EINVAL;
	ssd->model = &ssd->models[0];

	irq = platform_get_irq(device, 0);
	if (irq < 0)
		return irq;
	ssd->source = platform_get_resource(device, IORESOURCE_MEM, 0) ?
		      lull_event_sp804(device) : lull_event_virtual(device, irq);
	if (IS_ERR(ssd->source))
		return PTR_ERR(ssd->source);
	error = devm_request_irq(&device->dev, irq, lull_ssd_interrupt, 0, "lull-ssd", ssd);
	if (error)
		return error;

	lull_ssd = ssd;
	ssd->system.name = "ssd";
	ssd->system.enable = lull_ssd_enable;
	ssd->system.disable = lull_ssd_disable;
	error = lull_register_system(&ssd->system);
	if (!error) {
		error = sysfs_create_files(ssd->system.kobj, lull_ssd_attrs);
		if (error)
			lull_unregister_system(&ssd->system);
	}
	if (error)
		lull_ssd = NULL;

	return error;
}

static const struct of_device_id lull_ssd_match[] = {
	{ .compatible = "lull,event-timer" },
	{ .compatible = "lull,virtual-event-timer" },
	{}
};

static struct platform_driver lull_ssd_driver = {
	.probe = lull_ssd_probe,
	.driver = {
		.name = "lull-ssd",
		.of_match_table = lull_ssd_match,
		.suppress_bind_attrs = true,
	},
};
builtin_platform_driver(lull_ssd_driver);
