/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the selftest quiescence, by file. Each but test_files() needs the tasks that
 * ../quiescence.c starts.
 */
#ifndef QUIESCENCE_CASES_CASES_H
#define QUIESCENCE_CASES_CASES_H

/* files.c */
void test_files(void);
void test_memory(void);

/* held.c */
void test_off(void);
void test_all(void);
void test_kernel_thread(void);
void test_stage(void);
void test_mistake(const char *hold);

/* locks.c */
void test_locks(void);

/* presses.c */
void test_presses(void);

/* bounds.c */
void test_bound(void);
void test_starvation(void);
void test_least(void);

/* counts.c */
void test_counts(void);
void test_trace(void);

/* releases.c */
void test_signal(void);
void test_vain_release(void);
void test_crowd(void);
void test_no_vain_wakeup(void);
void test_switch(void);
void test_order(void);

/* chain.c */
void test_chain(void);
void test_kinds(void);

/* ahead.c */
void test_ahead(const char *hold);

/* big.c */
void test_big(void);
void test_keeper(void);

/* storm.c */
void test_storm(int rounds);

#endif
