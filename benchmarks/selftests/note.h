/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_NOTE_H
#define LULL_NOTE_H

/* As tap_note(). */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

#endif
