/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy-aware network stack management: what its own files share. */
#ifndef _LULL_EANEM_SOCK_H
#define _LULL_EANEM_SOCK_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "eanem_abi.h"
#include "eanem_control.h"

struct net;
struct lull_eanem_process;
struct pid;
struct seq_file;
struct sock;

/**
 * struct lull_eanem_counts - what came in the interval under way
 * @packets: packets as the sender made them
 * @bytes: their payload
 * @squares: the sum of their sizes' squares
 * @stages: how long they took
 */
struct lull_eanem_counts {
	u64 packets;
	u64 bytes;
	u64 squares;
	struct lull_eanem_latency stages[LULL_EANEM_STAGES];
};

/**
 * struct lull_eanem_sock - a socket that is watched; lives as long as it does
 * @node: in lull_eanem_socks, in the order of @serial
 * @sk: the socket
 * @serial: its place in a dump
 * @owner: the process that made, accepted or last read it
 * @process: that process's target for all of its TCP sockets, or NULL; this is one of them
 * @own_target: the socket's target, in bytes/s; 0 if it has none
 * @target: the one in force: its own, or its part of its process's
 * @lock: protects @counts, and @packets and @bytes
 * @counts: the interval under way
 * @last: the last interval
 * @packets: in all
 * @bytes: in all
 * @window: what its control has chosen last, for others to read
 * @control: the control of its bandwidth; under the socket's lock
 * @timer: opens a window that was used up
 * @armed: bit 0: the timer is set, and has a reference to the socket
 * @again_ns: after what time the timer looks again, as a program has the socket; 0 if none has
 *
 * All that has no lock of its own is protected by lull_eanem_lock.
 */
struct lull_eanem_sock {
	struct list_head node;
	struct sock *sk;
	u64 serial;
	struct pid *owner;
	struct lull_eanem_process *process;
	u64 own_target;
	u64 target;
	/* Of the counts. */
	spinlock_t lock;
	struct lull_eanem_counts counts;
	struct lull_eanem_sums last;
	u64 packets;
	u64 bytes;
	u64 window;
	struct lull_eanem_control control;
	struct hrtimer timer;
	unsigned long armed;
	u64 again_ns;
};

/* The settings. */
extern unsigned int lull_eanem_interval_us;
extern unsigned int lull_eanem_period_us;
extern unsigned int lull_eanem_delta_us;

/* Taken with softirqs off; a socket's lull_eanem_sock.lock nests inside. */
extern spinlock_t lull_eanem_lock;
extern struct list_head lull_eanem_socks;

/* eanem_monitor.c */
int lull_eanem_watch(void);
void lull_eanem_unwatch(void);
void lull_eanem_follow(int cpu);
void lull_eanem_describe(const struct lull_eanem_sock *es, struct lull_eanem_socket *record);
void lull_eanem_cpu_times(unsigned int cpu, struct lull_eanem_cpu *record);
int lull_eanem_target_socket(struct net *net, struct pid *owner, u64 id, u64 target);
int lull_eanem_target_process(struct pid *owner, u64 target);

/* eanem_window.c */
void lull_eanem_window_init(struct lull_eanem_sock *es);

/* eanem_steer.c */
int lull_eanem_steer(struct net *net, u32 holder, const struct cpumask *cpus, unsigned int khz,
		     const u32 *threads, unsigned int count);
void lull_eanem_steer_back(struct net *net, u32 holder);
void lull_eanem_steer_all_back(void);

/* eanem_netlink.c */
int lull_eanem_netlink_init(void);

#endif /* _LULL_EANEM_SOCK_H */
