// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitor: what each socket receives, how long packets take, and each CPU's time in the
 * network's softirqs.
 *
 * A socket is watched from when a process makes, accepts or reads it, because only then is it
 * known whose it is. What is kept of it is freed with it.
 *
 * Any user may have very many sockets, so nothing goes through all of them with softirqs off. One
 * timer ends the interval of all by its number. A socket's counts are closed when the socket is
 * next used or read.
 */
#include <linux/cpu.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/inet.h>
#include <linux/interrupt.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sock_diag.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>
#include <net/inet_sock.h>
#include <trace/events/irq.h>

#include "eanem.h"
#include "eanem_sock.h"
#include "eanem_trace.h"

/* Sockets that are visited with softirqs off at a time. */
#define LULL_EANEM_AT_ONCE	64
/* A socket that something came to in the last interval or in this one, and perhaps others. */
#define LULL_EANEM_BUSY		XA_MARK_0

DEFINE_SPINLOCK(lull_eanem_lock);

/* By their ids. */
static DEFINE_XARRAY_FLAGS(lull_eanem_socks, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);

/**
 * struct lull_eanem_process - a process that has sockets, or a target for all of its TCP sockets
 * @node: in lull_eanem_processes
 * @rcu: frees it
 * @pid: the process
 * @users: sockets, and one more if there is a target
 * @target: in bytes/s; 0 if it has none
 * @exec_id: which program of the process has chosen @target; 0 if root has
 * @lock: protects the rest
 * @interval: how many intervals were over when @active began
 * @active: connections without a target of their own that received something in this interval
 * @before: the same of the last one
 *
 * All that has no lock of its own is protected by lull_eanem_lock.
 */
struct lull_eanem_process {
	struct hlist_node node;
	struct rcu_head rcu;
	struct pid *pid;
	unsigned long users;
	u64 target;
	u64 exec_id;
	/* Of the rest. */
	spinlock_t lock;
	u64 interval;
	unsigned int active;
	unsigned int before;
};

static DEFINE_HASHTABLE(lull_eanem_processes, 8);

static struct hrtimer lull_eanem_timer;
/* The CPU that turned the system on. */
static int lull_eanem_home;
/* The last interval that is over: how many there were. */
static u64 lull_eanem_interval;
static u64 lull_eanem_interval_ns;
static u64 lull_eanem_began;

/**
 * struct lull_eanem_times - a CPU's time in the network's softirqs
 * @entered: when the one under way began; 0 if none is
 * @ns: in all, by what it was: NET_RX, NET_TX, either of them in ksoftirqd
 * @closed: of which until the end of the last interval
 * @last: of which in the last interval
 */
struct lull_eanem_times {
	u64 entered;
	u64 ns[3];
	u64 closed[3];
	u64 last[3];
};

static DEFINE_PER_CPU(struct lull_eanem_times, lull_eanem_times);

static bool lull_eanem_is_net(unsigned int vector)
{
	return vector == NET_RX_SOFTIRQ || vector == NET_TX_SOFTIRQ;
}

static void lull_eanem_softirq_entry(void *data, unsigned int vector)
{
	if (lull_eanem_is_net(vector))
		this_cpu_write(lull_eanem_times.entered, local_clock());
}

static void lull_eanem_softirq_exit(void *data, unsigned int vector)
{
	struct lull_eanem_times *times = this_cpu_ptr(&lull_eanem_times);
	u64 ns;

	if (!lull_eanem_is_net(vector) || !times->entered)
		return;
	ns = local_clock() - times->entered;
	times->entered = 0;
	vector = vector == NET_TX_SOFTIRQ;
	WRITE_ONCE(times->ns[vector], times->ns[vector] + ns);
	if (current == this_cpu_ksoftirqd())
		WRITE_ONCE(times->ns[2], times->ns[2] + ns);
}

static void lull_eanem_spent(struct lull_eanem_latency *latency, u32 from, u32 to)
{
	u64 ns = (u64)(to - from) << LULL_EANEM_SHIFT;

	if (!from || !to)
		return;
	latency->count++;
	latency->sum_ns += ns;
	latency->most_ns = max(latency->most_ns, ns);
}

