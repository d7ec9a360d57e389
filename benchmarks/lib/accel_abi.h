/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * /dev/lull-accel: an accelerator that runs kernels. The program's copy of this file is
 * benchmarks/lib/accel_abi.h.
 */
#ifndef _LULL_ACCEL_ABI_H
#define _LULL_ACCEL_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ACCEL_PATH "/dev/lull-accel"

/*
 * A run of a kernel, by its number in the platform file. read() then waits for the run's end, and
 * gives this.
 */
struct accel_run {
	/* When the run was asked for, and when it had ended, of CLOCK_MONOTONIC. */
	__u64 began_ns;
	__u64 ended_ns;
};

#define ACCEL_START _IOW('L', 0x70, __u32)

#endif /* _LULL_ACCEL_ABI_H */
