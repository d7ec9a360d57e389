/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the selftest bursts, by file. All are about the group that ../bursts.c makes. */
#ifndef BURSTS_CASES_CASES_H
#define BURSTS_CASES_CASES_H

/* Run so, this program asks the worker that reads from FD. */
#define ASKER "ask"

/* files.c */
void test_files(void);
void test_removed(void);
void test_memory(void);

/* rules.c */
void test_off(void);
void test_period(void);
void test_bound_and_parallel(void);
void test_crowd(void);

/* spread.c */
void test_spread(void);

/* eager.c */
void test_eager(void);

/* held.c */
void test_inside(void);
void test_outside(void);
void test_never(void);
void test_kernel_thread(void);

/* locks.c */
void test_uninterruptible(void);
void test_inheritance(void);
void test_mutex(void);

/* signals.c */
void test_fork(void);
void test_vain_release(void);
void test_no_vain_wakeup(void);

/* deadlines.c */
void test_deadline(void);
void test_deadline_of_nobody(void);
void test_deadline_comes_later(void);

/* inner.c */
void test_inner(void);

/* trace.c */
void test_trace(void);

/* storm.c */
void test_storm(int rounds);

#endif
