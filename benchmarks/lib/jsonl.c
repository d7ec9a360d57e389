// SPDX-License-Identifier: BSD-3-Clause
#include "jsonl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void member(struct jsonl *line, const char *key)
{
	if (line->has_member[line->depth])
		putc_unlocked(',', line->out);
	line->has_member[line->depth] = true;
	if (!key)
		return;
	putc_unlocked('"', line->out);
	fputs_unlocked(key, line->out);
	fputs_unlocked("\":", line->out);
}

static void open_with(struct jsonl *line, char opener, char closer)
{
	if (line->depth == JSONL_MAX_DEPTH)
		abort();
	line->depth++;
	line->has_member[line->depth] = false;
	line->closer[line->depth] = closer;
	putc_unlocked(opener, line->out);
}

void jsonl_begin(struct jsonl *line, FILE *out)
{
	*line = (struct jsonl){.out = out};
	open_with(line, '{', '}');
}

void jsonl_close(struct jsonl *line)
{
	putc_unlocked(line->closer[line->depth], line->out);
	line->depth--;
}

void jsonl_end(struct jsonl *line)
{
	while (line->depth > 0)
		jsonl_close(line);
	putc_unlocked('\n', line->out);
}

int jsonl_finish(FILE *out)
{
	bool failed = ferror(out);

	if (fclose(out))
		return -errno;
	return failed ? -EIO : 0;
}

void jsonl_object(struct jsonl *line, const char *key)
{
	member(line, key);
	open_with(line, '{', '}');
}

void jsonl_array(struct jsonl *line, const char *key)
{
	member(line, key);
	open_with(line, '[', ']');
}

/* Length of the valid UTF-8 sequence at text, 0 when there is none. */
static int utf8_length(const unsigned char *text)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	int length;

	if (text[0] < 0x80)
		return 1;
	if ((text[0] & 0xe0) == 0xc0)
		length = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		length = 3;
	else if ((text[0] & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;
	code = text[0] & (0x7fU >> length);
	for (int i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void put_escaped(FILE *out, const unsigned char *text)
{
	while (*text) {
		int length = 0;

		while (is_plain(text[length]))
			length++;
		if (length == 0 && (*text & 0x80))
			length = utf8_length(text);
		if (length > 0)
			fwrite_unlocked(text, 1, (size_t)length, out);
		else if (*text & 0x80)
			fputs_unlocked("\\ufffd", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fprintf(out, "\\u%04x", *text);
		text += length ? length : 1;
	}
}

void jsonl_string(struct jsonl *line, const char *key, const char *value)
{
	if (!value) {
		jsonl_null(line, key);
		return;
	}
	member(line, key);
	putc_unlocked('"', line->out);
	put_escaped(line->out, (const unsigned char *)value);
	putc_unlocked('"', line->out);
}

void jsonl_int(struct jsonl *line, const char *key, int64_t value)
{
	char digits[20];
	char *first = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	member(line, key);
	/* By hand: printf takes ten times as many instructions, and most values are numbers. */
	do
		*--first = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		putc_unlocked('-', line->out);
	fwrite_unlocked(first, 1, (size_t)(digits + sizeof(digits) - first), line->out);
}

void jsonl_real(struct jsonl *line, const char *key, double value)
{
	if (!isfinite(value)) {
		jsonl_null(line, key);
		return;
	}
	member(line, key);
	fprintf(line->out, "%.17g", value);
}

void jsonl_bool(struct jsonl *line, const char *key, bool value)
{
	member(line, key);
	fputs_unlocked(value ? "true" : "false", line->out);
}

void jsonl_null(struct jsonl *line, const char *key)
{
	member(line, key);
	fputs_unlocked("null", line->out);
}

void jsonl_counts(struct jsonl *line, char *text)
{
	char *rest, *number;

	for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		number = strtok_r(NULL, " \n", &rest);
		if (number)
			jsonl_int(line, word, strtoll(number, NULL, 10));
	}
}
