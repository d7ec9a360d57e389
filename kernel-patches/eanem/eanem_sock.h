/* SPDX-License-Identifier: GPL-2.0-only */
/* Energy-aware network stack management: what its own files share. */
#ifndef _LULL_EANEM_SOCK_H
#define _LULL_EANEM_SOCK_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
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
 * @sk: the socket
 * @id: its cookie
 * @owner: the process that made, accepted or last read it; @process has the reference
 * @process: what is known of that process
 * @own_target: the socket's target, in bytes/s; 0 if it has none
 * @lock: protects @interval, @counts, @last, @packets and @bytes
 * @interval: how many intervals were over when @counts began
 * @counts: an interval, which may be over
 * @last: the interval before
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
	struct sock *sk;
	u64 id;
	struct pid *owner;
	struct lull_eanem_process __rcu *process;
	u64 own_target;
	/* Of the counts. */
	spinlock_t lock;
	u64 interval;
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

/* Taken with softirqs off; the lock of a socket, and that of a process, nest inside. */
extern spinlock_t lull_eanem_lock;

/* eanem_monitor.c */
int lull_eanem_watch(void);
void lull_eanem_unwatch(void);
void lull_eanem_follow(int cpu);
struct lull_eanem_sock *lull_eanem_after(u64 *id, bool busy);
void lull_eanem_visit(u64 *id, bool busy, bool (*visit)(struct lull_eanem_sock *es, void *with),
		      void *with);
void lull_eanem_describe(struct lull_eanem_sock *es, struct lull_eanem_socket *record);
void lull_eanem_cpu_times(unsigned int cpu, struct lull_eanem_cpu *record);
int lull_eanem_target_socket(struct net *net, struct pid *owner, u64 id, u64 target);
int lull_eanem_target_process(struct pid *owner, u64 target, u64 exec_id);
u64 lull_eanem_target(struct lull_eanem_sock *es);

/* eanem_window.c */
void lull_eanem_window_init(struct lull_eanem_sock *es);

/* eanem_steer.c */
int lull_eanem_steer(struct net *net, u32 holder, const struct cpumask *cpus, unsigned int khz,
		     const u32 *threads, unsigned int count);
void lull_eanem_steer_back(struct net *net, u32 holder);
void lull_eanem_steer_all_back(void);

/* eanem_netlink.c */
int lull_eanem_netlink_init(void);
void lull_eanem_netlink_exit(void);

#endif /* _LULL_EANEM_SOCK_H */
