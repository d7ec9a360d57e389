/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ENERGY_CTRL_H
#define _LULL_ENERGY_CTRL_H

#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct device;

/* Registers of gem5's EnergyCtrl, 32 bits each; the simulator dies of any other. */
enum energy_ctrl_register {
	ENERGY_CTRL_STATUS,		/* 1, or 0 when it ignores everything */
	ENERGY_CTRL_DOMAINS,		/* how many */
	ENERGY_CTRL_DOMAIN_AT,		/* write an index, read its domain's id */
	ENERGY_CTRL_LATENCY_NS,		/* of every change in every domain */
	ENERGY_CTRL_DOMAIN,		/* the one that the rest is about */
	ENERGY_CTRL_LEVEL,		/* 0 is the fastest; the old one until a change is over */
	ENERGY_CTRL_ACK,
	ENERGY_CTRL_LEVELS,
	ENERGY_CTRL_LEVEL_AT,		/* write only: the level that the next two are about */
	ENERGY_CTRL_KHZ,
	ENERGY_CTRL_UV,
};

/* A clock's period is a whole number of picoseconds. */
#define ENERGY_CTRL_PS_PER_S	1000000000000ULL
#define ENERGY_CTRL_PS_PER_MS	1000000000ULL

/* An operating point. In arrays of them the index is the level: fastest first. */
struct energy_ctrl_point {
	unsigned long hz;
	unsigned long uv;
};

struct energy_ctrl;

/**
 * struct energy_ctrl_ops - where the registers are
 * @read: a register's value
 * @write: writes a register
 * @describe: for a controller that knows nothing by itself: tells it of a
 * domain, whose points stay where they are; or NULL
 *
 * @read and @write are called with the controller locked, any of them from the
 * scheduler, and must not sleep.
 */
struct energy_ctrl_ops {
	u32 (*read)(struct energy_ctrl *ctrl, enum energy_ctrl_register reg);
	void (*write)(struct energy_ctrl *ctrl, enum energy_ctrl_register reg, u32 value);
	int (*describe)(struct energy_ctrl *ctrl, u32 domain,
			const struct energy_ctrl_point *points, unsigned int count,
			u32 latency_ns);
};

/**
 * struct energy_ctrl - a controller
 * @dev: for messages
 * @ops: where its registers are
 * @lock: held from the selection of a domain until it was acted on
 */
struct energy_ctrl {
	struct device *dev;
	const struct energy_ctrl_ops *ops;
	raw_spinlock_t lock;
};

void energy_ctrl_init(struct energy_ctrl *ctrl, struct device *dev,
		      const struct energy_ctrl_ops *ops);
int energy_ctrl_check(struct energy_ctrl *ctrl, unsigned int domains);
int energy_ctrl_check_domain(struct energy_ctrl *ctrl, u32 domain,
			     const struct energy_ctrl_point *points, unsigned int count,
			     u32 latency_ns);
u32 energy_ctrl_level(struct energy_ctrl *ctrl, u32 domain);
void energy_ctrl_request(struct energy_ctrl *ctrl, u32 domain, u32 level);

/* Linux lists frequencies slowest first, the controller fastest first: the way there and back. */
static inline unsigned int energy_ctrl_mirror(unsigned int count, unsigned int index)
{
	return count - 1 - min(index, count - 1);
}

/* The slowest level that reaches a frequency; the fastest when none does. */
static inline u32 energy_ctrl_level_for(const struct energy_ctrl_point *points, unsigned int count,
					unsigned int khz)
{
	u32 level = count - 1;

	while (level && points[level].hz / 1000 < khz)
		level--;

	return level;
}

struct energy_ctrl *energy_ctrl_gem5(struct device *dev, void __iomem *base);
struct energy_ctrl *energy_ctrl_model(struct device *dev, unsigned int max_domains);

#endif /* _LULL_ENERGY_CTRL_H */
