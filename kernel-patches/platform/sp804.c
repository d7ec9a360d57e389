// SPDX-License-Identifier: GPL-2.0-only
#include <linux/clk.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/platform_device.h>

#include "sp804.h"

/**
 * lull_sp804_get - the half of an SP804 that a device is, or its stand-in
 * @device: the device, which keeps what is taken here
 * @timer: is filled in; without a @base on a machine where it has no registers
 *
 * Return: 0, or what is wrong with the device.
 */
int lull_sp804_get(struct platform_device *device, struct lull_sp804 *timer)
{
	struct clk *clk;

	clk = devm_clk_get_enabled(&device->dev, NULL);
	if (IS_ERR(clk))
		return PTR_ERR(clk);
	timer->hz = clk_get_rate(clk);
	if (!timer->hz)
		return -EINVAL;

	timer->base = NULL;
	if (!platform_get_resource(device, IORESOURCE_MEM, 0))
		return 0;
	timer->base = devm_platform_ioremap_resource(device, 0);

	return PTR_ERR_OR_ZERO(timer->base);
}
