/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast a CPU the caller asks for, of 1024: the fastest CPU at its fastest (uclamp). */
#ifndef LULL_CLAMP_H
#define LULL_CLAMP_H

#include <stdint.h>

/* At least, and at most. Both return 0 or -errno, and leave all else as it is. */
int clamp_least(uint32_t util);
int clamp_most(uint32_t util);

#endif
