// SPDX-License-Identifier: BSD-3-Clause
#include "edge.h"

/*
 * RFC 9293 forbids that the right edge moves to the left. RFC 7323: the window of a SYN is not
 * scaled, all others are. Sequence numbers wrap around.
 */
void edge_sees(struct edge *edge, const struct segment *segment)
{
	uint32_t window = segment->window;
	bool same_hole;
	int32_t moved;

	if (segment->syn)
		edge->scale = segment->scale;
	else
		window <<= edge->scale;
	if (!segment->acknowledges || segment->resets)
		return;

	moved = edge->known ? (int32_t)(segment->ack + window - edge->right) : 0;
	same_hole = edge->known && edge->hole && segment->hole && edge->ack == segment->ack;
	edge->moved_in_hole += same_hole && moved;

	edge->holes += segment->hole;
	if (moved < 0) {
		edge->back++;
		if ((unsigned int)-moved > edge->furthest_back)
			edge->furthest_back = (unsigned int)-moved;
	}
	if (!edge->known || moved > 0) {
		edge->right = segment->ack + window;
		edge->raised += (unsigned int)moved;
	}
	edge->known = true;
	edge->ack = segment->ack;
	edge->window = window;
	edge->hole = segment->hole;
}
