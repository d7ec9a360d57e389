// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of what one task registered at one source, and which entry of it
 * an event belongs to.
 */
#include <linux/string.h>

#include "esm.h"

/* Where a key is, or would be. */
static unsigned int esm_matches_index(const struct esm_matches *matches, u32 key)
{
	unsigned int low = 0, high = matches->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (matches->match[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}

	return low;
}

/**
 * esm_matches_exact - find a registration
 * @matches: the table
 * @key: its type and code as they were registered
 *
 * Return: the registration or NULL.
 */
struct esm_match *esm_matches_exact(struct esm_matches *matches, u32 key)
{
	unsigned int index = esm_matches_index(matches, key);

	if (index == matches->count || matches->match[index].key != key)
		return NULL;

	return &matches->match[index];
}

/**
 * esm_matches_find - find the narrowest registration that an event belongs to
 * @matches: the table
 * @type: the event's type
 * @code: its code
 * @only: NULL, or the reader that all others have to stand back for
 *
 * Return: the registration or NULL.
 */
const struct esm_match *esm_matches_find(struct esm_matches *matches, u16 type, u16 code,
					 const struct esm_reader *only)
{
	const u32 keys[] = { esm_key(type, code), esm_key(type, ESM_ANY),
			     esm_key(ESM_ANY, ESM_ANY) };
	const struct esm_match *match;
	unsigned int width;

	for (width = 0; width < ARRAY_SIZE(keys); width++) {
		match = esm_matches_exact(matches, keys[width]);
		if (match && (!only || match->reader == only))
			return match;
	}

	return NULL;
}

static void esm_matches_update_types(struct esm_matches *matches)
{
	unsigned int index, type;
	u32 types = 0;

	for (index = 0; index < matches->count; index++) {
		type = matches->match[index].key >> 16;
		types |= type == ESM_ANY ? U32_MAX : BIT(type);
	}
	WRITE_ONCE(matches->types, types);
}

/**
 * esm_matches_insert - make room for a registration
 * @matches: the table, which is not full
 * @key: type and code, which are not in it
 *
 * Return: the new entry, empty but for its key.
 */
struct esm_match *esm_matches_insert(struct esm_matches *matches, u32 key)
{
	unsigned int index = esm_matches_index(matches, key);
	struct esm_match *match = &matches->match[index];

	memmove(match + 1, match, (matches->count - index) * sizeof(*match));
	matches->count++;
	*match = (struct esm_match){ .key = key };
	esm_matches_update_types(matches);

	return match;
}

/**
 * esm_matches_remove - take a registration away
 * @matches: the table
 * @match: the registration
 */
void esm_matches_remove(struct esm_matches *matches, struct esm_match *match)
{
	unsigned int index = match - matches->match;

	matches->count--;
	memmove(match, match + 1, (matches->count - index) * sizeof(*match));
	esm_matches_update_types(matches);
}
