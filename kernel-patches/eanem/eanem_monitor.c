// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitor: what each socket receives, how long packets take, and each CPU's time in the
 * network's softirqs. Counts are closed once in an interval, by one timer for all.
 *
 * A socket is watched from when a process makes, accepts or reads it, because only then is it
 * known whose it is. What is kept of it is freed with it.
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/inet.h>
#include <linux/interrupt.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sock_diag.h>
#include <linux/user_namespace.h>
#include <net/inet_sock.h>
#include <trace/events/irq.h>

#include "eanem.h"
#include "eanem_sock.h"
#include "eanem_trace.h"

DEFINE_SPINLOCK(lull_eanem_lock);
LIST_HEAD(lull_eanem_socks);

/**
 * struct lull_eanem_process - a process with a target for all of its TCP sockets together
 * @node: in lull_eanem_processes
 * @pid: the process
 * @target: in bytes/s
 * @active: those without a target of their own that received something lately
 * @gone: it has ended
 */
struct lull_eanem_process {
	struct list_head node;
	struct pid *pid;
	u64 target;
	unsigned int active;
	bool gone;
};

static LIST_HEAD(lull_eanem_processes);
static u64 lull_eanem_serial;

static struct hrtimer lull_eanem_timer;
/* The CPU that turned the system on. */
static int lull_eanem_home;
/* The last interval that is over. */
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
	u64 segments = max_t(u64, skb_shinfo(skb)->gso_segs, 1), size = skb_shinfo(skb)->gso_size;
	u64 bytes = skb->len, tail;

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

void __lull_eanem_queued(struct sock *sk, struct sk_buff *skb)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);
	u32 now = lull_eanem_clock(), *at = skb->lull_at;
	struct lull_eanem_latency *stages = es->counts.stages;

	/* A FIN alone is no packet to a program, and nothing of it is copied. */
	if (!skb->len && sk->sk_protocol == IPPROTO_TCP) {
		at[LULL_EANEM_AT_ARRIVED] = 0;
		return;
	}

	spin_lock_bh(&es->lock);
	lull_eanem_count(&es->counts, skb);
	lull_eanem_spent(&stages[LULL_EANEM_DRIVER], at[LULL_EANEM_AT_ARRIVED],
			 at[LULL_EANEM_AT_STACK]);
	lull_eanem_spent(&stages[LULL_EANEM_LINK], at[LULL_EANEM_AT_STACK], at[LULL_EANEM_AT_IP]);
	lull_eanem_spent(&stages[LULL_EANEM_IP], at[LULL_EANEM_AT_IP],
			 at[LULL_EANEM_AT_TRANSPORT]);
	lull_eanem_spent(&stages[LULL_EANEM_TRANSPORT], at[LULL_EANEM_AT_TRANSPORT], now);
	spin_unlock_bh(&es->lock);
	/* From now on, when it was queued. */
	at[LULL_EANEM_AT_ARRIVED] = now;
}

void __lull_eanem_copied(struct sock *sk, struct sk_buff *skb)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem);

	spin_lock_bh(&es->lock);
	lull_eanem_spent(&es->counts.stages[LULL_EANEM_USER], skb->lull_at[LULL_EANEM_AT_ARRIVED],
			 lull_eanem_clock());
	spin_unlock_bh(&es->lock);
}

static struct lull_eanem_process *lull_eanem_process(const struct pid *pid)
{
	struct lull_eanem_process *process;

	list_for_each_entry(process, &lull_eanem_processes, node) {
		if (process->pid == pid)
			return process;
	}

	return NULL;
}

/* Its own target, or an equal part of its process's: of the sockets that received something. */
static void lull_eanem_apply(struct lull_eanem_sock *es)
{
	u64 target = es->own_target;

	lockdep_assert_held(&lull_eanem_lock);
	if (es->process && !target)
		target = max(div_u64(es->process->target, max(es->process->active, 1U)), 1ULL);
	WRITE_ONCE(es->target, target);
}

/* All sockets are gone through, but not once for each process: any process may have a target. */
static void lull_eanem_share(void)
{
	struct lull_eanem_process *process;
	struct lull_eanem_sock *es;

	lockdep_assert_held(&lull_eanem_lock);
	list_for_each_entry(process, &lull_eanem_processes, node)
		process->active = 0;
	list_for_each_entry(es, &lull_eanem_socks, node) {
		if (es->process && !es->own_target && READ_ONCE(es->last.packets))
			es->process->active++;
	}
	list_for_each_entry(es, &lull_eanem_socks, node)
		lull_eanem_apply(es);
}

/* The control can hold nothing else. */
static bool lull_eanem_is_tcp(const struct lull_eanem_sock *es)
{
	return es->sk->sk_protocol == IPPROTO_TCP;
}

static struct lull_eanem_sock *lull_eanem_alloc(struct sock *sk)
{
	struct lull_eanem_sock *es;

