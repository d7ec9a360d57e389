/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the governors of drivers/cpuidle/governors take from the kernel, for a
 * user's process. The compiler includes this file before each governor; the
 * kernel's own headers that a governor names are empty, but for cpuidle.h and
 * kconfig.h, which are the kernel's.
 */
#ifndef LULL_SHIM_H
#define LULL_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kconfig.h>

#define SHIM_CPUS 64

typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;
typedef s64 ktime_t;

struct list_head {
	struct list_head *next, *prev;
};
struct cpumask;
typedef struct {
	int counter;
} atomic_t;

#define BIT(n) (1UL << (n))
#define U64_MAX UINT64_MAX
#define KTIME_MAX INT64_MAX
#define NSEC_PER_USEC 1000L
#define TICK_NSEC (1000000000L / HZ)
#define __init
#define __read_mostly
#define likely(x) (x)
#define unlikely(x) (x)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define do_div(n, base) ((n) /= (u32)(base))
#define ktime_sub(a, b) ((a) - (b))
#define ktime_to_us(t) ((s64)(t) / 1000)

/* A per-CPU variable is an array, and this CPU a number. One section has them all, so that they can be put back. */
extern int shim_cpu;
#define DECLARE_PER_CPU(type, name) extern type name[SHIM_CPUS]
#define DEFINE_PER_CPU(type, name) __attribute__((section("shim_percpu"))) type name[SHIM_CPUS]
#define per_cpu(name, cpu) ((name)[cpu])
#define per_cpu_ptr(pointer, cpu) (&(*(pointer))[cpu])
#define this_cpu_ptr(pointer) per_cpu_ptr(pointer, shim_cpu)
#define __this_cpu_read(name) ((name)[shim_cpu])

/* cpuidle.h has inline functions of the idle path, which nobody calls here. */
#define lockdep_assert_irqs_disabled() ((void)0)
#define trace_hardirqs_on_prepare() ((void)0)
#define lockdep_hardirqs_on_prepare() ((void)0)
#define lockdep_hardirqs_on(ip) ((void)0)
#define lockdep_hardirqs_off(ip) ((void)0)
#define instrumentation_begin() ((void)0)
#define instrumentation_end() ((void)0)
#define ct_idle_enter() ((void)0)
#define ct_idle_exit() ((void)0)
#define trace_guest_halt_poll_ns_grow(now, before) ((void)0)
#define trace_guest_halt_poll_ns_shrink(now, before) ((void)0)
#define kvm_para_available() false

#define module_param(name, type, permissions) void *shim_parameter_##name = &name
#define postcore_initcall(start) \
	__attribute__((constructor)) static void shim_start(void) { start(); }

/* What a governor asks about time. The engine answers. */
u64 local_clock(void);
bool tick_nohz_tick_stopped(void);
bool tick_nohz_idle_got_tick(void);
ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next);

#endif
