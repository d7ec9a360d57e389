/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * /dev/lull-wake-ahead: a program says when it will need a CPU. The program's copy of this file is
 * benchmarks/lib/wake_ahead_abi.h.
 */
#ifndef _LULL_WAKE_AHEAD_ABI_H
#define _LULL_WAKE_AHEAD_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define WAKE_AHEAD_PATH "/dev/lull-wake-ahead"

/* The longest that a request may lie ahead, and the longest window. */
#define WAKE_AHEAD_MOST_AHEAD_NS 10000000000ULL
#define WAKE_AHEAD_MOST_DURATION_NS 100000000ULL

/* The CPU of the calling thread is to be ready from start_ns on, of CLOCK_MONOTONIC. */
struct wake_ahead_request {
	__u64 start_ns;
	__u64 duration_ns;
	/* The longest exit latency that the CPU may have meanwhile; 0: its first state. */
	__u32 bound_ns;
	/* 0 */
	__u32 flags;
};

/* How the windows of this file ended. */
struct wake_ahead_counts {
	__u64 hits;
	__u64 early;
	__u64 misses;
	__u64 dropped;
};

#define WAKE_AHEAD_BEGIN _IOW('L', 0x60, struct wake_ahead_request)
#define WAKE_AHEAD_END _IO('L', 0x61)
#define WAKE_AHEAD_COUNTS _IOR('L', 0x62, struct wake_ahead_counts)

#endif /* _LULL_WAKE_AHEAD_ABI_H */
