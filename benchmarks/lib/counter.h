/* SPDX-License-Identifier: BSD-3-Clause */
/* The architected counter, which kernel, firmware and guest programs all stamp with. */
#ifndef LULL_COUNTER_H
#define LULL_COUNTER_H

#include <stdint.h>

static inline uint64_t counter_frequency(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/*
 * What is before it is over when it is read, and what is after it has not begun. A CPU may do
 * either otherwise: the read is not ordered with anything.
 */
static inline uint64_t counter_now(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
	return ticks;
}

#endif
