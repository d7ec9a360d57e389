/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * Deadlines of requests that staged bursts heed. The program's copy of this file is
 * benchmarks/lib/bursts_abi.h.
 */
#ifndef _LULL_BURSTS_ABI_H
#define _LULL_BURSTS_ABI_H

/*
 * prctl(PR_SET_BURST_DEADLINE, us, 0, 0, 0): whom the calling thread wakes from now on is held for
 * so many microseconds at most, if the stage heeds deadlines. 0: the thread has no deadline.
 *
 * Linux counts its numbers up from 1, and makes some of four letters. This one is of "lull".
 */
#define PR_SET_BURST_DEADLINE 0x6c756c6c
#define BURST_DEADLINE_MOST_US 10000000

#endif /* _LULL_BURSTS_ABI_H */
