/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program and /sys/kernel/debug/lull/wake tell each other. The program's
 * copy is benchmarks/lib/lull_wake.h.
 */
#ifndef _LULL_WAKE_H
#define _LULL_WAKE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/* Written: how long to sleep. */
struct lull_wake_request {
	__u64 delay_ns;
};

/* The firmware's stamps are valid and belong to this sleep. */
#define LULL_WAKE_FIRMWARE	BIT(0)
/* The CPU slept in @state when the timer fired; else it was awake. */
#define LULL_WAKE_SLEPT		BIT(1)

/**
 * struct lull_wake_record - read back: one sleep, times in ticks of the counter
 * @armed: before the timer was programmed
 * @event: when the timer fired: its compare value
 * @fw_enter: the firmware was called; 0 without a firmware
 * @hw_enter: the firmware gave the core to the hardware; 0 if it did not
 * @hw_exit: the firmware had the core back; 0 likewise
 * @fw_exit: the firmware returned; 0 without a firmware
 * @irq: the timer's handler ran
 * @task: the program ran
 * @cpu: where all this was
 * @state: cpuidle index of the state in which it slept; 0 if it was awake
 * @depth: the number in that state's C-name; 0 if it was awake
 * @flags: LULL_WAKE_*
 */
struct lull_wake_record {
	__u64 armed;
	__u64 event;
	__u64 fw_enter;
	__u64 hw_enter;
	__u64 hw_exit;
	__u64 fw_exit;
	__u64 irq;
	__u64 task;
	__u32 cpu;
	__u32 state;
	__u32 depth;
	__u32 flags;
};

static_assert(sizeof(struct lull_wake_record) == 80);

#endif /* _LULL_WAKE_H */
