/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LULL_HOTPLUG_WAKES_H
#define _LULL_HOTPLUG_WAKES_H

struct dentry;

void lull_wakes_create(struct dentry *directory);

#endif /* _LULL_HOTPLUG_WAKES_H */
