// SPDX-License-Identifier: BSD-3-Clause
/* How the windows of segments that are made up are judged. */
#include <stdbool.h>
#include <stdint.h>

#include "cases.h"
#include "edge.h"
#include "report.h"
#include "segment.h"

static struct segment ack_of(uint32_t ack, uint16_t window)
{
	return (struct segment){.ack = ack, .window = window, .acknowledges = true};
}

static void judged(struct edge *edge, struct segment segment, unsigned int back,
		   unsigned int furthest_back, uint64_t raised, const char *what)
{
	edge_sees(edge, &segment);
	if (!check(edge->back == back && edge->furthest_back == furthest_back &&
			   edge->raised == raised,
		   "segments that are made up: %s", what))
		note("%u back, by up to %u, and %llu up", edge->back, edge->furthest_back,
		     (unsigned long long)edge->raised);
}

/* What judges the windows is judged first. All but the first segment are after the wrap-around. */
void test_edge(void)
{
	const uint32_t begin = 0xffffff00, right = begin + 65000, unit = 128;
	struct segment syn = ack_of(begin, 65000), reset = ack_of(0, 0);
	struct edge edge = {0};

	syn.syn = true;
	syn.scale = 7;
	reset.resets = true;
	judged(&edge, syn, 0, 0, 0, "the window of a SYN is not scaled");
	judged(&edge, ack_of(right - 500 * unit, 500), 0, 0, 0, "an ACK leaves the edge there");
	judged(&edge, ack_of(right - 500 * unit, 501), 0, 0, unit, "it goes up by a unit");
	judged(&edge, ack_of(right + unit, 0), 0, 0, unit, "the window is used up, and closed");
	judged(&edge, reset, 0, 0, unit, "a reset says nothing");
	judged(&edge, ack_of(right + unit, 2), 0, 0, 3 * unit, "it goes up by two units");
	judged(&edge, ack_of(right + 2 * unit - 1, 1), 1, 1, 3 * unit, "a byte is taken back");
	judged(&edge, ack_of(right + unit, 0), 2, 2 * unit, 3 * unit, "two units are taken back");
	judged(&edge, ack_of(right + unit, 3), 2, 2 * unit, 4 * unit,
	       "what is given again is nothing new");
}
