/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_EANEM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_EANEM_TRACE_H

#include <linux/tracepoint.h>

#include "eanem_abi.h"

/* What a socket received in an interval; the mean size is in thousandths of a byte. */
TRACE_EVENT(lull_eanem_socket,
	    TP_PROTO(u64 id, const struct lull_eanem_sums *sums),
	    TP_ARGS(id, sums),
	    TP_STRUCT__entry(__field(u64, id)
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
			   __entry->packets = sums->packets;
			   __entry->bytes = sums->bytes;
			   __entry->mean = sums->mean;
			   __entry->variance = sums->variance;
			   __entry->driver_ns = sums->stages[LULL_EANEM_DRIVER].sum_ns;
			   __entry->link_ns = sums->stages[LULL_EANEM_LINK].sum_ns;
			   __entry->ip_ns = sums->stages[LULL_EANEM_IP].sum_ns;
			   __entry->transport_ns = sums->stages[LULL_EANEM_TRANSPORT].sum_ns;
			   __entry->user_ns = sums->stages[LULL_EANEM_USER].sum_ns;),
	    TP_printk("id=%llu packets=%llu bytes=%llu mean=%llu variance=%llu driver_ns=%llu link_ns=%llu ip_ns=%llu transport_ns=%llu user_ns=%llu",
		      __entry->id, __entry->packets, __entry->bytes, __entry->mean,
		      __entry->variance, __entry->driver_ns, __entry->link_ns, __entry->ip_ns,
		      __entry->transport_ns, __entry->user_ns)
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