	if (sk->sk_family != AF_INET || !sk->sk_net_refcnt ||
	    (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_UDP))
		return NULL;
	es = kzalloc(sizeof(*es), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!es)
		return NULL;
	es->sk = sk;
	/* So that it has one from now on. */
	sock_gen_cookie(sk);
	spin_lock_init(&es->lock);
	lull_eanem_window_init(es);
	return es;
}

/* A socket without memory for this is not watched, which harms nobody. */
void __lull_eanem_own(struct sock *sk)
{
	struct lull_eanem_sock *es = READ_ONCE(sk->sk_eanem), *made = NULL;
	struct pid *owner = task_tgid(current), *before;

	if (likely(es && READ_ONCE(es->owner) == owner))
		return;
	if (current->flags & PF_KTHREAD)
		return;
	if (!es) {
		made = lull_eanem_alloc(sk);
		if (!made)
			return;
	}

	spin_lock_bh(&lull_eanem_lock);
	es = sk->sk_eanem;
	if (!es && made) {
		es = made;
		made = NULL;
		es->serial = ++lull_eanem_serial;
		list_add_tail(&es->node, &lull_eanem_socks);
	}
	before = es->owner;
	WRITE_ONCE(es->owner, get_pid(owner));
	es->process = lull_eanem_is_tcp(es) ? lull_eanem_process(owner) : NULL;
	/* Pairs with the readers' READ_ONCE(): they depend on the pointer. */
	smp_store_release(&sk->sk_eanem, es);
	/* Any process may come here often; the next tick shares anew. */
	lull_eanem_apply(es);
	spin_unlock_bh(&lull_eanem_lock);
	put_pid(before);
	kfree(made);
}

/* Nobody has the socket any more, nor a reference to it. */
void __lull_eanem_free(struct sock *sk)
{
	struct lull_eanem_sock *es = sk->sk_eanem;

	spin_lock_bh(&lull_eanem_lock);
	list_del(&es->node);
	spin_unlock_bh(&lull_eanem_lock);
	put_pid(es->owner);
	kfree(es);
	sk->sk_eanem = NULL;
}

static void lull_eanem_take(struct lull_eanem_sock *es, struct lull_eanem_counts *counts)
{
	spin_lock_bh(&es->lock);
	*counts = es->counts;
	memset(&es->counts, 0, sizeof(es->counts));
	es->packets += counts->packets;
	es->bytes += counts->bytes;
	spin_unlock_bh(&es->lock);
}

static void lull_eanem_close(struct lull_eanem_sock *es)
{
	struct lull_eanem_counts counts;
	struct lull_eanem_sums *last = &es->last;
	u64 mean;

	lull_eanem_take(es, &counts);
	WRITE_ONCE(last->packets, counts.packets);
	last->bytes = counts.bytes;
	last->mean = 0;
	last->variance = 0;
	memcpy(last->stages, counts.stages, sizeof(last->stages));
	if (!counts.packets)
		return;
	last->mean = mul_u64_u64_div_u64(counts.bytes, 1000, counts.packets);
	/* The mean of the squares less the square of the mean. */
	mean = mul_u64_u64_div_u64(counts.bytes, counts.bytes, counts.packets);
	last->variance = div64_u64(counts.squares - min(mean, counts.squares), counts.packets);
	trace_lull_eanem_socket(atomic64_read(&es->sk->sk_cookie), last);
}

static void lull_eanem_close_cpus(void)
{
	unsigned int cpu, what;

	for_each_possible_cpu(cpu) {
		struct lull_eanem_times *times = per_cpu_ptr(&lull_eanem_times, cpu);

		for (what = 0; what < ARRAY_SIZE(times->ns); what++) {
			u64 ns = READ_ONCE(times->ns[what]);

			WRITE_ONCE(times->last[what], ns - times->closed[what]);
			times->closed[what] = ns;
		}
	}
}

/* What came before the system was turned on is in the totals alone. */
static void lull_eanem_begin(void)
{
	struct lull_eanem_counts counts;
	struct lull_eanem_sock *es;
	unsigned int cpu;

	spin_lock_bh(&lull_eanem_lock);
	list_for_each_entry(es, &lull_eanem_socks, node) {
		lull_eanem_take(es, &counts);
		memset(&es->last, 0, sizeof(es->last));
	}
	lull_eanem_close_cpus();
	for_each_possible_cpu(cpu) {
		struct lull_eanem_times *times = per_cpu_ptr(&lull_eanem_times, cpu);

		memset(times->last, 0, sizeof(times->last));
	}
	lull_eanem_interval_ns = 0;
	lull_eanem_began = ktime_get_ns();
	spin_unlock_bh(&lull_eanem_lock);
}

/* Processes that have gone. Their targets are of no use to anybody. */
static void lull_eanem_forget(struct list_head *gone)
{
	struct lull_eanem_process *process, *next;
	struct lull_eanem_sock *es;

	rcu_read_lock();
	list_for_each_entry_safe(process, next, &lull_eanem_processes, node) {
		process->gone = !pid_task(process->pid, PIDTYPE_TGID);
		if (process->gone)
			list_move(&process->node, gone);
	}
	rcu_read_unlock();
	if (list_empty(gone))
		return;
	list_for_each_entry(es, &lull_eanem_socks, node) {
		if (es->process && es->process->gone)
			es->process = NULL;
	}
}

