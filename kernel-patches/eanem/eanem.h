/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy-aware network stack management: what the network stack tells and asks. */
#ifndef _LULL_EANEM_H
#define _LULL_EANEM_H

#include <linux/jump_label.h>
#include <linux/netdevice.h>
#include <linux/sched/clock.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/sock.h>

/* What is stamped on a packet: the beginning of the driver's round that found it, and when it
 * came to the stack, to IP and to TCP or UDP. In a socket's queue, the first is when it got there.
 */
enum lull_eanem_at {
	LULL_EANEM_AT_ARRIVED,
	LULL_EANEM_AT_STACK,
	LULL_EANEM_AT_IP,
	LULL_EANEM_AT_TRANSPORT,
	LULL_EANEM_AT_COUNT,
};

#ifdef CONFIG_LULL_EANEM

DECLARE_STATIC_KEY_FALSE(lull_eanem_key);

void __lull_eanem_own(struct sock *sk);
void __lull_eanem_queued(struct sock *sk, struct sk_buff *skb);
void __lull_eanem_copied(struct sock *sk, struct sk_buff *skb);
void __lull_eanem_free(struct sock *sk);
u32 __lull_eanem_window(struct sock *sk, u32 window);
u32 __lull_eanem_offer(struct sock *sk, u32 window);
void __lull_eanem_closed(struct sock *sk);

/* Time stamps are in units of 16 ns, so that one wraps after 68 s. 0 is none. */
#define LULL_EANEM_SHIFT	4

static __always_inline u32 lull_eanem_clock(void)
{
	return (u32)(local_clock() >> LULL_EANEM_SHIFT) ?: 1;
}

/* A driver's round of polling begins: by its interrupt, or after its last round. */
static __always_inline void lull_eanem_scheduled(struct napi_struct *napi)
{
	if (static_branch_unlikely(&lull_eanem_key))
		WRITE_ONCE(napi->lull_at, lull_eanem_clock());
}

/* A packet is handed to the stack, by a driver's round or by software. */
static __always_inline void lull_eanem_arrived(struct sk_buff *skb, struct napi_struct *napi)
{
	u32 now;

	if (static_branch_unlikely(&lull_eanem_key)) {
		now = lull_eanem_clock();
		skb->lull_at[LULL_EANEM_AT_ARRIVED] = (napi ? READ_ONCE(napi->lull_at) : 0) ?: now;
		skb->lull_at[LULL_EANEM_AT_STACK] = now;
	}
}

static __always_inline void lull_eanem_at(struct sk_buff *skb, enum lull_eanem_at at)
{
	if (static_branch_unlikely(&lull_eanem_key))
		skb->lull_at[at] = lull_eanem_clock();
}

/* A packet's payload goes into a socket's queue. */
static __always_inline void lull_eanem_queued(struct sock *sk, struct sk_buff *skb)
{
	if (static_branch_unlikely(&lull_eanem_key) && READ_ONCE(sk->sk_eanem))
		__lull_eanem_queued(sk, skb);
}

/* It has been copied to the user. */
static __always_inline void lull_eanem_copied(struct sock *sk, struct sk_buff *skb)
{
	if (static_branch_unlikely(&lull_eanem_key) && READ_ONCE(sk->sk_eanem))
		__lull_eanem_copied(sk, skb);
}

/* The caller's process makes, accepts or reads a socket. May sleep. */
static __always_inline void lull_eanem_own(struct sock *sk)
{
	if (static_branch_unlikely(&lull_eanem_key))
		__lull_eanem_own(sk);
}

static inline void lull_eanem_cloned(struct sock *sk)
{
	sk->sk_eanem = NULL;
}

static inline void lull_eanem_free(struct sock *sk)
{
	if (unlikely(sk->sk_eanem))
		__lull_eanem_free(sk);
}

/* The window that an ACK offers, of the one that the stack would: never more. */
static __always_inline u32 lull_eanem_window(struct sock *sk, u32 window)
{
	if (static_branch_unlikely(&lull_eanem_key) && READ_ONCE(sk->sk_eanem))
		return __lull_eanem_window(sk, window);
	return window;
}

/* The same if an ACK were sent now. */
static __always_inline u32 lull_eanem_offer(struct sock *sk, u32 window)
{
	if (static_branch_unlikely(&lull_eanem_key) && READ_ONCE(sk->sk_eanem))
		return __lull_eanem_offer(sk, window);
	return window;
}

/* A socket is closed, whose FIN may have been sent long before. Its lock is held. */
static __always_inline void lull_eanem_closed(struct sock *sk)
{
	if (static_branch_unlikely(&lull_eanem_key) && READ_ONCE(sk->sk_eanem))
		__lull_eanem_closed(sk);
}

#else

static inline void lull_eanem_scheduled(struct napi_struct *napi)
{
}

static inline void lull_eanem_arrived(struct sk_buff *skb, struct napi_struct *napi)
{
}

static inline void lull_eanem_at(struct sk_buff *skb, enum lull_eanem_at at)
{
}

static inline void lull_eanem_queued(struct sock *sk, struct sk_buff *skb)
{
}

static inline void lull_eanem_copied(struct sock *sk, struct sk_buff *skb)
{
}

static inline void lull_eanem_own(struct sock *sk)
{
}

static inline void lull_eanem_cloned(struct sock *sk)
{
}

static inline void lull_eanem_free(struct sock *sk)
{
}

static inline u32 lull_eanem_window(struct sock *sk, u32 window)
{
	return window;
}

static inline u32 lull_eanem_offer(struct sock *sk, u32 window)
{
	return window;
}

static inline void lull_eanem_closed(struct sock *sk)
{
}

#endif

#endif /* _LULL_EANEM_H */
