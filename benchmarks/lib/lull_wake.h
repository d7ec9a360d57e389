/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wake recorder: kernel-patches/platform/lull_wake.h as a program sees it.
 *
 * Open LULL_WAKE_PATH as root, pin yourself to one CPU, write a request. The write returns when the
 * timer has fired, and a read gives the record. -1 with errno: EINVAL not pinned to one CPU, or a
 * delay of 0 or more than 10 s; EBUSY somebody else sleeps on this CPU; EINTR a signal came first;
 * ENODEV the CPU was taken away; on reading ENODATA when the last request has left no record.
 */
#ifndef LULL_WAKE_H
#define LULL_WAKE_H

#include <stdint.h>

#define LULL_WAKE_PATH "/sys/kernel/debug/lull/wake"

struct lull_wake_request {
	uint64_t delay_ns;
};

/* The firmware's stamps are valid and belong to this sleep. */
#define LULL_WAKE_FIRMWARE (1u << 0)
/* The CPU slept in `state` when the timer fired; else it was awake. */
#define LULL_WAKE_SLEPT (1u << 1)

/* Times are in ticks of the counter (CNTVCT_EL0), whose frequency is CNTFRQ_EL0. */
struct lull_wake_record {
	uint64_t armed;
	/* The timer's compare value; of another timer perhaps, if the CPU was awake. */
	uint64_t event;
	/* 0 without a firmware; hw_* also if the firmware did not get that far. */
	uint64_t fw_enter;
	uint64_t hw_enter;
	uint64_t hw_exit;
	uint64_t fw_exit;
	uint64_t irq;
	uint64_t task;
	uint32_t cpu;
	/* cpuidle index and number in the C-name; 0 and 0 if the CPU was awake. */
	uint32_t state;
	uint32_t depth;
	uint32_t flags;
};

_Static_assert(sizeof(struct lull_wake_record) == 80, "as in the kernel");

#endif
