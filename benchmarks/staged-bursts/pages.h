/* SPDX-License-Identifier: BSD-3-Clause */
/* Debian's manual pages in an SQLite database: a full-text index, and words to ask for. */
#ifndef SEARCH_PAGES_H
#define SEARCH_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* So many words of each page are in the database. */
#define PAGES_WORDS 24

/* One thread's access to the index. */
struct pages {
	sqlite3 *database;
	sqlite3_stmt *search;
};

/* Before anything else; once. */
bool pages_init(void);

/* What went wrong is in *error, a text that stays. */
bool pages_open(struct pages *pages, const char *path, const char **error);

/* The ten best pages that have any of the words: the best one, or 0 if there is none; negative for
 * an error. */
int64_t pages_search(struct pages *pages, const char *query);

/* For each page, from 0 on, the words that one may ask for, separated by a space. NULL on an error.
 */
const char **pages_words(const char *path, uint32_t *count, const char **error);

/* A query for the first of these words. False if it does not fit. */
bool pages_query(char *query, size_t size, const char *words, int terms);

#endif