/* GRO says how many packets it has merged, of which all but the last have the same size. */
static void lull_eanem_count(struct lull_eanem_counts *counts, const struct sk_buff *skb)
{
	u64 segments = skb_shinfo(skb)->gso_segs, size = skb_shinfo(skb)->gso_size;
	u64 bytes = skb->len, tail;

	/* Whoever makes a packet for somebody else to cut need not say into how many. */
	if (!segments)
		segments = size ? max_t(u64, DIV_ROUND_UP_ULL(bytes, size), 1) : 1;

	if (!size || size * (segments - 1) >= bytes) {
		size = div64_u64(bytes, segments);
		/* What was cut off a merged packet: as if all were alike. */
		counts->squares += segments * size * size;
	} else {
		tail = bytes - size * (segments - 1);
		counts->squares += (segments - 1) * size * size + tail * tail;
	}
	counts->packets += segments;
	counts->bytes += bytes;
}

/* The control can hold nothing else. */
static bool lull_eanem_is_tcp(const struct lull_eanem_sock *es)
{
	return sk_is_tcp(es->sk);
}

/* Whether anything came in an interval, or was read that had come before. */
static bool lull_eanem_counted(const struct lull_eanem_counts *counts)
{
	return counts->packets || counts->stages[LULL_EANEM_USER].count;
}

/* Ends the interval of a socket's counts, if it is over. */
static void lull_eanem_close(struct lull_eanem_sock *es)
{
	u64 over = READ_ONCE(lull_eanem_interval), mean;
	const struct lull_eanem_counts *counts = &es->counts;
	struct lull_eanem_sums *last = &es->last;

	lockdep_assert_held(&es->lock);
	if (es->interval == over)
		return;
	memset(last, 0, sizeof(*last));
	if (lull_eanem_counted(counts)) {
		es->packets += counts->packets;
		es->bytes += counts->bytes;
		last->packets = counts->packets;
		last->bytes = counts->bytes;
		if (counts->packets) {
			last->mean = mul_u64_u64_div_u64(counts->bytes, 1000, counts->packets);
			/* The mean of the squares less the square of the mean. */
			mean = mul_u64_u64_div_u64(counts->bytes, counts->bytes, counts->packets);
			last->variance = div64_u64(counts->squares - min(mean, counts->squares),
						   counts->packets);
		}
		memcpy(last->stages, counts->stages, sizeof(last->stages));
		trace_lull_eanem_socket(es->id, es->interval + 1, last);
		if (es->interval + 1 != over)
			memset(last, 0, sizeof(*last));
	}
	memset(&es->counts, 0, sizeof(es->counts));
	es->interval = over;
}

static void lull_eanem_close_process(struct lull_eanem_process *process)
{
	u64 over = READ_ONCE(lull_eanem_interval);

	lockdep_assert_held(&process->lock);
	if (process->interval == over)
		return;
	process->before = process->interval + 1 == over ? process->active : 0;
	process->active = 0;
	process->interval = over;
}

/* The first thing that is counted in an interval. */
static void lull_eanem_is_busy(struct lull_eanem_sock *es)
{
	xa_lock_bh(&lull_eanem_socks);
	__xa_set_mark(&lull_eanem_socks, es->id, LULL_EANEM_BUSY);
	xa_unlock_bh(&lull_eanem_socks);
}

/* The first packet of an interval has come. */
static void lull_eanem_is_active(struct lull_eanem_sock *es)
{
	struct lull_eanem_process *process;

	lull_eanem_is_busy(es);
	if (!lull_eanem_is_tcp(es) || READ_ONCE(es->own_target))
		return;

	guard(rcu)();
	process = rcu_dereference(es->process);
	spin_lock_bh(&process->lock);
	lull_eanem_close_process(process);
	process->active++;
	spin_unlock_bh(&process->lock);
}

