// SPDX-License-Identifier: GPL-2.0-only
/*
 * gem5's EnergyCtrl, through which software chooses the operating point of
 * each DVFS domain. What its source says and its register list does not:
 *
 * - Every domain changes by itself, and changes of different domains may
 *   overlap. A request while one is under way in its domain replaces it, and
 *   the latency starts anew; a request for the level that the domain still
 *   runs at drops the one under way.
 * - The acknowledgment is no use: one bit for all domains, of which a second
 *   request swallows the first's, and which the request for the current
 *   level never sets. The level register says, for each domain, when a
 *   change is over.
 * - An unknown domain is not selected: what follows is about the previous
 *   one. A bad index ends the simulation.
 */
#include <linux/dev_printk.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "energy_ctrl.h"

/* The voltage passes through floating point. */
#define UV_SLACK	1

void energy_ctrl_init(struct energy_ctrl *ctrl, struct device *dev,
		      const struct energy_ctrl_ops *ops)
{
	ctrl->dev = dev;
	ctrl->ops = ops;
	raw_spin_lock_init(&ctrl->lock);
}

/* One of the registers that are about the selected domain. */
static u32 energy_ctrl_read_of(struct energy_ctrl *ctrl, u32 domain, enum energy_ctrl_register reg)
{
	unsigned long flags;
	u32 value;

	raw_spin_lock_irqsave(&ctrl->lock, flags);
	ctrl->ops->write(ctrl, ENERGY_CTRL_DOMAIN, domain);
	value = ctrl->ops->read(ctrl, reg);
	raw_spin_unlock_irqrestore(&ctrl->lock, flags);

	return value;
}

/**
 * energy_ctrl_level - the level that a domain runs at
 * @ctrl: the controller
 * @domain: one that was checked
 *
 * Return: the level, which is the old one while a change is under way.
 */
u32 energy_ctrl_level(struct energy_ctrl *ctrl, u32 domain)
{
	return energy_ctrl_read_of(ctrl, domain, ENERGY_CTRL_LEVEL);
}

/**
 * energy_ctrl_request - start the change to a level, and do not wait for it
 * @ctrl: the controller
 * @domain: one that was checked
 * @level: one that it has
 */
void energy_ctrl_request(struct energy_ctrl *ctrl, u32 domain, u32 level)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ctrl->lock, flags);
	ctrl->ops->write(ctrl, ENERGY_CTRL_DOMAIN, domain);
	ctrl->ops->write(ctrl, ENERGY_CTRL_LEVEL, level);
	raw_spin_unlock_irqrestore(&ctrl->lock, flags);
}

static u32 energy_ctrl_read(struct energy_ctrl *ctrl, enum energy_ctrl_register reg)
{
	unsigned long flags;
	u32 value;

	raw_spin_lock_irqsave(&ctrl->lock, flags);
	value = ctrl->ops->read(ctrl, reg);
	raw_spin_unlock_irqrestore(&ctrl->lock, flags);

	return value;
}

static bool energy_ctrl_has(struct energy_ctrl *ctrl, u32 domain)
{
	unsigned long flags;
	bool found = false;
	u32 index, domains;

	raw_spin_lock_irqsave(&ctrl->lock, flags);
	domains = ctrl->ops->read(ctrl, ENERGY_CTRL_DOMAINS);
	for (index = 0; index < domains && !found; index++) {
		ctrl->ops->write(ctrl, ENERGY_CTRL_DOMAIN_AT, index);
		found = ctrl->ops->read(ctrl, ENERGY_CTRL_DOMAIN_AT) == domain;
	}
	raw_spin_unlock_irqrestore(&ctrl->lock, flags);

	return found;
}

/* The period is rounded, either way when it is near the middle; its frequency is rounded down. */
static bool energy_ctrl_is_hz(u32 khz, unsigned long hz)
{
	u64 period = hz ? div64_ul(ENERGY_CTRL_PS_PER_S, hz) : 0;

	return period && (khz == div64_u64(ENERGY_CTRL_PS_PER_MS, period) ||
			  khz == div64_u64(ENERGY_CTRL_PS_PER_MS, period + 1));
}

