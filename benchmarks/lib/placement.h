/* SPDX-License-Identifier: BSD-3-Clause */
/* Who chooses CPUs: Linux without and with energy-aware scheduling, and WAEAS or some of its parts.
 */
#ifndef LULL_PLACEMENT_H
#define LULL_PLACEMENT_H

#include <sys/types.h>

/*
 * smp: as if all CPUs were the same. eas: upstream's energy-aware scheduling. one, two: eas, and
 * the caller and its children may use one or two of the little CPUs. capped: eas, and they ask for
 * at most a fifth of the fastest CPU (uclamp.max). walt, bes: with loads by windows.
 * placement_only, frequency_only: bes, but the clocks or the placement go by PELT, as upstream's.
 * select, pack, associate, balance: with one part of WAEAS. waeas: with all. inherit: with all, and
 * a new task begins with its parent's demand. apart: with all, and packing leaves out CPUs where a
 * latency-sensitive task runs. without_bes: with all parts, but loads as upstream has them; the
 * others: without one part.
 */
#define PLACEMENT_WAYS                                                                         \
	"smp|eas|one|two|capped|walt|bes|placement_only|frequency_only|select|pack|associate|" \
	"balance|waeas|inherit|apart|without_bes|without_select|without_pack|"                 \
	"without_associate|without_balance"

/* 0, -EINVAL if there is no such way, or another -errno. */
int placement_set(const char *way);
/* The task is latency-sensitive, which is for WAEAS alone. 0 or -errno. */
int placement_sensitive(pid_t pid);

#endif
