// SPDX-License-Identifier: BSD-3-Clause
#include "pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH "SELECT rowid FROM page WHERE page MATCH ?1 ORDER BY rank LIMIT 10"
#define WORDS "SELECT words FROM asked ORDER BY page"
#define MAPPED "PRAGMA mmap_size = 1073741824"

bool pages_init(void)
{
	/* Each thread has a connection of its own. Nobody asks how much memory there is in all,
	 * which would be a lock. */
	return sqlite3_config(SQLITE_CONFIG_MULTITHREAD) == SQLITE_OK &&
	       sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK &&
	       sqlite3_initialize() == SQLITE_OK;
}

static bool open_database(sqlite3 **database, const char *path, const char **error)
{
	int status = sqlite3_open_v2(path, database, SQLITE_OPEN_READONLY, NULL);

	/* All connections read the same pages of memory. */
	if (status == SQLITE_OK)
		status = sqlite3_exec(*database, MAPPED, NULL, NULL, NULL);
	if (status == SQLITE_OK)
		return true;
	*error = sqlite3_errstr(status);
	return false;
}

bool pages_open(struct pages *pages, const char *path, const char **error)
{
	int status;

	if (!open_database(&pages->database, path, error))
		return false;
	status = sqlite3_prepare_v2(pages->database, SEARCH, -1, &pages->search, NULL);
	*error = sqlite3_errstr(status);
	return status == SQLITE_OK;
}

int64_t pages_search(struct pages *pages, const char *query)
{
	int64_t best = 0;
	int status;

	sqlite3_bind_text(pages->search, 1, query, -1, SQLITE_STATIC);
	while ((status = sqlite3_step(pages->search)) == SQLITE_ROW)
		if (!best)
			best = sqlite3_column_int64(pages->search, 0);
	sqlite3_reset(pages->search);

	return status == SQLITE_DONE ? best : -1;
}

const char **pages_words(const char *path, uint32_t *count, const char **error)
{
	const char **words = NULL;
	sqlite3 *database;
	sqlite3_stmt *all;
	int status;

	*count = 0;
	if (!open_database(&database, path, error))
		return NULL;
	status = sqlite3_prepare_v2(database, WORDS, -1, &all, NULL);
	while (status == SQLITE_OK || status == SQLITE_ROW) {
		status = sqlite3_step(all);
		if (status != SQLITE_ROW)
			break;
		words = reallocarray(words, *count + 1, sizeof(*words));
		if (!words)
			abort();
		words[(*count)++] = strdup((const char *)sqlite3_column_text(all, 0));
	}
	*error = status == SQLITE_DONE ? "no page has any words" : sqlite3_errstr(status);
	sqlite3_finalize(all);
	sqlite3_close(database);

	return status == SQLITE_DONE ? words : NULL;
}

bool pages_query(char *query, size_t size, const char *words, int terms)
{
	size_t length = 0;

	for (int i = 0; i < terms && *words; i++) {
		size_t own = strcspn(words, " ");
		int more = snprintf(query + length, size - length, "%s\"%.*s\"", i ? " OR " : "",
				    (int)own, words);

		if (more < 0 || (size_t)more >= size - length)
			return false;
		length += (size_t)more;
		words += own + (words[own] == ' ');
	}
	return length;
}
