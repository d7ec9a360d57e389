/* SPDX-License-Identifier: BSD-3-Clause */
/* TAP, numbered through all files: tap.h counts anew in each file that includes it. */
#ifndef BURSTS_CASES_REPORT_H
#define BURSTS_CASES_REPORT_H

#include <stdbool.h>

__attribute__((format(printf, 2, 3))) bool check(bool passed, const char *format, ...);
/* Nothing can be tested any more. */
__attribute__((format(printf, 1, 2), noreturn)) void bail(const char *format, ...);
/* The plan; the program's status. */
int finish_report(void);

#endif
