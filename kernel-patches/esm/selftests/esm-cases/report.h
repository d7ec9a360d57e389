/* SPDX-License-Identifier: BSD-3-Clause */
/* TAP, numbered through all cases although each is a process of its own: ../esm.c. */
#ifndef ESM_CASES_REPORT_H
#define ESM_CASES_REPORT_H

#include <stdbool.h>

#include "note.h"

__attribute__((format(printf, 2, 3))) bool check(bool passed, const char *format, ...);
/* Something that the test needs cannot be had: the case fails here. */
__attribute__((format(printf, 1, 2), noreturn)) void give_up(const char *format, ...);

#endif
