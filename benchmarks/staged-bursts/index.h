/* SPDX-License-Identifier: BSD-3-Clause */
/* An inverted index of documents that are made up, with words as frequent as in a language. */
#ifndef SEARCH_INDEX_H
#define SEARCH_INDEX_H

#include <stdint.h>

#define INDEX_TOP 10

struct posting {
	uint32_t document;
	uint32_t count;
};

struct index {
	uint32_t documents, words;
	/* Of word w: postings[begin[w]] to postings[begin[w + 1]], by document. */
	uint32_t *begin;
	/* How many there are of each word. */
	uint32_t *next;
	struct posting *postings;
	/* The chance of words 0 to w, of 2^32. */
	uint32_t *chance;
	/* Of each document, over the mean. */
	float *length;
};

/* 0 or -ENOMEM. The same seed makes the same documents. */
int index_make(struct index *index, uint32_t documents, uint32_t words, uint32_t length,
	       uint64_t seed);
/* A word of the language, a frequent one more often. */
uint32_t index_word(const struct index *index, uint64_t *seed);
/*
 * The documents that fit a query best (BM25, any of its words), best first. scores has a float
 * for each document, all 0, and is left so. Returns how many there are, INDEX_TOP at most.
 */
int index_search(const struct index *index, const uint32_t *query, int terms, float *scores,
		 uint32_t top[INDEX_TOP]);

#endif
