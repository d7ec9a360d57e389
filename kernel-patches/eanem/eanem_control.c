// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic of the bandwidth control: how large is a connection's receive window?
 *
 * Two parts. A step, once in an interval, chooses the window as algorithm 1 of the paper does. In
 * between, the right edge of the window is raised: by one window each round trip, as TCP does by
 * itself, but not more often than once in a period. So a connection whose round trip is so short
 * that its window would be less than a segment gets whole segments, less often.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "eanem_control.h"

/* Segments that a rise is worth at least: one alone would wait for a delayed ACK. */
#define LULL_EANEM_SEGMENTS	2
/* A window has to be in force for so many round trips, or rises, before it is judged. */
#define LULL_EANEM_SETTLE	4
/* The first and the longest time until one looks again for a socket that a program has. */
#define LULL_EANEM_AGAIN_LEAST_NS	(50ULL * NSEC_PER_USEC)
#define LULL_EANEM_AGAIN_MOST_NS	(10ULL * NSEC_PER_MSEC)

static u64 lull_eanem_clamp(u64 window)
{
	return clamp(window, 1ULL, LULL_EANEM_WINDOW_MOST);
}

/**
 * lull_eanem_next - the window of the next interval, by algorithm 1
 * @window: the window now, in bytes
 * @target: the bandwidth to go for, in bytes/s
 * @before: the one in the last interval
 * @bandwidth: what was there in the last interval
 * @rtt_ns: the time that a window takes
 * @delta_ns: what the window grows by, in bytes for each byte/s that is missing; 0 for three
 *	quarters of the window by the bandwidth, which is the connection's own delta: with all of
 *	it, the target would be there after one interval if nothing else changed
 *
 * A new target is answered by a window in proportion. A window that was not what held the
 * connection back tells nothing: no more counts of it than twice what was under way. A target that
 * stays is approached by delta, and the window is at most doubled.
 *
 * Return: the window, from 1 to LULL_EANEM_WINDOW_MOST.
 */
u64 lull_eanem_next(u64 window, u64 target, u64 before, u64 bandwidth, u64 rtt_ns, u64 delta_ns)
{
	u64 missing, more;

	if (!bandwidth) {
		/* Nothing came, and nothing was learned. */
		if (target == before)
			return lull_eanem_clamp(window);
		return lull_eanem_clamp(mul_u64_u64_div_u64(target, rtt_ns, NSEC_PER_SEC));
	}
	if (target != before) {
		more = 2 * mul_u64_u64_div_u64(bandwidth, rtt_ns, NSEC_PER_SEC);
		window = min(window, max(more, 1ULL));
		return lull_eanem_clamp(mul_u64_u64_div_u64(window, target, bandwidth));
	}

	missing = target > bandwidth ? target - bandwidth : bandwidth - target;
	if (delta_ns)
		more = mul_u64_u64_div_u64(missing, delta_ns, NSEC_PER_SEC);
	else
		more = mul_u64_u64_div_u64(window, 3 * missing, 4 * bandwidth);
	if (target > bandwidth)
		window += min(more, window);
	else
		window -= min(more, window);
	return lull_eanem_clamp(window);
}

/* What one rise is worth, in bytes. */
static u64 lull_eanem_worth(const struct lull_eanem_control *control,
			    const struct lull_eanem_view *view)
{
	return max(control->window, (u64)LULL_EANEM_SEGMENTS * view->mss);
}

/**
 * lull_eanem_round_ns - the least time from one rise of the window's edge to the next
 * @control: the connection's control
 * @view: what is seen of it
 *
 * Return: the period, or more if one rise is worth more than the window.
 */
u64 lull_eanem_round_ns(const struct lull_eanem_control *control,
			const struct lull_eanem_view *view)
{
	return mul_u64_u64_div_u64(view->period_ns, lull_eanem_worth(control, view),
				   control->window);
}

/* What has come ends at the sequence number that is expected next. */
static u32 lull_eanem_first(const struct lull_eanem_view *view)
{
	return view->next - (u32)view->received;
}

/**
 * lull_eanem_controls - has the connection been controlled before?
 * @control: the control of a socket
 * @view: what is seen of its connection
 *
 * Return: false if it has not, or if that was an earlier connection of the socket.
 */
