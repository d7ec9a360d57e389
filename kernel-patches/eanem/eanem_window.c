// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bandwidth control: the receive window that an ACK offers is held below what the stack would
 * offer, so that the sender sends as much as the target says.
 *
 * The stack asks under the socket's lock. A sender that has used up its window is silent until it
 * hears of a new one, and so no ACK is due; then a timer sends one when the window may be raised.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <net/tcp.h>

#include "eanem.h"
#include "eanem_sock.h"
#include "eanem_trace.h"

/* The timer looks this often at least, so that it sees a target that has changed. */
#define LULL_EANEM_LOOK_NS	(100 * NSEC_PER_MSEC)
/* Segments that the sender can hardly go on with. */
#define LULL_EANEM_FEW		2
/* In which data comes although this side has sent its last. */
#define LULL_EANEM_HALF		(TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2)

static void lull_eanem_look(struct sock *sk, u64 target, u32 window, struct lull_eanem_view *view)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = tcp_min_rtt(tp), unit = 1U << tp->rx_opt.rcv_wscale;

	if (rtt_us == ~0U)
		rtt_us = tp->rcv_rtt_est.rtt_us >> 3;
	*view = (struct lull_eanem_view){
		.now = ktime_get_ns(),
		.target = target,
		.received = tp->bytes_received,
		.rtt_ns = (u64)min_t(u32, rtt_us, USEC_PER_SEC) * NSEC_PER_USEC,
		.interval_ns = (u64)READ_ONCE(lull_eanem_interval_us) * NSEC_PER_USEC,
		.period_ns = (u64)READ_ONCE(lull_eanem_period_us) * NSEC_PER_USEC,
		.delta_ns = (u64)READ_ONCE(lull_eanem_delta_us) * NSEC_PER_USEC,
		.next = tp->rcv_nxt,
		.open = tcp_receive_window(tp),
		.most = window,
		.unit = unit,
		/* Scaling would leave nothing of less than a unit. */
		.mss = max_t(u32, tp->advmss, unit),
		.hole = !RB_EMPTY_ROOT(&tp->out_of_order_queue),
	};
}

/*
 * Whether data can come. What comes after close() is answered by a reset, which a sender without a
 * window would get a minute later.
 */
static bool lull_eanem_receives(const struct sock *sk)
{
	if (sk->sk_state == TCP_ESTABLISHED)
		return true;
	return (1 << sk->sk_state) & LULL_EANEM_HALF && !(sk->sk_shutdown & RCV_SHUTDOWN);
}

/* The target of a connection that data can come on; 0 if there is none. */
static u64 lull_eanem_wanted(const struct sock *sk, struct lull_eanem_sock *es)
{
	return lull_eanem_receives(sk) ? lull_eanem_target(es) : 0;
}

/* For when the window may be raised again; a period later if that was in vain. */
static void lull_eanem_arm(struct sock *sk, struct lull_eanem_sock *es,
			   const struct lull_eanem_view *view)
{
	u64 due = es->control.round + lull_eanem_round_ns(&es->control, view);

	if (test_and_set_bit(0, &es->armed))
		return;
	sock_hold(sk);
	if (due <= view->now)
		due = view->now + view->period_ns;
	hrtimer_start(&es->timer, ns_to_ktime(min(due, view->now + LULL_EANEM_LOOK_NS)),
		      HRTIMER_MODE_ABS_SOFT);
}

u32 __lull_eanem_window(struct sock *sk, u32 window)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	struct lull_eanem_control *control = &es->control;
	u64 target = lull_eanem_wanted(sk, es), bandwidth;
	struct lull_eanem_view view;
	u32 offer;

	if (!target) {
		control->target = 0;
		return window;
	}

	lull_eanem_look(sk, target, window, &view);
	if (lull_eanem_step(control, &view, &bandwidth)) {
		WRITE_ONCE(es->window, control->window);
		trace_lull_eanem_window(es->id, target, bandwidth, control->window);
	}
	offer = lull_eanem_scaled(&view, lull_eanem_raise(control, &view));
	if (offer >= window)
		return window;
	if (offer < LULL_EANEM_FEW * view.mss)
		lull_eanem_arm(sk, es, &view);
	return offer;
}

u32 __lull_eanem_offer(struct sock *sk, u32 window)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	struct lull_eanem_control control = es->control;
	u64 target = lull_eanem_wanted(sk, es);
	struct lull_eanem_view view;
	u32 offer;

	if (!target)
		return window;

	lull_eanem_look(sk, target, window, &view);
	if (!lull_eanem_controls(&control, &view))
		return window;
	offer = lull_eanem_scaled(&view, lull_eanem_raise(&control, &view));
	if (offer >= window)
		return window;
	if (offer >= view.open + view.mss)
		return offer;
	/* No ACK will say more, and after this one perhaps no read asks again. */
	if (view.open < LULL_EANEM_FEW * view.mss)
		lull_eanem_arm(sk, es, &view);
	/* What rounding adds is worth no ACK. */
	return view.open;
}

/*
 * A window that was used up can be raised: then the sender has to hear of it. If it is the stack
 * that offers no more, its rule counts, as nobody may read again: __tcp_cleanup_rbuf().
 */
static void lull_eanem_tell(struct sock *sk)
{
	u32 open = tcp_receive_window(tcp_sk(sk)), mss = max_t(u32, tcp_sk(sk)->advmss, 1);
	u32 most = __tcp_select_window(sk), offer = __lull_eanem_offer(sk, most);

	if (offer < open + mss && (offer < most || !offer || offer < 2 * open))
		return;
	/* For its time stamp: no segment has just come. */
	tcp_mstamp_refresh(tcp_sk(sk));
	tcp_send_ack(sk);
}

/* After shutdown() it sends no FIN, which would tell of the window that the stack offers now. */
void __lull_eanem_closed(struct sock *sk)
{
	if ((1 << sk->sk_state) & LULL_EANEM_HALF && sk->sk_eanem->control.target)
		lull_eanem_tell(sk);
}

static enum hrtimer_restart lull_eanem_open(struct hrtimer *timer)
{
	struct lull_eanem_sock *es = container_of(timer, struct lull_eanem_sock, timer);
	struct sock *sk = es->sk;

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		bh_unlock_sock(sk);
		es->again_ns = lull_eanem_again_ns(es->again_ns);
		hrtimer_forward_now(timer, ns_to_ktime(es->again_ns));
		return HRTIMER_RESTART;
	}
	es->again_ns = 0;
	clear_bit(0, &es->armed);
	if (lull_eanem_receives(sk))
		lull_eanem_tell(sk);
	bh_unlock_sock(sk);
	sock_put(sk);

	return HRTIMER_NORESTART;
}

void lull_eanem_window_init(struct lull_eanem_sock *es)
{
	hrtimer_init(&es->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	es->timer.function = lull_eanem_open;
}