void __lull_eanem_queued(struct sock *sk, struct sk_buff *skb)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	u32 now = lull_eanem_clock(), *at = skb->lull_at;
	struct lull_eanem_latency *stages = es->counts.stages;
	bool first;

	/* A FIN alone is no packet to a program, and nothing of it is copied. */
	if (!skb->len && sk->sk_protocol == IPPROTO_TCP) {
		at[LULL_EANEM_AT_ARRIVED] = 0;
		return;
	}

	spin_lock_bh(&es->lock);
	lull_eanem_close(es);
	first = !es->counts.packets;
	lull_eanem_count(&es->counts, skb);
	lull_eanem_spent(&stages[LULL_EANEM_DRIVER], at[LULL_EANEM_AT_ARRIVED],
			 at[LULL_EANEM_AT_STACK]);
	lull_eanem_spent(&stages[LULL_EANEM_LINK], at[LULL_EANEM_AT_STACK], at[LULL_EANEM_AT_IP]);
	lull_eanem_spent(&stages[LULL_EANEM_IP], at[LULL_EANEM_AT_IP],
			 at[LULL_EANEM_AT_TRANSPORT]);
	lull_eanem_spent(&stages[LULL_EANEM_TRANSPORT], at[LULL_EANEM_AT_TRANSPORT], now);
	spin_unlock_bh(&es->lock);
	if (first)
		lull_eanem_is_active(es);
	/* From now on, when it was queued. */
	at[LULL_EANEM_AT_ARRIVED] = now;
}

void __lull_eanem_copied(struct sock *sk, struct sk_buff *skb)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	bool first;

	spin_lock_bh(&es->lock);
	lull_eanem_close(es);
	first = !lull_eanem_counted(&es->counts);
	lull_eanem_spent(&es->counts.stages[LULL_EANEM_USER], skb->lull_at[LULL_EANEM_AT_ARRIVED],
			 lull_eanem_clock());
	spin_unlock_bh(&es->lock);
	if (first)
		lull_eanem_is_busy(es);
}

static struct lull_eanem_process *lull_eanem_find_process(const struct pid *pid)
{
	struct lull_eanem_process *process;

	lockdep_assert_held(&lull_eanem_lock);
	hash_for_each_possible(lull_eanem_processes, process, node, (unsigned long)pid) {
		if (process->pid == pid)
			return process;
	}

	return NULL;
}

/* What is known of a process, for one more user; NULL if there is no memory. May sleep. */
static struct lull_eanem_process *lull_eanem_get_process(struct pid *pid)
{
	struct lull_eanem_process *process, *made;

	spin_lock_bh(&lull_eanem_lock);
	process = lull_eanem_find_process(pid);
	if (process)
		process->users++;
	spin_unlock_bh(&lull_eanem_lock);
	if (process)
		return process;

	made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!made)
		return NULL;
	made->pid = get_pid(pid);
	spin_lock_init(&made->lock);
	spin_lock_bh(&lull_eanem_lock);
	process = lull_eanem_find_process(pid);
	if (!process) {
		process = made;
		hash_add(lull_eanem_processes, &made->node, (unsigned long)pid);
	}
	process->users++;
	spin_unlock_bh(&lull_eanem_lock);
	if (process != made) {
		put_pid(made->pid);
		kfree(made);
	}

	return process;
}

static void lull_eanem_put_process(struct lull_eanem_process *process)
{
	lockdep_assert_held(&lull_eanem_lock);
	if (--process->users)
		return;
	hash_del(&process->node);
	put_pid(process->pid);
	kfree_rcu(process, rcu);
}

/* The caller has another use of the process, or does not need it any more. */
static void lull_eanem_retarget(struct lull_eanem_process *process, u64 target)
{
	u64 before = process->target;

	lockdep_assert_held(&lull_eanem_lock);
	if (target && !before)
		process->users++;
	WRITE_ONCE(process->target, target);
	if (!target && before)
		lull_eanem_put_process(process);
}