static int energy_ctrl_check_point(struct energy_ctrl *ctrl, u32 domain, u32 level,
				   const struct energy_ctrl_point *point)
{
	unsigned long flags;
	u32 khz, uv;

	raw_spin_lock_irqsave(&ctrl->lock, flags);
	ctrl->ops->write(ctrl, ENERGY_CTRL_DOMAIN, domain);
	ctrl->ops->write(ctrl, ENERGY_CTRL_LEVEL_AT, level);
	khz = ctrl->ops->read(ctrl, ENERGY_CTRL_KHZ);
	uv = ctrl->ops->read(ctrl, ENERGY_CTRL_UV);
	raw_spin_unlock_irqrestore(&ctrl->lock, flags);

	if (energy_ctrl_is_hz(khz, point->hz) && abs_diff((unsigned long)uv, point->uv) <= UV_SLACK)
		return 0;

	dev_err(ctrl->dev,
		"domain %u level %u is %u kHz at %u uV, but %lu kHz at %lu uV in the device tree\n",
		domain, level, khz, uv, point->hz / 1000, point->uv);
	return -EINVAL;
}

/**
 * energy_ctrl_check_domain - whether a domain is what the device tree says
 * @ctrl: the controller, already checked
 * @domain: its id
 * @points: the operating points that it should have
 * @count: how many
 * @latency_ns: how long a change should take
 *
 * Return: 0, or -EINVAL after one message about the first thing that differs.
 */
int energy_ctrl_check_domain(struct energy_ctrl *ctrl, u32 domain,
			     const struct energy_ctrl_point *points, unsigned int count,
			     u32 latency_ns)
{
	u32 levels, latency, level;
	int error = 0;

	if (!energy_ctrl_has(ctrl, domain)) {
		dev_err(ctrl->dev, "domain %u of the device tree does not exist\n", domain);
		return -EINVAL;
	}

	levels = energy_ctrl_read_of(ctrl, domain, ENERGY_CTRL_LEVELS);
	if (levels != count) {
		dev_err(ctrl->dev, "domain %u has %u levels, but %u in the device tree\n",
			domain, levels, count);
		return -EINVAL;
	}

	latency = energy_ctrl_read(ctrl, ENERGY_CTRL_LATENCY_NS);
	if (latency != latency_ns) {
		dev_err(ctrl->dev, "a change in domain %u takes %u ns, but %u in the device tree\n",
			domain, latency, latency_ns);
		return -EINVAL;
	}

	for (level = 0; level < count && !error; level++)
		error = energy_ctrl_check_point(ctrl, domain, level, &points[level]);

	return error;
}

/**
 * energy_ctrl_check - whether a controller works and has nothing to spare
 * @ctrl: the controller
 * @domains: how many domains it should have, or 0 to ask only whether it works
 *
 * Return: 0, or -EINVAL after one message.
 */
int energy_ctrl_check(struct energy_ctrl *ctrl, unsigned int domains)
{
	u32 found;

	if (energy_ctrl_read(ctrl, ENERGY_CTRL_STATUS) != 1) {
		dev_err(ctrl->dev, "the controller is switched off\n");
		return -EINVAL;
	}

	found = energy_ctrl_read(ctrl, ENERGY_CTRL_DOMAINS);
	if (domains && found != domains) {
		dev_err(ctrl->dev, "the controller has %u domains, but %u in the device tree\n",
			found, domains);
		return -EINVAL;
	}

	return 0;
}

struct energy_ctrl_mmio {
	struct energy_ctrl ctrl;
	void __iomem *base;
};

static u32 energy_ctrl_mmio_read(struct energy_ctrl *ctrl, enum energy_ctrl_register reg)
{
	return readl(container_of(ctrl, struct energy_ctrl_mmio, ctrl)->base + reg * sizeof(u32));
}

static void energy_ctrl_mmio_write(struct energy_ctrl *ctrl, enum energy_ctrl_register reg,
				   u32 value)
{
	writel(value, container_of(ctrl, struct energy_ctrl_mmio, ctrl)->base + reg * sizeof(u32));
}

static const struct energy_ctrl_ops energy_ctrl_mmio_ops = {
	.read = energy_ctrl_mmio_read,
	.write = energy_ctrl_mmio_write,
};

/**
 * energy_ctrl_gem5 - the controller of the machine
 * @dev: its device, which it lives as long as
 * @base: its registers
 *
 * Return: the controller, or an error pointer.
 */
struct energy_ctrl *energy_ctrl_gem5(struct device *dev, void __iomem *base)
{
	struct energy_ctrl_mmio *mmio = devm_kzalloc(dev, sizeof(*mmio), GFP_KERNEL);

	if (!mmio)
		return ERR_PTR(-ENOMEM);

	energy_ctrl_init(&mmio->ctrl, dev, &energy_ctrl_mmio_ops);
	mmio->base = base;

	return &mmio->ctrl;
}
