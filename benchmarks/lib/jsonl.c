// SPDX-License-Identifier: BSD-3-Clause
#include "jsonl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void member(struct jsonl *line, const char *key)
{
	if (line->has_member[line->depth])
		fputc(',', line->out);
	line->has_member[line->depth] = true;
	if (key)
		fprintf(line->out, "\"%s\":", key);
}

static void open_with(struct jsonl *line, char opener, char closer)
{
	if (line->depth == JSONL_MAX_DEPTH)
		abort();
	line->depth++;
	line->has_member[line->depth] = false;
	line->closer[line->depth] = closer;
	fputc(opener, line->out);
}

void jsonl_begin(struct jsonl *line, FILE *out)
{
	*line = (struct jsonl){.out = out};
	open_with(line, '{', '}');
}

void jsonl_close(struct jsonl *line)
{
	fputc(line->closer[line->depth], line->out);
	line->depth--;
}

void jsonl_end(struct jsonl *line)
{
	while (line->depth > 0)
		jsonl_close(line);
	fputc('\n', line->out);
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

static void put_escaped(FILE *out, const unsigned char *text)
{
	while (*text) {
		int length = utf8_length(text);

		if (length == 0) {
			fputs("\\ufffd", out);
			text++;
		} else if (*text == '"' || *text == '\\') {
			fprintf(out, "\\%c", *text++);
		} else if (*text < 0x20 || *text == 0x7f) {
			fprintf(out, "\\u%04x", *text++);
		} else {
			fwrite(text, 1, (size_t)length, out);
			text += length;
		}
	}
}

void jsonl_string(struct jsonl *line, const char *key, const char *value)
{
	if (!value) {
		jsonl_null(line, key);
		return;
	}
	member(line, key);
	fputc('"', line->out);
	put_escaped(line->out, (const unsigned char *)value);
	fputc('"', line->out);
}

void jsonl_int(struct jsonl *line, const char *key, int64_t value)
{
	member(line, key);
	fprintf(line->out, "%" PRId64, value);
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
	fputs(value ? "true" : "false", line->out);
}

void jsonl_null(struct jsonl *line, const char *key)
{
	member(line, key);
	fputs("null", line->out);
}