/* Targets of processes that have ended, of those that this one's place may have. */
static void lull_eanem_forget(struct pid *pid)
{
	struct lull_eanem_process *process;
	struct hlist_node *next;

	guard(rcu)();
	hash_for_each_possible_safe(lull_eanem_processes, process, next, node,
				    (unsigned long)pid) {
		if (process->target && !pid_task(process->pid, PIDTYPE_TGID))
			lull_eanem_retarget(process, 0);
	}
}

/* A program may be a more privileged one than that which has chosen the target. */
static void lull_eanem_check_program(struct lull_eanem_process *process)
{
	u64 exec_id = READ_ONCE(process->exec_id);

	/* No lock for each read of a socket. */
	if (!READ_ONCE(process->target) || !exec_id || exec_id == current->self_exec_id)
		return;
	spin_lock_bh(&lull_eanem_lock);
	if (process->target && process->exec_id && process->exec_id != current->self_exec_id)
		lull_eanem_retarget(process, 0);
	spin_unlock_bh(&lull_eanem_lock);
}

/**
 * lull_eanem_target - the target in force
 * @es: the socket
 *
 * Return: in bytes/s: its own, or an equal part of its process's, of the connections that received
 * something in this interval or the last one; 0 if there is none.
 */
u64 lull_eanem_target(struct lull_eanem_sock *es)
{
	struct lull_eanem_process *process;
	u64 target = READ_ONCE(es->own_target);

	if (target || !lull_eanem_is_tcp(es))
		return target;

	guard(rcu)();
	process = rcu_dereference(es->process);
	target = READ_ONCE(process->target);
	if (!target)
		return 0;
	spin_lock_bh(&process->lock);
	lull_eanem_close_process(process);
	target = div_u64(target, max3(process->active, process->before, 1U));
	spin_unlock_bh(&process->lock);

	return max(target, 1ULL);
}

/* Watches a socket. The process is the socket's from now on, unless this fails. */
static int lull_eanem_add(struct sock *sk, struct lull_eanem_process *process)
{
	struct lull_eanem_sock *es = kzalloc(sizeof(*es), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	int error;

	if (!es)
		return -ENOMEM;
	es->sk = sk;
	es->id = sock_gen_cookie(sk);
	es->owner = process->pid;
	RCU_INIT_POINTER(es->process, process);
	es->interval = READ_ONCE(lull_eanem_interval);
	spin_lock_init(&es->lock);
	lull_eanem_window_init(es);
	error = xa_insert_bh(&lull_eanem_socks, es->id, es, GFP_KERNEL | __GFP_NOWARN);
	if (error) {
		kfree(es);
		return error;
	}
	/* Pairs with the readers' READ_ONCE(): they depend on the pointer. */
	smp_store_release(&sk->sk_eanem, es);
	return 0;
}

/* The same of a socket that the caller's process had before, so that none has to be made. */
static void lull_eanem_check_owner(struct lull_eanem_sock *es, const struct pid *owner)
{
	struct lull_eanem_process *process;

	guard(rcu)();
	process = rcu_dereference(es->process);
	/* Not the one of the owner before, which __lull_eanem_own() is about to replace. */
	if (process->pid == owner)
		lull_eanem_check_program(process);
}

/* A socket without memory for this is not watched, which harms nobody. */
void __lull_eanem_own(struct sock *sk)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	struct pid *owner = task_tgid(current);
	struct lull_eanem_process *process;

	if (likely(es && READ_ONCE(es->owner) == owner)) {
		lull_eanem_check_owner(es, owner);
		return;
	}
	if (current->flags & PF_KTHREAD || sk->sk_family != AF_INET || !sk->sk_net_refcnt ||
	    !(sk_is_tcp(sk) || sk_is_udp(sk)))
		return;
	process = lull_eanem_get_process(owner);
	if (!process)
		return;
	lull_eanem_check_program(process);
	if (!es && !lull_eanem_add(sk, process))
		return;

	spin_lock_bh(&lull_eanem_lock);
	/* Somebody else may just have made it, who is its owner for now. */
	if (es) {
		WRITE_ONCE(es->owner, owner);
		process = rcu_replace_pointer(es->process, process,
					      lockdep_is_held(&lull_eanem_lock));
	}
	lull_eanem_put_process(process);
	spin_unlock_bh(&lull_eanem_lock);
}

