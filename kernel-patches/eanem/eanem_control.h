/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of the bandwidth control: how large is a connection's receive window? */
#ifndef _LULL_EANEM_CONTROL_H
#define _LULL_EANEM_CONTROL_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * struct lull_eanem_control - the control of one connection
 * @target: the bandwidth that it went for in its last step, in bytes/s; 0 before the first
 * @window: bytes that the sender may send in a round trip, or in a period if that is longer
 * @since: when the last step was, in ns
 * @received: what had come until then
 * @round: when the right edge of the window was last raised, in ns
 * @edge: where it has been raised to, as a sequence number
 * @first: the connection's first sequence number; a socket that connects anew has another one
 */
struct lull_eanem_control {
	u64 target;
	u64 window;
	u64 since;
	u64 received;
	u64 round;
	u32 edge;
	u32 first;
};

/**
 * struct lull_eanem_view - what the control sees of the connection, and its settings
 * @now: the time, in ns
 * @target: the bandwidth to go for, in bytes/s, not 0
 * @received: bytes that have come in order
 * @rtt_ns: the round trip time
 * @interval_ns: the least time between two steps
 * @period_ns: the least time between two rises of the window's edge, not 0
 * @delta_ns: the paper's delta; 0 for three quarters of the connection's own
 * @next: the sequence number that is expected next
 * @open: what the sender has been offered from there on
 * @most: what the stack would offer
 * @unit: what TCP can offer is a multiple of this power of two, which window scaling makes
 * @mss: the largest segment, not 0; or @unit, if that is larger
 * @hole: whether something that was sent earlier is missing
 */
struct lull_eanem_view {
	u64 now;
	u64 target;
	u64 received;
	u64 rtt_ns;
	u64 interval_ns;
	u64 period_ns;
	u64 delta_ns;
	u32 next;
	u32 open;
	u32 most;
	u32 unit;
	u32 mss;
	bool hole;
};

/* The largest window that TCP can offer. */
#define LULL_EANEM_WINDOW_MOST	BIT_ULL(30)

bool lull_eanem_controls(const struct lull_eanem_control *control,
			 const struct lull_eanem_view *view);
u64 lull_eanem_next(u64 window, u64 target, u64 before, u64 bandwidth, u64 rtt_ns, u64 delta_ns);
bool lull_eanem_step(struct lull_eanem_control *control, const struct lull_eanem_view *view,
		     u64 *bandwidth);
u64 lull_eanem_round_ns(const struct lull_eanem_control *control,
			const struct lull_eanem_view *view);
u64 lull_eanem_again_ns(u64 before_ns);
u32 lull_eanem_raise(struct lull_eanem_control *control, const struct lull_eanem_view *view);
u32 lull_eanem_scaled(const struct lull_eanem_view *view, u32 window);

#endif /* _LULL_EANEM_CONTROL_H */
