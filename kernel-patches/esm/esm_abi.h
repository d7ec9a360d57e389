/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * What the Event Stream Model's system calls and user space tell each other. For programs
 * the same file is benchmarks/lib/esm_abi.h.
 *
 *   long esm_register(const struct esm_registration *what, size_t size, unsigned int flags);
 *   long esm_wait(struct esm_event *events, size_t event_size, unsigned int count,
 *		   unsigned int flags, const struct __kernel_timespec *until);
 *   long esm_fd(unsigned int flags);
 *
 * Both structures have the same layout in 32 and 64 bits. They grow at the end: the size says which
 * version a program knows, and what it does not know has its default, 0.
 */
#ifndef _LULL_ESM_ABI_H
#define _LULL_ESM_ABI_H

#include <linux/types.h>

/*
 * Numbers on every architecture that has the calls. Upstream has used 462 of the common table; 600
 * is far enough from its next ones that a kernel with ESM runs programs of years to come.
 */
#define ESM_NR_REGISTER 600
#define ESM_NR_WAIT 601
#define ESM_NR_FD 602

/* In place of a type or a code: all of them. */
#define ESM_ANY 0xffff

/**
 * struct esm_registration - an event, and what the calling task wants done with it
 * @handler: given back with each such event, usually a function; 0 takes the registration away
 * @fd: an evdev device that is open for reading; -1 if @source says which
 * @source: number of a source, only with CAP_SYS_ADMIN; 0 if @fd says which
 * @type: EV_KEY and the like, or ESM_ANY
 * @code: KEY_A and the like, or ESM_ANY, which it must be if @type is
 * @reserved: 0
 *
 * The narrowest registration of an event counts: its code, then its type, then ESM_ANY. Each event
 * is delivered once to a task.
 */
struct esm_registration {
	__u64 handler;
	__s32 fd;
	__u32 source;
	__u16 type;
	__u16 code;
	__u32 reserved;
};

#define ESM_REGISTRATION_SIZE_VER0 24

/* esm_wait(): come back with EAGAIN instead of waiting. */
#define ESM_WAIT_NONBLOCK 0x1
/* esm_wait(): come back with ETIMEDOUT at @until of CLOCK_MONOTONIC, which else is not read. */
#define ESM_WAIT_UNTIL 0x2

/* @flags of an event: this one stands for @value others that the queue had no room for. */
#define ESM_EVENT_OVERFLOW 0x1
/* The last value of its packet that this task gets. */
#define ESM_EVENT_LAST 0x2

/**
 * struct esm_event - one event, as it is delivered
 * @handler: of the registration; 0 for an overflow
 * @hardware_ns: CLOCK_MONOTONIC when the hardware raised it, as far as its driver knows
 * @kernel_ns: CLOCK_MONOTONIC when the interpreter saw it
 * @packet: number of its packet (up to an EV_SYN SYN_REPORT) at its source, from 1
 * @source: number of its source; 0 for an overflow
 * @type: EV_KEY and the like
 * @code: KEY_A and the like
 * @value: 1 for pressed and the like
 * @flags: ESM_EVENT_*
 */
struct esm_event {
	__u64 handler;
	__u64 hardware_ns;
	__u64 kernel_ns;
	__u64 packet;
	__u32 source;
	__u16 type;
	__u16 code;
	__s32 value;
	__u32 flags;
};

#define ESM_EVENT_SIZE_VER0 48

#endif /* _LULL_ESM_ABI_H */