/* Nobody has the socket any more, nor a reference to it. */
void __lull_eanem_free(struct sock *sk)
{
	struct lull_eanem_sock *es = sk->sk_eanem;

	spin_lock_bh(&lull_eanem_lock);
	xa_erase_bh(&lull_eanem_socks, es->id);
	lull_eanem_put_process(rcu_dereference_protected(es->process, true));
	spin_unlock_bh(&lull_eanem_lock);
	kfree(es);
	sk->sk_eanem = NULL;
}

/**
 * lull_eanem_after - the next socket
 * @id: of the one before, and then of this one; 0 for the first
 * @busy: only one that received something lately
 *
 * Return: the socket, while lull_eanem_lock is held; NULL if there is none.
 */
struct lull_eanem_sock *lull_eanem_after(u64 *id, bool busy)
{
	unsigned long index = *id;
	struct lull_eanem_sock *es;

	lockdep_assert_held(&lull_eanem_lock);
	es = xa_find_after(&lull_eanem_socks, &index, ULONG_MAX,
			   busy ? LULL_EANEM_BUSY : XA_PRESENT);
	*id = index;
	return es;
}

/**
 * lull_eanem_visit - calls a function for sockets
 * @id: of the last one before; then of the last one that was visited
 * @busy: only for those that received something lately
 * @visit: false ends it, and this socket does not count as visited
 * @with: is passed on
 *
 * Some sockets at a time are visited with softirqs off. May sleep in between.
 */
void lull_eanem_visit(u64 *id, bool busy, bool (*visit)(struct lull_eanem_sock *es, void *with),
		      void *with)
{
	struct lull_eanem_sock *es;
	bool goes_on = true;
	u64 next;

	while (goes_on) {
		spin_lock_bh(&lull_eanem_lock);
		for (unsigned int i = 0; i < LULL_EANEM_AT_ONCE && goes_on; i++) {
			next = *id;
			es = lull_eanem_after(&next, busy);
			goes_on = es && visit(es, with);
			if (goes_on)
				*id = next;
		}
		spin_unlock_bh(&lull_eanem_lock);
		cond_resched();
	}
}

static void lull_eanem_close_cpus(void)
{
	unsigned int cpu, what;

	for_each_possible_cpu(cpu) {
		struct lull_eanem_times *times = per_cpu_ptr(&lull_eanem_times, cpu);

		for (what = 0; what < ARRAY_SIZE(times->ns); what++) {
			u64 ns = READ_ONCE(times->ns[what]);

			times->last[what] = ns - times->closed[what];
			times->closed[what] = ns;
		}
		if (times->last[0] || times->last[1])
			trace_lull_eanem_cpu(cpu, lull_eanem_interval, times->last);
	}
}

/* What came before the system was turned on is in the totals alone, as two intervals are over. */
static void lull_eanem_begin(void)
{
	unsigned int cpu;

	spin_lock_bh(&lull_eanem_lock);
	WRITE_ONCE(lull_eanem_interval, lull_eanem_interval + 2);
	for_each_possible_cpu(cpu) {
		struct lull_eanem_times *times = per_cpu_ptr(&lull_eanem_times, cpu);

		for (unsigned int what = 0; what < ARRAY_SIZE(times->ns); what++)
			times->closed[what] = READ_ONCE(times->ns[what]);
		memset(times->last, 0, sizeof(times->last));
	}
	lull_eanem_interval_ns = 0;
	lull_eanem_began = ktime_get_ns();
	spin_unlock_bh(&lull_eanem_lock);
}

static ktime_t lull_eanem_length(void)
{
	return ns_to_ktime((u64)READ_ONCE(lull_eanem_interval_us) * NSEC_PER_USEC);
}

