/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_ROUTING_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_ROUTING_TRACE_H

#include <linux/tracepoint.h>

#include "routing.h"

/* An event interrupt now goes to another CPU; -1 is none. */
TRACE_EVENT(lull_route,
	    TP_PROTO(unsigned int irq, int from, int to, int reason),
	    TP_ARGS(irq, from, to, reason),
	    TP_STRUCT__entry(__field(unsigned int, irq)
			     __field(int, from)
			     __field(int, to)
			     __field(int, reason)),
	    TP_fast_assign(__entry->irq = irq;
			   __entry->from = from;
			   __entry->to = to;
			   __entry->reason = reason;),
	    /* Numbers, so that a trace read on another machine knows them too. */
	    TP_printk("irq=%u from=%d to=%d reason=%s", __entry->irq, __entry->from,
		      __entry->to, __print_symbolic(__entry->reason,
						    { 0, "none" },
						    { 1, "awake" },
						    { 2, "sleep" },
						    { 3, "always" },
						    { 4, "offline" },
						    { 5, "wanted" }))
);

#endif /* _LULL_ROUTING_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE routing_trace
#include <trace/define_trace.h>
