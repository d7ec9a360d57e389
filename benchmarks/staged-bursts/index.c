// SPDX-License-Identifier: BSD-3-Clause
#include "index.h"

#include <errno.h>
#include <stdlib.h>

#include "random.h"

/* BM25's usual numbers. */
#define K1 1.2f
#define B 0.75f

/* The natural logarithm, as the C library's is in a library of its own. x is at least 1. */
static float logarithm(float x)
{
	float sum = 0, z, power;

	for (; x > 2; x /= 2)
		sum += 0.69314718f;
	/* 2 artanh z */
	z = (x - 1) / (x + 1);
	power = 2 * z;
	for (int i = 1; i < 12; i += 2, power *= z * z)
		sum += power / (float)i;
	return sum;
}

/* Zipf's law: the word of rank r has a chance in proportion to 1 / r. */
static void make_chances(struct index *index)
{
	double sum = 0, so_far = 0;

	for (uint32_t word = 0; word < index->words; word++)
		sum += 1.0 / (word + 1);
	for (uint32_t word = 0; word < index->words; word++) {
		so_far += 1.0 / (word + 1);
		index->chance[word] = (uint32_t)(so_far / sum * UINT32_MAX);
	}
	index->chance[index->words - 1] = UINT32_MAX;
}

uint32_t index_word(const struct index *index, uint64_t *seed)
{
	uint32_t drawn = (uint32_t)(next_random(seed) >> 32);
	uint32_t low = 0, high = index->words - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (index->chance[middle] < drawn)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room for each token in order of words; a word that a document repeats leaves some of it free. */
static void fill(struct index *index, const uint32_t *text, const uint32_t *ends)
{
	uint32_t *next = index->next, token = 0, to = 0;

	for (uint32_t document = 0; document < index->documents; document++) {
		for (; token < ends[document]; token++) {
			uint32_t word = text[token];
			struct posting *own = &index->postings[index->begin[word]];
			uint32_t *filled = &next[word];

			if (*filled && own[*filled - 1].document == document)
				own[*filled - 1].count++;
			else
				own[(*filled)++] = (struct posting){document, 1};
		}
	}
	/* And that room is closed. */
	for (uint32_t word = 0; word < index->words; word++) {
		uint32_t from = index->begin[word];

		index->begin[word] = to;
		for (uint32_t i = 0; i < next[word]; i++)
			index->postings[to++] = index->postings[from + i];
	}
	index->begin[index->words] = to;
}

int index_make(struct index *index, uint32_t documents, uint32_t words, uint32_t length,
	       uint64_t seed)
{
	/* Documents have half to one and a half of the mean length. */
	size_t most = (size_t)documents * (length + length / 2 + 1);
	uint32_t *text = malloc(most * sizeof(*text));
	uint32_t *ends = malloc(documents * sizeof(*ends));
	uint32_t tokens = 0;

	*index = (struct index){.documents = documents, .words = words};
	index->begin = calloc(words + 1, sizeof(*index->begin));
	index->next = calloc(words, sizeof(*index->next));
	index->postings = malloc(most * sizeof(*index->postings));
	index->chance = malloc(words * sizeof(*index->chance));
	index->length = malloc(documents * sizeof(*index->length));
	if (!text || !ends || !index->begin || !index->next || !index->postings || !index->chance ||
	    !index->length)
		return -ENOMEM;
	make_chances(index);

	for (uint32_t document = 0; document < documents; document++) {
		uint32_t own = length / 2 + (uint32_t)(next_random(&seed) % (length + 1));

		index->length[document] = (float)own / (float)length;
		for (uint32_t i = 0; i < own; i++) {
			text[tokens] = index_word(index, &seed);
			index->begin[text[tokens++] + 1]++;
		}
		ends[document] = tokens;
	}
	for (uint32_t word = 0; word < words; word++)
		index->begin[word + 1] += index->begin[word];
	fill(index, text, ends);
	free(text);
	free(ends);
	return 0;
}

static void add(const struct index *index, uint32_t word, float *scores)
{
	uint32_t begin = index->begin[word], end = index->begin[word + 1];
	float had = (float)(end - begin);
	float rare = logarithm(((float)index->documents - had + 0.5f) / (had + 0.5f) + 1);

	for (uint32_t i = begin; i < end; i++) {
		const struct posting *posting = &index->postings[i];
		float count = (float)posting->count;
		float norm = K1 * (1 - B + B * index->length[posting->document]);

		scores[posting->document] += rare * count * (K1 + 1) / (count + norm);
	}
}

int index_search(const struct index *index, const uint32_t *query, int terms, float *scores,
		 uint32_t top[INDEX_TOP])
{
	float best[INDEX_TOP];
	int found = 0;

	for (int i = 0; i < terms; i++)
		add(index, query[i], scores);
	for (uint32_t document = 0; document < index->documents; document++) {
		float score = scores[document];
		int at;

		scores[document] = 0;
		if (score <= 0 || (found == INDEX_TOP && score <= best[INDEX_TOP - 1]))
			continue;
		at = found < INDEX_TOP ? found++ : INDEX_TOP - 1;
		for (; at && best[at - 1] < score; at--) {
			best[at] = best[at - 1];
			top[at] = top[at - 1];
		}
		best[at] = score;
		top[at] = document;
	}
	return found;
}
