/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files of sysfs, procfs and debugfs, which one read gives whole. */
#ifndef LULL_SYSFS_H
#define LULL_SYSFS_H

#include <stddef.h>
#include <stdint.h>

/* Tests on the host have a tree of plain files elsewhere. */
#ifndef SYS_DIR
#define SYS_DIR "/sys"
#endif
#define CPU_DIR SYS_DIR "/devices/system/cpu"

/* All return 0 or -errno. Reading cuts at size - 1 and drops trailing newlines. */
int read_text(const char *path, char *text, size_t size);
int write_text(const char *path, const char *text);
/* Writes, and reads what the file says then: a write may have no effect and no error. */
int exchange_text(const char *path, const char *text, char *now, size_t size);
/* A file of lines of a word and a number: the number of a word. -ENOENT if the word is not there.
 */
int read_count(const char *path, const char *word, uint64_t *number);
/* The same of an open file. It can be read again and again: most of the work is to open it. */
int read_text_of(int fd, char *text, size_t size);
int read_number_of(int fd, uint64_t *number);
int exchange_text_of(int fd, const char *text, char *now, size_t size);

#endif
