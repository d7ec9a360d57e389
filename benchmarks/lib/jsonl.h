/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON lines. A line is one object: jsonl_begin(), values, jsonl_end(). Inside an array pass NULL
 * as the key. Keys are the caller's literals and must need no escaping; values may be any bytes.
 * One thread at a time writes into a file.
 */
#ifndef LULL_JSONL_H
#define LULL_JSONL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSONL_MAX_DEPTH 8

struct jsonl {
	FILE *out;
	int depth;
	bool has_member[JSONL_MAX_DEPTH + 1];
	char closer[JSONL_MAX_DEPTH + 1];
};

void jsonl_begin(struct jsonl *line, FILE *out);
/* Closes what is open and ends the line. */
void jsonl_end(struct jsonl *line);
/* Closes the file. 0 when all of it was written, otherwise what went wrong, negative. */
int jsonl_finish(FILE *out);

void jsonl_object(struct jsonl *line, const char *key);
void jsonl_array(struct jsonl *line, const char *key);
void jsonl_close(struct jsonl *line);

/* Bytes that are not UTF-8 become U+FFFD. A NULL string is null. */
void jsonl_string(struct jsonl *line, const char *key, const char *value);
void jsonl_int(struct jsonl *line, const char *key, int64_t value);
/* A text of words that each have a number behind them, as the kernel's counts have. It is cut up.
 */
void jsonl_counts(struct jsonl *line, char *text);
/* 17 significant digits, so that the value survives; not-a-number and infinities are null. */
void jsonl_real(struct jsonl *line, const char *key, double value);
void jsonl_bool(struct jsonl *line, const char *key, bool value);
void jsonl_null(struct jsonl *line, const char *key);

#endif
