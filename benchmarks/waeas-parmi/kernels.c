// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.h"

#include <stdbool.h>
#include <string.h>

#include "random.h"

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x100000001b3ULL;
}

/* Bits of random words, by three methods that have to agree. */

#define BITCOUNT_WORDS 4000

static unsigned int bits_one_by_one(uint64_t word)
{
	unsigned int bits = 0;

	for (; word; word &= word - 1)
		bits++;
	return bits;
}

static unsigned int bits_by_table(uint64_t word)
{
	static const uint8_t nibble[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
	unsigned int bits = 0;

	for (int i = 0; i < 16; i++, word >>= 4)
		bits += nibble[word & 15];
	return bits;
}

static unsigned int bits_in_parallel(uint64_t word)
{
	word -= (word >> 1) & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (unsigned int)(word * 0x0101010101010101ULL >> 56);
}

static uint64_t bitcount(uint64_t seed, void *room)
{
	uint64_t sums[3] = {0};

	(void)room;
	for (int i = 0; i < BITCOUNT_WORDS; i++) {
		uint64_t word = next_random(&seed);

		sums[0] += bits_one_by_one(word);
		sums[1] += bits_by_table(word);
		sums[2] += bits_in_parallel(word);
	}
	return sums[0] == sums[1] && sums[1] == sums[2] ? sums[0] : 0;
}

/* A picture is smoothed, and its edges are found. */

#define SUSAN_SIDE 96

struct picture {
	uint8_t raw[SUSAN_SIDE][SUSAN_SIDE], smooth[SUSAN_SIDE][SUSAN_SIDE];
};

static uint64_t susan(uint64_t seed, void *room)
{
	struct picture *picture = room;
	uint64_t sum = 0;

	/* Rectangles, so that there are edges, and noise. */
	for (int y = 0; y < SUSAN_SIDE; y++)
		for (int x = 0; x < SUSAN_SIDE; x++)
			picture->raw[y][x] = (uint8_t)((x / 16 + y / 24) % 2 * 128 +
						       (int)(next_random(&seed) % 32));
	for (int y = 1; y < SUSAN_SIDE - 1; y++) {
		for (int x = 1; x < SUSAN_SIDE - 1; x++) {
			int total = 0;

			for (int dy = -1; dy <= 1; dy++)
				for (int dx = -1; dx <= 1; dx++)
					total += picture->raw[y + dy][x + dx] * (2 - dx * dx) *
						 (2 - dy * dy);
			picture->smooth[y][x] = (uint8_t)(total / 16);
		}
	}
	for (int y = 2; y < SUSAN_SIDE - 2; y++) {
		for (int x = 2; x < SUSAN_SIDE - 2; x++) {
			int right = picture->smooth[y][x + 1] - picture->smooth[y][x - 1];
			int down = picture->smooth[y + 1][x] - picture->smooth[y - 1][x];

			sum += right * right + down * down > 900;
		}
	}
	return sum;
}

/* Square roots, cube roots and greatest common divisors. */

#define MATH_ROUNDS 300

static uint64_t root(uint64_t number, int power)
{
	uint64_t low = 0, high = power == 2 ? 0xffffffffULL : 2642245;

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;
		uint64_t raised = power == 2 ? middle * middle : middle * middle * middle;

		if (raised <= number)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint64_t basicmath(uint64_t seed, void *room)
{
	uint64_t sum = 0;

	(void)room;
	for (int i = 0; i < MATH_ROUNDS; i++) {
		uint64_t one = next_random(&seed) >> 8, other = next_random(&seed) >> 40;

		sum = mix(sum, root(one, 2));
		sum = mix(sum, root(one, 3));
		while (other) {
			uint64_t rest = one % other;

			one = other;
			other = rest;
		}
		sum = mix(sum, one);
	}
	return sum;
}

/* A Patricia trie of addresses: insert them, then look for them and for others. */

#define TRIE_KEYS 900

struct node {
	uint32_t key;
	/* The bit that decides, from the left; children as indices, a smaller bit is a leaf. */
	int bit;
	int child[2];
};

static int bit_of(uint32_t key, int bit)
{
	return bit >= 0 ? (int)(key >> (31 - bit) & 1) : 0;
}

static int trie_find(const struct node *nodes, uint32_t key)
{
	int above = 0, at = nodes[0].child[0];

	while (nodes[at].bit > nodes[above].bit) {
		above = at;
		at = nodes[at].child[bit_of(key, nodes[at].bit)];
	}
	return at;
}

static bool trie_insert(struct node *nodes, int count, uint32_t key)
{
	int nearest = trie_find(nodes, key), bit = 0, above = 0, at = nodes[0].child[0];

	if (nodes[nearest].key == key)
		return false;
	while (bit_of(key, bit) == bit_of(nodes[nearest].key, bit))
		bit++;
	while (nodes[at].bit > nodes[above].bit && nodes[at].bit < bit) {
		above = at;
		at = nodes[at].child[bit_of(key, nodes[at].bit)];
	}
	nodes[count] = (struct node){.key = key, .bit = bit};
	nodes[count].child[bit_of(key, bit)] = count;
	nodes[count].child[!bit_of(key, bit)] = at;
	nodes[above].child[above ? bit_of(key, nodes[above].bit) : 0] = count;
	return true;
}

static uint64_t patricia(uint64_t seed, void *room)
{
	struct node *nodes = room;
	uint64_t again = seed, sum = 0;
	int count = 1;

	nodes[0] = (struct node){.bit = -1};
	for (int i = 0; i < TRIE_KEYS; i++)
		count += trie_insert(nodes, count, (uint32_t)(next_random(&seed) >> 44) << 8 | 1);
	/* All that are there, and as many that are not. */
	for (int i = 0; i < TRIE_KEYS; i++) {
		uint32_t key = (uint32_t)(next_random(&again) >> 44) << 8 | 1;

		sum += nodes[trie_find(nodes, key)].key == key;
		sum += nodes[trie_find(nodes, key | 2)].key == (key | 2);
	}
	return (sum << 32) + (uint64_t)count;
}

/* The shortest ways from one place of a map to all others. */

#define MAP_PLACES 128

struct map {
	uint32_t length[MAP_PLACES][MAP_PLACES], shortest[MAP_PLACES];
	bool known[MAP_PLACES];
};

static uint64_t dijkstra(uint64_t seed, void *room)
{
	struct map *map = room;
	uint64_t sum = 0;

	for (int from = 0; from < MAP_PLACES; from++) {
		for (int to = 0; to < MAP_PLACES; to++)
			map->length[from][to] = (uint32_t)(next_random(&seed) % 1000) + 1;
		map->shortest[from] = from ? UINT32_MAX : 0;
		map->known[from] = false;
	}
	for (int i = 0; i < MAP_PLACES; i++) {
		int nearest = -1;

		for (int place = 0; place < MAP_PLACES; place++)
			if (!map->known[place] &&
			    (nearest < 0 || map->shortest[place] < map->shortest[nearest]))
				nearest = place;
		map->known[nearest] = true;
		sum = mix(sum, map->shortest[nearest]);
		for (int place = 0; place < MAP_PLACES; place++) {
			uint32_t by = map->shortest[nearest] + map->length[nearest][place];

			if (by < map->shortest[place])
				map->shortest[place] = by;
		}
	}
	return sum;
}

/* Words are looked for in a text (Boyer, Moore and Horspool). */

#define TEXT_BYTES 8192
#define WORDS 8
#define WORD_BYTES 6

static uint64_t stringsearch(uint64_t seed, void *room)
{
	uint8_t *text = room;
	uint64_t sum = 0;

	for (int i = 0; i < TEXT_BYTES; i++)
		text[i] = (uint8_t)('a' + next_random(&seed) % 4);
	for (int word = 0; word < WORDS; word++) {
		uint8_t wanted[WORD_BYTES], skip[256];
		int at = 0;

		for (int i = 0; i < WORD_BYTES; i++)
			wanted[i] = (uint8_t)('a' + next_random(&seed) % 4);
		memset(skip, WORD_BYTES, sizeof(skip));
		for (int i = 0; i < WORD_BYTES - 1; i++)
			skip[wanted[i]] = (uint8_t)(WORD_BYTES - 1 - i);
		while (at <= TEXT_BYTES - WORD_BYTES) {
			int i = WORD_BYTES - 1;

			while (i >= 0 && text[at + i] == wanted[i])
				i--;
			if (i < 0)
				sum = mix(sum, (uint64_t)at);
			at += skip[text[at + WORD_BYTES - 1]];
		}
	}
	return sum;
}

/* SHA-1 of a buffer. */

#define SHA_BYTES 16384

static uint32_t turn(uint32_t word, int by)
{
	return word << by | word >> (32 - by);
}

static void sha_block(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? (b & c) | (~b & d)
			     : i < 40 ? b ^ c ^ d
			     : i < 60 ? (b & c) | (b & d) | (c & d)
				      : b ^ c ^ d;
		static const uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
		uint32_t next = turn(a, 5) + f + e + k[i / 20] + w[i];

		e = d;
		d = c;
		c = turn(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

static uint64_t sha1(uint64_t seed, void *room)
{
	uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	uint8_t *bytes = room, last[64] = {0x80};

	for (int i = 0; i < SHA_BYTES; i++)
		bytes[i] = (uint8_t)next_random(&seed);
	for (int i = 0; i < SHA_BYTES; i += 64)
		sha_block(state, bytes + i);
	for (int i = 0; i < 8; i++)
		last[56 + i] = (uint8_t)((uint64_t)SHA_BYTES * 8 >> (56 - 8 * i));
	sha_block(state, last);
	return (uint64_t)state[0] << 32 | state[1];
}

const struct kernel kernels[KERNELS] = {
	{"bitcount", bitcount, 1, 0x1f3e4},
	{"susan", susan, sizeof(struct picture), 0x915},
	{"basicmath", basicmath, 1, 0xf4e833dcecacdf5a},
	{"patricia", patricia, (TRIE_KEYS + 1) * sizeof(struct node), 0x38400000385},
	{"dijkstra", dijkstra, sizeof(struct map), 0x9ff87d25e9bdf8e4},
	{"stringsearch", stringsearch, TEXT_BYTES, 0xa69e177a148a7dd7},
	{"sha1", sha1, SHA_BYTES, 0x392454281acc1dbb},
};