static enum hrtimer_restart lull_eanem_tick(struct hrtimer *timer)
{
	u64 now = ktime_get_ns();

	spin_lock_bh(&lull_eanem_lock);
	WRITE_ONCE(lull_eanem_interval, lull_eanem_interval + 1);
	lull_eanem_interval_ns = now - lull_eanem_began;
	lull_eanem_began = now;
	lull_eanem_close_cpus();
	spin_unlock_bh(&lull_eanem_lock);

	hrtimer_forward_now(timer, lull_eanem_length());
	return HRTIMER_RESTART;
}

static struct lull_eanem_socket lull_eanem_addresses(const struct inet_sock *inet)
{
	return (struct lull_eanem_socket){
		.local = (__force u32)inet->inet_saddr,
		.remote = (__force u32)inet->inet_daddr,
		.local_port = (__force u16)inet->inet_sport,
		.remote_port = (__force u16)inet->inet_dport,
	};
}

/**
 * lull_eanem_describe - what is known of a socket
 * @es: the socket; lull_eanem_lock is held
 * @record: is filled but for the process and the user, which depend on who asks
 */
void lull_eanem_describe(struct lull_eanem_sock *es, struct lull_eanem_socket *record)
{
	lockdep_assert_held(&lull_eanem_lock);
	/* A socket that is being connected may show half of its addresses. */
	*record = data_race(lull_eanem_addresses(inet_sk(es->sk)));
	record->id = es->id;
	record->protocol = es->sk->sk_protocol;
	record->interval = lull_eanem_interval;
	record->interval_ns = lull_eanem_interval_ns;
	spin_lock(&es->lock);
	lull_eanem_close(es);
	record->last = es->last;
	record->packets = es->packets;
	record->bytes = es->bytes;
	if (!es->last.packets && !es->last.stages[LULL_EANEM_USER].count &&
	    !lull_eanem_counted(&es->counts))
		xa_clear_mark(&lull_eanem_socks, es->id, LULL_EANEM_BUSY);
	spin_unlock(&es->lock);
	record->target = lull_eanem_target(es);
	record->window = record->target ? READ_ONCE(es->window) : 0;
}

void lull_eanem_cpu_times(unsigned int cpu, struct lull_eanem_cpu *record)
{
	const struct lull_eanem_times *times = per_cpu_ptr(&lull_eanem_times, cpu);

	lockdep_assert_held(&lull_eanem_lock);
	*record = (struct lull_eanem_cpu){
		.interval = lull_eanem_interval,
		.interval_ns = lull_eanem_interval_ns,
		.net_rx_ns = times->last[0],
		.net_tx_ns = times->last[1],
		.ksoftirqd_ns = times->last[2],
		.cpu = cpu,
	};
}

/**
 * lull_eanem_target_socket - choose the bandwidth of one socket
 * @net: whose
 * @owner: the process that asks, or NULL for one that may ask for all
 * @id: the socket
 * @target: in bytes/s; 0 for none of its own
 *
 * Return: 0; -ENODEV if the system is off; -ENOENT if there is no such socket, or none that the
 * asker may see; -EOPNOTSUPP if it is not TCP.
 */
int lull_eanem_target_socket(struct net *net, struct pid *owner, u64 id, u64 target)
{
	struct lull_eanem_sock *es;
	int error = -ENOENT;

	spin_lock_bh(&lull_eanem_lock);
	/* Whoever turns it off drops all targets after this. */
	if (!static_branch_unlikely(&lull_eanem_key)) {
		spin_unlock_bh(&lull_eanem_lock);
		return -ENODEV;
	}
	es = xa_load(&lull_eanem_socks, id);
	if (es && sock_net(es->sk) == net && (!owner || es->owner == owner)) {
		error = lull_eanem_is_tcp(es) ? 0 : -EOPNOTSUPP;
		if (!error)
			WRITE_ONCE(es->own_target, target);
	}
	spin_unlock_bh(&lull_eanem_lock);

	return error;
}

