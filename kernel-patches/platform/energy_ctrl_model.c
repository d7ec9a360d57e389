// SPDX-License-Identifier: GPL-2.0-only
/*
 * gem5's EnergyCtrl without the hardware, for QEMU and for tests: the same
 * registers, and changes that take their latency, but nothing runs faster or
 * slower. What ends a simulation on gem5 is a warning here.
 */
#include <linux/bug.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "energy_ctrl.h"

struct energy_ctrl_model_domain {
	u32 id;
	const struct energy_ctrl_point *points;
	unsigned int count;
	u32 level;
	u32 next;
	u64 due;	/* when next becomes level, if they differ */
};

struct energy_ctrl_model {
	struct energy_ctrl ctrl;
	u32 latency_ns;
	u32 index;
	u32 selected;	/* an index too */
	u32 level_at;
	unsigned int count;
	unsigned int max_count;
	struct energy_ctrl_model_domain domains[] __counted_by(max_count);
};

static struct energy_ctrl_model *to_model(struct energy_ctrl *ctrl)
{
	return container_of(ctrl, struct energy_ctrl_model, ctrl);
}

static void energy_ctrl_model_settle(struct energy_ctrl_model_domain *domain)
{
	if (domain->next != domain->level && local_clock() >= domain->due)
		domain->level = domain->next;
}

static u32 energy_ctrl_model_read_point(struct energy_ctrl_model *model,
					const struct energy_ctrl_model_domain *domain,
					enum energy_ctrl_register reg)
{
	const struct energy_ctrl_point *point;

	if (WARN_ON_ONCE(model->level_at >= domain->count))
		return 0;

	point = &domain->points[model->level_at];
	if (reg == ENERGY_CTRL_UV)
		return point->uv;

	return div64_u64(ENERGY_CTRL_PS_PER_MS,
			 DIV_ROUND_CLOSEST_ULL(ENERGY_CTRL_PS_PER_S, point->hz));
}

static u32 energy_ctrl_model_read(struct energy_ctrl *ctrl, enum energy_ctrl_register reg)
{
	struct energy_ctrl_model *model = to_model(ctrl);
	struct energy_ctrl_model_domain *domain = &model->domains[model->selected];

	switch (reg) {
	case ENERGY_CTRL_STATUS:
		return 1;
	case ENERGY_CTRL_DOMAINS:
		return model->count;
	case ENERGY_CTRL_LATENCY_NS:
		return model->latency_ns;
	case ENERGY_CTRL_DOMAIN_AT:
		return WARN_ON_ONCE(model->index >= model->count) ?
		       0 : model->domains[model->index].id;
	default:
		break;
	}

	if (WARN_ON_ONCE(!model->count))
		return 0;

	switch (reg) {
	case ENERGY_CTRL_DOMAIN:
		return domain->id;
	case ENERGY_CTRL_LEVEL:
		energy_ctrl_model_settle(domain);
		return domain->level;
	case ENERGY_CTRL_LEVELS:
		return domain->count;
	case ENERGY_CTRL_KHZ:
	case ENERGY_CTRL_UV:
		return energy_ctrl_model_read_point(model, domain, reg);
	default:
		WARN_ONCE(1, "energy controller: register %d is not to be read\n", reg);
		return 0;
	}
}

static void energy_ctrl_model_select(struct energy_ctrl_model *model, u32 id)
{
	unsigned int index;

	for (index = 0; index < model->count; index++)
		if (model->domains[index].id == id)
			model->selected = index;
}

static void energy_ctrl_model_change(struct energy_ctrl_model *model, u32 level)
{
	struct energy_ctrl_model_domain *domain = &model->domains[model->selected];

	if (level >= domain->count)
		return;

	energy_ctrl_model_settle(domain);
	domain->next = level;
	domain->due = local_clock() + model->latency_ns;
}

static void energy_ctrl_model_write(struct energy_ctrl *ctrl, enum energy_ctrl_register reg,
				    u32 value)
{
	struct energy_ctrl_model *model = to_model(ctrl);

	switch (reg) {
	case ENERGY_CTRL_DOMAIN_AT:
		model->index = value;
		break;
	case ENERGY_CTRL_DOMAIN:
		energy_ctrl_model_select(model, value);
		break;
	case ENERGY_CTRL_LEVEL:
		energy_ctrl_model_change(model, value);
		break;
	case ENERGY_CTRL_LEVEL_AT:
		model->level_at = value;
		break;
	default:
		WARN_ONCE(1, "energy controller: register %d is not to be written\n", reg);
		break;
	}
}

static int energy_ctrl_model_describe(struct energy_ctrl *ctrl, u32 domain,
				      const struct energy_ctrl_point *points, unsigned int count,
				      u32 latency_ns)
{
	struct energy_ctrl_model *model = to_model(ctrl);

	if (model->count == model->max_count || !count)
		return -EINVAL;

	model->domains[model->count++] = (struct energy_ctrl_model_domain) {
		.id = domain,
		.points = points,
		.count = count,
	};
	model->latency_ns = latency_ns;

	return 0;
}

static const struct energy_ctrl_ops energy_ctrl_model_ops = {
	.read = energy_ctrl_model_read,
	.write = energy_ctrl_model_write,
	.describe = energy_ctrl_model_describe,
};

/**
 * energy_ctrl_model - a controller that is software
 * @dev: its device, which it lives as long as
 * @max_domains: how many domains it can be told of
 *
 * Return: the controller, or an error pointer.
 */
struct energy_ctrl *energy_ctrl_model(struct device *dev, unsigned int max_domains)
{
	struct energy_ctrl_model *model;

	model = devm_kzalloc(dev, struct_size(model, domains, max_domains), GFP_KERNEL);
	if (!model)
		return ERR_PTR(-ENOMEM);

	energy_ctrl_init(&model->ctrl, dev, &energy_ctrl_model_ops);
	model->max_count = max_domains;

	return &model->ctrl;
}
