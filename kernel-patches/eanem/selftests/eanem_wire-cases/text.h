/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are longer than one read gives. */
#ifndef EANEM_WIRE_CASES_TEXT_H
#define EANEM_WIRE_CASES_TEXT_H

/* All that a file says. The caller frees it. */
char *read_all(const char *path);

#endif
