/* SPDX-License-Identifier: BSD-3-Clause */
/* Who chooses CPUs: Linux without and with energy-aware scheduling, and WAEAS or one of its parts.
 */
#ifndef LULL_PLACEMENT_H
#define LULL_PLACEMENT_H

#include <sys/types.h>

/*
 * smp: as if all CPUs were the same. eas: upstream's energy-aware scheduling. walt, bes: with
 * loads by windows. select, pack, associate, balance: with one part of WAEAS. waeas: with all.
 */
#define PLACEMENT_WAYS "smp|eas|walt|bes|select|pack|associate|balance|waeas"

/* 0, -EINVAL if there is no such way, or another -errno. */
int placement_set(const char *way);
/* The task is latency-sensitive, which is for WAEAS alone. 0 or -errno. */
int placement_sensitive(pid_t pid);

#endif
