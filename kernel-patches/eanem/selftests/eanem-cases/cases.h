/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the selftest eanem, by file. All use the loopback device as ../eanem.c sets it up.
 * test_off() leaves the system off, and all others leave it on.
 */
#ifndef EANEM_CASES_CASES_H
#define EANEM_CASES_CASES_H

#include <stdbool.h>

/* Run so, this program is the next one of a process that has a target. */
#define NEXT_PROGRAM "next-program"

/* errors.c */
void test_off(void);
void test_errors(void);
void test_settings(void);
void test_attributes(void);

/* counts.c */
void test_datagrams(void);
void test_end(void);
void test_late_reads(void);
void test_bytes(void);
void test_busy(void);

/* secrets.c */
void test_secrets(void);

/* many.c */
void test_many(void);

/* memory.c */
void test_memory(void);

/* targets.c */
void test_targets(void);
void test_small_buffer(void);
void test_slow_program(void);
void test_loss(void);

/* sharing.c */
void test_sharing(void);
void test_sharing_at_once(void);

/* ends.c */
void test_close(bool has_sent_its_last);
void test_next_program(const char *program, bool inherits);
/* What that program returns: 0 if what it makes or reads has no target. */
int next_program(void);
void test_reconnect(void);

/* steering.c */
void test_steering(void);
void test_cpuset(void);
void test_offline(void);

/* timer.c */
void test_timer(void);

/* storm.c */
void test_storm(int rounds);

#endif