bool lull_eanem_controls(const struct lull_eanem_control *control,
			 const struct lull_eanem_view *view)
{
	return control->target && control->first == lull_eanem_first(view);
}

/**
 * lull_eanem_step - choose the window, if an interval is over
 * @control: the connection's control
 * @view: what is seen of it
 * @bandwidth: what was there in the interval, in bytes/s
 *
 * Return: true if it was chosen.
 */
bool lull_eanem_step(struct lull_eanem_control *control, const struct lull_eanem_view *view,
		     u64 *bandwidth)
{
	u64 rtt_ns = max(view->rtt_ns, view->period_ns), window, elapsed, least;
	bool known = lull_eanem_controls(control, view), early;

	*bandwidth = 0;
	/* What was offered before still holds, and nothing comes of the window yet. */
	early = known && view->open > 2 * lull_eanem_worth(control, view);
	if (early && view->target == control->target) {
		control->since = view->now;
		control->received = view->received;
		/* The one of before may be very old, if the system was off meanwhile. */
		control->edge = view->next + view->open;
		return false;
	}
	if (!known || early) {
		window = mul_u64_u64_div_u64(view->target, rtt_ns, NSEC_PER_SEC);
		*control = (struct lull_eanem_control){
			.target = view->target,
			.window = lull_eanem_clamp(window),
			.since = view->now,
			.received = view->received,
			.edge = view->next + view->open,
			.first = lull_eanem_first(view),
		};
		return true;
	}

	elapsed = view->now - control->since;
	least = LULL_EANEM_SETTLE * max(rtt_ns, lull_eanem_round_ns(control, view));
	if (elapsed < max(view->interval_ns, least))
		return false;
	*bandwidth = mul_u64_u64_div_u64(view->received - control->received, NSEC_PER_SEC, elapsed);
	window = lull_eanem_next(control->window, view->target, control->target, *bandwidth,
				 rtt_ns, view->delta_ns);
	/* What the stack does not offer cannot have been the reason that too little came. */
	if (window > control->window && view->target == control->target)
		window = max(control->window, min(window, (u64)view->most));
	control->target = view->target;
	control->window = window;
	control->since = view->now;
	control->received = view->received;
	return true;
}

/**
 * lull_eanem_raise - raise the right edge of the window, if it is time to
 * @control: the connection's control
 * @view: what is seen of it
 *
 * An edge that has been offered stays where it is or goes up. It does not go up by less than a
 * segment, and not while something is missing, so that the ACKs then are duplicates that the sender
 * can tell. A sender sends whole segments: what is left that makes none is added, so that windows
 * of few segments are right on average.
 *
 * Return: the window that may be offered, from the next sequence number on.
 */
u32 lull_eanem_raise(struct lull_eanem_control *control, const struct lull_eanem_view *view)
{
	u64 since = view->now - control->round, round = lull_eanem_round_ns(control, view);
	u32 edge = view->next;

	if (since >= round && !view->hole) {
		edge += view->open % view->mss + (u32)lull_eanem_worth(control, view);
		if ((s32)(edge - view->next - view->open) >= (s32)view->mss) {
			control->edge = edge;
			control->round = since < 2 * round ? control->round + round : view->now;
		}
	}

	return max_t(s32, control->edge - view->next, view->open);
}

/**
 * lull_eanem_scaled - what window scaling leaves of a window
 * @view: what is seen of the connection
 * @window: the window
 *
 * What is open is rounded up: rounded down, TCP would take the rest of it back.
 *
 * Return: the window that can be offered.
 */
u32 lull_eanem_scaled(const struct lull_eanem_view *view, u32 window)
{
	return max(round_down(window, view->unit), round_up(view->open, view->unit));
}

/**
 * lull_eanem_again_ns - when to look again for a socket that a program has
 * @before_ns: what this was the last time, or 0 for the first time
 *
 * It doubles. So a socket is found free after twice the time for which the program had it, or 10 ms
 * later.
 *
 * Return: in ns.
 */
u64 lull_eanem_again_ns(u64 before_ns)
{
	return clamp(2 * before_ns, LULL_EANEM_AGAIN_LEAST_NS, LULL_EANEM_AGAIN_MOST_NS);
}