/* The TCP sockets of a process whose target has come, or goes. */
static void lull_eanem_tie(const struct pid *owner, struct lull_eanem_process *process)
{
	struct lull_eanem_sock *es;

	lockdep_assert_held(&lull_eanem_lock);
	list_for_each_entry(es, &lull_eanem_socks, node) {
		if (es->owner == owner && lull_eanem_is_tcp(es))
			es->process = process;
	}
}

static void lull_eanem_free_processes(struct list_head *processes)
{
	struct lull_eanem_process *process, *next;

	list_for_each_entry_safe(process, next, processes, node) {
		put_pid(process->pid);
		kfree(process);
	}
}

static ktime_t lull_eanem_length(void)
{
	return ns_to_ktime((u64)READ_ONCE(lull_eanem_interval_us) * NSEC_PER_USEC);
}

static enum hrtimer_restart lull_eanem_tick(struct hrtimer *timer)
{
	u64 now = ktime_get_ns();
	struct lull_eanem_sock *es;
	LIST_HEAD(gone);

	spin_lock_bh(&lull_eanem_lock);
	lull_eanem_interval++;
	lull_eanem_interval_ns = now - lull_eanem_began;
	lull_eanem_began = now;
	list_for_each_entry(es, &lull_eanem_socks, node)
		lull_eanem_close(es);
	lull_eanem_close_cpus();
	if (!list_empty(&lull_eanem_processes)) {
		lull_eanem_forget(&gone);
		lull_eanem_share();
	}
	spin_unlock_bh(&lull_eanem_lock);
	lull_eanem_free_processes(&gone);

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
void lull_eanem_describe(const struct lull_eanem_sock *es, struct lull_eanem_socket *record)
{
	lockdep_assert_held(&lull_eanem_lock);
	/* A socket that is being connected may show half of its addresses. */
	*record = data_race(lull_eanem_addresses(inet_sk(es->sk)));
	record->id = atomic64_read(&es->sk->sk_cookie);
	record->protocol = es->sk->sk_protocol;
	record->interval = lull_eanem_interval;
	record->interval_ns = lull_eanem_interval_ns;
	record->last = es->last;
	/* Changed under this lock alone. */
	record->packets = es->packets;
	record->bytes = es->bytes;
	record->target = es->target;
	record->window = es->target ? READ_ONCE(es->window) : 0;
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
	list_for_each_entry(es, &lull_eanem_socks, node) {
		if (atomic64_read(&es->sk->sk_cookie) != id || sock_net(es->sk) != net ||
		    (owner && es->owner != owner))
			continue;
		error = -EOPNOTSUPP;
		if (!lull_eanem_is_tcp(es))
			break;
		es->own_target = target;
		lull_eanem_share();
		error = 0;
		break;
	}
	spin_unlock_bh(&lull_eanem_lock);

	return error;
}

/**
 * lull_eanem_target_process - choose the bandwidth of a process, of all its TCP sockets together
 * @owner: the process
 * @target: in bytes/s; 0 for none
 *
 * Return: 0, -ENOMEM, or -ENODEV if the system is off.
 */
int lull_eanem_target_process(struct pid *owner, u64 target)
{
	struct lull_eanem_process *process, *made = NULL;
	int error = 0;

	if (target) {
		made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);
		if (!made)
			return -ENOMEM;
	}

	spin_lock_bh(&lull_eanem_lock);
	process = lull_eanem_process(owner);
	if (!static_branch_unlikely(&lull_eanem_key)) {
		error = -ENODEV;
	} else if (process && !target) {
		list_del(&process->node);
		lull_eanem_tie(owner, NULL);
		made = process;
	} else if (process) {
		process->target = target;
	} else if (made) {
		made->pid = get_pid(owner);
		made->target = target;
		list_add(&made->node, &lull_eanem_processes);
		lull_eanem_tie(owner, made);
		made = NULL;
	}
	lull_eanem_share();
	spin_unlock_bh(&lull_eanem_lock);
	if (made)
		put_pid(made->pid);
	kfree(made);

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

/* The sockets stay known, without targets: they are freed when they go. */
void lull_eanem_unwatch(void)
{
	struct lull_eanem_sock *es;
	LIST_HEAD(gone);

	hrtimer_cancel(&lull_eanem_timer);
	unregister_trace_softirq_exit(lull_eanem_softirq_exit, NULL);
	unregister_trace_softirq_entry(lull_eanem_softirq_entry, NULL);
	tracepoint_synchronize_unregister();

	spin_lock_bh(&lull_eanem_lock);
	list_splice_init(&lull_eanem_processes, &gone);
	list_for_each_entry(es, &lull_eanem_socks, node) {
		es->own_target = 0;
		es->process = NULL;
		WRITE_ONCE(es->target, 0);
	}
	spin_unlock_bh(&lull_eanem_lock);
	lull_eanem_free_processes(&gone);
}
