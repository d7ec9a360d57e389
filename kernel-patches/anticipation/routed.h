/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_ROUTED_H
#define _LULL_ROUTED_H

#include <linux/sysfs.h>

#ifdef CONFIG_LULL_ROUTING

extern const struct attribute *const lull_routed_attrs[];

int lull_routed_start(void);
void lull_routed_stop(void);
void lull_routed_idle(void);

#else

static const struct attribute *const lull_routed_attrs[] = { NULL };

static inline int lull_routed_start(void)
{
	return 0;
}

static inline void lull_routed_stop(void)
{
}

static inline void lull_routed_idle(void)
{
}

#endif

#endif /* _LULL_ROUTED_H */
