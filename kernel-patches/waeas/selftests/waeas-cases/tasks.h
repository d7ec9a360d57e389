/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks whose load is known: what they do, when, and where. */
#ifndef LULL_WAEAS_TASKS_H
#define LULL_WAEAS_TASKS_H

#include <stdint.h>
#include <sys/types.h>

#define US 1000ULL
#define MS 1000000ULL
#define RUNS 50
/* Tasks that work in turn with others do so at the same moments, once in a beat. */
#define BEAT (20 * MS)

/* What a task does to itself before it is woken; NULL for nothing. */
extern void (*begins)(void);

/* If the kernel does not tell its clocks, a window may end in the middle of a piece of work. */
void find_clock(void);
/*
 * The next moment that is @at after a multiple of @every, by the scheduler's clock. Returns it by
 * clock_ns(), or sleeps until then.
 */
uint64_t next_moment(uint64_t every, uint64_t at);
void sleep_to(uint64_t every, uint64_t at);
void spin_ns(uint64_t ns);

/*
 * For a loop beside which another CPU has to do something in time. QEMU simulates one CPU at a
 * time, and a CPU that works without a yield lets all others wait, maybe until the next tick.
 */
static inline void let_others_work(void)
{
	__asm__ volatile("yield");
}

void stop(pid_t pid);

/* A task that says that it needs more than a little CPU has. */
void clamp(void);
void be_sensitive(void);

/* A task that works for so long in each beat, from a time on. */
pid_t works(int cpu, uint64_t at, uint64_t ns, int policy);
/* Two tasks that wake each other in turn, RUNS times. @trips, if any, counts these times. */
void in_turn(volatile unsigned long *trips);
/* Work in a large part of one window. */
void work_once(void);
/*
 * A task does such work on a big CPU, and sleeps for long: how often of @runs it wakes on a big
 * CPU.
 */
int wakes_on_big(int runs, void (*work)(void));

#endif
