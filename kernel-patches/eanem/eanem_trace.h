/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_EANEM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_EANEM_TRACE_H

#include <linux/tracepoint.h>

#include "eanem_abi.h"

/*
 * What a socket received in an interval, once the socket is next used or read; the mean size is in
 * thousandths of a byte.
 */
TRACE_EVENT(lull_eanem_socket,
	    TP_PROTO(u64 id, u64 interval, const struct lull_eanem_sums *sums),
	    TP_ARGS(id, interval, sums),
	    TP_STRUCT__entry(__field(u64, id)
			     __field(u64, interval)
			     __field(u64, packets)
			     __field(u64, bytes)
			     __field(u64, mean)
			     __field(u64, variance)
			     __field(u64, driver_ns)
			     __field(u64, link_ns)
			     __field(u64, ip_ns)
			     __field(u64, transport_ns)
			     __field(u64, user_ns)),
	    TP_fast_assign(__entry->id = id;
			   __entry->interval = interval;
			   __entry->packets = sums->packets;
			   __entry->bytes = sums->bytes;
			   __entry->mean = sums->mean;
			   __entry->variance = sums->variance;
			   __entry->driver_ns = sums->stages[LULL_EANEM_DRIVER].sum_ns;
			   __entry->link_ns = sums->stages[LULL_EANEM_LINK].sum_ns;
			   __entry->ip_ns = sums->stages[LULL_EANEM_IP].sum_ns;
			   __entry->transport_ns = sums->stages[LULL_EANEM_TRANSPORT].sum_ns;
			   __entry->user_ns = sums->stages[LULL_EANEM_USER].sum_ns;),
	    TP_printk("id=%llu interval=%llu packets=%llu bytes=%llu mean=%llu variance=%llu driver_ns=%llu link_ns=%llu ip_ns=%llu transport_ns=%llu user_ns=%llu",
		      __entry->id, __entry->interval, __entry->packets, __entry->bytes,
		      __entry->mean, __entry->variance, __entry->driver_ns, __entry->link_ns,
		      __entry->ip_ns, __entry->transport_ns, __entry->user_ns)
);

/* A CPU's time in the network's softirqs in an interval, and that part of it in ksoftirqd. */
TRACE_EVENT(lull_eanem_cpu,
	    TP_PROTO(unsigned int cpu, u64 interval, const u64 ns[3]),
	    TP_ARGS(cpu, interval, ns),
	    TP_STRUCT__entry(__field(unsigned int, which)
			     __field(u64, interval)
			     __field(u64, net_rx_ns)
			     __field(u64, net_tx_ns)
			     __field(u64, ksoftirqd_ns)),
	    TP_fast_assign(__entry->which = cpu;
			   __entry->interval = interval;
			   __entry->net_rx_ns = ns[0];
			   __entry->net_tx_ns = ns[1];
			   __entry->ksoftirqd_ns = ns[2];),
	    TP_printk("which=%u interval=%llu net_rx_ns=%llu net_tx_ns=%llu ksoftirqd_ns=%llu",
		      __entry->which, __entry->interval, __entry->net_rx_ns,
		      __entry->net_tx_ns, __entry->ksoftirqd_ns)
);

/* The bandwidth control has chosen a window: for which target, after which bandwidth. */
TRACE_EVENT(lull_eanem_window,
	    TP_PROTO(u64 id, u64 target, u64 bandwidth, u64 window),
	    TP_ARGS(id, target, bandwidth, window),
	    TP_STRUCT__entry(__field(u64, id)
			     __field(u64, target)
			     __field(u64, bandwidth)
			     __field(u64, window)),
	    TP_fast_assign(__entry->id = id;
			   __entry->target = target;
			   __entry->bandwidth = bandwidth;
			   __entry->window = window;),
	    TP_printk("id=%llu target=%llu bandwidth=%llu window=%llu", __entry->id,
		      __entry->target, __entry->bandwidth, __entry->window)
);

#endif /* _LULL_EANEM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE eanem_trace
#include <trace/define_trace.h>