/**
 * lull_eanem_target_process - choose the bandwidth of a process, of all its TCP sockets together
 * @owner: the process
 * @target: in bytes/s; 0 for none
 * @exec_id: which program of the process asks; 0 if root does, whose target stays for the next one
 *
 * Return: 0, -ENOMEM, or -ENODEV if the system is off.
 */
int lull_eanem_target_process(struct pid *owner, u64 target, u64 exec_id)
{
	struct lull_eanem_process *process = lull_eanem_get_process(owner);
	int error = -ENODEV;

	if (!process)
		return -ENOMEM;

	spin_lock_bh(&lull_eanem_lock);
	/* Whoever turns it off drops all targets after this. */
	if (static_branch_unlikely(&lull_eanem_key)) {
		lull_eanem_forget(owner);
		WRITE_ONCE(process->exec_id, exec_id);
		lull_eanem_retarget(process, target);
		error = 0;
	}
	lull_eanem_put_process(process);
	spin_unlock_bh(&lull_eanem_lock);

	return error;
}

int lull_eanem_watch(void)
{
	unsigned int cpu;
	int error;

	/* One that was under way when the probes went has no end. */
	for_each_possible_cpu(cpu)
		per_cpu(lull_eanem_times, cpu).entered = 0;
	error = register_trace_softirq_entry(lull_eanem_softirq_entry, NULL);
	if (error)
		return error;
	error = register_trace_softirq_exit(lull_eanem_softirq_exit, NULL);
	if (error) {
		unregister_trace_softirq_entry(lull_eanem_softirq_entry, NULL);
		return error;
	}
	lull_eanem_begin();
	lull_eanem_home = raw_smp_processor_id();
	hrtimer_init(&lull_eanem_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	lull_eanem_timer.function = lull_eanem_tick;
	hrtimer_start(&lull_eanem_timer, lull_eanem_length(), HRTIMER_MODE_REL_PINNED_SOFT);
	return 0;
}

/* Pinned, because otherwise a busy CPU might get it. */
static void lull_eanem_start_here(void *unused)
{
	hrtimer_start_expires(&lull_eanem_timer, HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * lull_eanem_follow - the interval's timer goes to where the network stack's work is
 * @cpu: the CPU; -1 for the one that turned the system on
 *
 * The system is on: the caller holds the mutex that whoever turns it off takes before the timer is
 * stopped. If the CPU is offline, the timer comes here.
 */
void lull_eanem_follow(int cpu)
{
	/* A timer that fires moves its own end, and must not be queued meanwhile. */
	hrtimer_cancel(&lull_eanem_timer);
	/* A CPU that goes offline would start it after its timers have left. */
	cpus_read_lock();
	if (smp_call_function_single(cpu < 0 ? lull_eanem_home : cpu, lull_eanem_start_here, NULL,
				     true))
		lull_eanem_start_here(NULL);
	cpus_read_unlock();
}

static bool lull_eanem_drop_target(struct lull_eanem_sock *es, void *unused)
{
	WRITE_ONCE(es->own_target, 0);
	return true;
}

static void lull_eanem_drop_targets(void)
{
	struct lull_eanem_process *process;
	struct hlist_node *next;
	u64 id = 0;

	lull_eanem_visit(&id, false, lull_eanem_drop_target, NULL);
	for (size_t i = 0; i < HASH_SIZE(lull_eanem_processes); i++) {
		spin_lock_bh(&lull_eanem_lock);
		hlist_for_each_entry_safe(process, next, &lull_eanem_processes[i], node)
			lull_eanem_retarget(process, 0);
		spin_unlock_bh(&lull_eanem_lock);
	}
}

/* The sockets stay known, without targets: they are freed when they go. */
void lull_eanem_unwatch(void)
{
	hrtimer_cancel(&lull_eanem_timer);
	unregister_trace_softirq_exit(lull_eanem_softirq_exit, NULL);
	unregister_trace_softirq_entry(lull_eanem_softirq_entry, NULL);
	tracepoint_synchronize_unregister();
	lull_eanem_drop_targets();
}
