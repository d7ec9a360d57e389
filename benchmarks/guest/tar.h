/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory as a tar stream that depends on its contents and nothing else: names sorted, time
 * 0, owner 0. Files, directories and symbolic links are kept; anything else, and what is mounted
 * below, is left out. Hard links become copies. Long names are written as GNU tar writes them.
 */
#ifndef LULL_TAR_H
#define LULL_TAR_H

#include <limits.h>
#include <stddef.h>

/* Takes bytes of the stream; 0 or -errno. */
typedef int (*tar_sink)(void *context, const void *data, size_t length);

/*
 * An empty directory makes no stream at all. Returns 0, or -errno with the name of the entry that
 * could not be archived in failed, empty when it is the directory itself.
 */
int tar_directory(const char *directory, tar_sink sink, void *context, char failed[PATH_MAX]);

#endif
