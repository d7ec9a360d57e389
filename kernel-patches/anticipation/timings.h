/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_TIMINGS_H
#define _LULL_TIMINGS_H

#include <linux/sysfs.h>

extern const struct attribute *const lull_timings_attrs[];

int lull_timings_start(void);
void lull_timings_stop(void);
void lull_timings_idle(void);

#endif /* _LULL_TIMINGS_H */
