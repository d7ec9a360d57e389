// SPDX-License-Identifier: BSD-3-Clause
#include "m5.h"

#include <stdint.h>
#include <string.h>

#ifndef __aarch64__
#error "the encoding below is AArch64's"
#endif

enum {
	FUNC_EXIT = 0x21,
	FUNC_FAIL = 0x22,
	FUNC_RESET_STATS = 0x40,
	FUNC_DUMP_STATS = 0x41,
	FUNC_DUMP_RESET_STATS = 0x42,
	FUNC_CHECKPOINT = 0x43,
	FUNC_WRITE_FILE = 0x4f,
	FUNC_READ_FILE = 0x50,
	FUNC_WORK_BEGIN = 0x5a,
	FUNC_WORK_END = 0x5b,
};

/*
 * gem5's in-order CPU lets an operation that is no load or store pass a barrier while older stores
 * are still in its store buffer. They would be written over what the operation wrote, and would be
 * missing from what it reads. A store-exclusive waits until the buffer is empty.
 */
static void drain_stores(void)
{
	uint32_t word = 0, value, failed;

	do
		__asm__ volatile("ldaxr %w0, [%2]\n\t"
				 "stlxr %w1, %w0, [%2]"
				 : "=&r"(value), "=&r"(failed)
				 : "r"(&word)
				 : "memory");
	while (failed);
}

/*
 * Every operation sets x0. gem5 reaches memory behind the back of the pipeline: our stores have to
 * be there before it, and the two barriers after it keep an out-of-order core from using loads it
 * did early.
 */
#define M5_OP(func, a, b, c, d)                                                 \
	({                                                                      \
		drain_stores();                                                 \
		register uint64_t x0_ __asm__("x0") = (uint64_t)(a);            \
		register uint64_t x1_ __asm__("x1") = (uint64_t)(b);            \
		register uint64_t x2_ __asm__("x2") = (uint64_t)(c);            \
		register uint64_t x3_ __asm__("x3") = (uint64_t)(d);            \
		__asm__ volatile("dsb sy\n\t"                                   \
				 ".inst 0xff000110 | (%c[op] << 16)\n\t"        \
				 "dsb sy\n\t"                                   \
				 "isb"                                          \
				 : "+r"(x0_)                                    \
				 : "r"(x1_), "r"(x2_), "r"(x3_), [op] "i"(func) \
				 : "memory");                                   \
		x0_;                                                            \
	})

/* Assumes no page is larger than its step: 4 KiB is the smallest AArch64 granule. */
#define PAGE_STEP 4096

/*
 * gem5 translates guest addresses itself and panics where the guest would take a page fault, so
 * every page must be mapped when the operation runs.
 */
static void fault_in_for_read(const void *start, size_t length)
{
	const volatile char *bytes = start;

	if (length == 0)
		return;
	for (size_t at = 0; at < length; at += PAGE_STEP)
		(void)bytes[at];
	(void)bytes[length - 1];
}

static void fault_in_for_write(void *start, size_t length)
{
	volatile char *bytes = start;

	if (length == 0)
		return;
	for (size_t at = 0; at < length; at += PAGE_STEP)
		bytes[at] = 0;
	bytes[length - 1] = 0;
}

void m5_exit(uint64_t delay_ns)
{
	M5_OP(FUNC_EXIT, delay_ns, 0, 0, 0);
}

void m5_fail(uint64_t delay_ns, uint64_t code)
{
	M5_OP(FUNC_FAIL, delay_ns, code, 0, 0);
}

void m5_checkpoint(uint64_t delay_ns, uint64_t period_ns)
{
	M5_OP(FUNC_CHECKPOINT, delay_ns, period_ns, 0, 0);
}

void m5_reset_stats(uint64_t delay_ns, uint64_t period_ns)
{
	M5_OP(FUNC_RESET_STATS, delay_ns, period_ns, 0, 0);
}

void m5_dump_stats(uint64_t delay_ns, uint64_t period_ns)
{
	M5_OP(FUNC_DUMP_STATS, delay_ns, period_ns, 0, 0);
}

void m5_dump_reset_stats(uint64_t delay_ns, uint64_t period_ns)
{
	M5_OP(FUNC_DUMP_RESET_STATS, delay_ns, period_ns, 0, 0);
}

void m5_work_begin(uint64_t id, uint64_t thread)
{
	M5_OP(FUNC_WORK_BEGIN, id, thread, 0, 0);
}

void m5_work_end(uint64_t id, uint64_t thread)
{
	M5_OP(FUNC_WORK_END, id, thread, 0, 0);
}

size_t m5_read_file(void *buffer, size_t length, uint64_t offset)
{
	fault_in_for_write(buffer, length);
	return M5_OP(FUNC_READ_FILE, (uintptr_t)buffer, length, offset, 0);
}

size_t m5_write_file(const void *buffer, size_t length, uint64_t offset, const char *name)
{
	fault_in_for_read(buffer, length);
	fault_in_for_read(name, strlen(name) + 1);
	return M5_OP(FUNC_WRITE_FILE, (uintptr_t)buffer, length, offset, (uintptr_t)name);
}
