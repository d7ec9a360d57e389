/* SPDX-License-Identifier: BSD-3-Clause */
/* TAP, numbered through all files of a program: tap.h counts anew in each file that includes it. */
#ifndef LULL_REPORT_H
#define LULL_REPORT_H

#include <stdbool.h>

#include "note.h"

/* As tap_ok(), tap_bail() and tap_finish(). */
__attribute__((format(printf, 2, 3))) bool check(bool passed, const char *format, ...);
__attribute__((format(printf, 1, 2), noreturn)) void bail(const char *format, ...);
int report_finish(void);

/* An error, of either sign, ends the program. */
void must(int error, const char *what);
/* Writes into a file, or the program ends. */
void put(const char *file, const char *value);

#endif
