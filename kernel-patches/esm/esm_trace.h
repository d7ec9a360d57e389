/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM esm

#if !defined(_LULL_ESM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_ESM_TRACE_H

#include <linux/tracepoint.h>

#include "esm.h"

DECLARE_EVENT_CLASS(esm_packet,
		    TP_PROTO(const struct esm_packet *packet),
		    TP_ARGS(packet),
		    TP_STRUCT__entry(__field(u64, packet)
				     __field(u64, hardware_ns)
				     __field(u32, source)
				     __field(u32, values)),
		    TP_fast_assign(__entry->packet = packet->number;
				   __entry->hardware_ns = packet->hardware_ns;
				   __entry->source = packet->source->number;
				   __entry->values = packet->count;),
		    TP_printk("source=%u packet=%llu hardware_ns=%llu values=%u", __entry->source,
			      __entry->packet, __entry->hardware_ns, __entry->values)
);

/* A packet has come to the interpreter. */
DEFINE_EVENT(esm_packet, esm_interpret,
	     TP_PROTO(const struct esm_packet *packet),
	     TP_ARGS(packet)
);

/* Nobody was there for it. */
DEFINE_EVENT(esm_packet, esm_discard,
	     TP_PROTO(const struct esm_packet *packet),
	     TP_ARGS(packet)
);

DECLARE_EVENT_CLASS(esm_packet_for,
		    TP_PROTO(const struct esm_packet *packet, pid_t tid, unsigned int events),
		    TP_ARGS(packet, tid, events),
		    TP_STRUCT__entry(__field(u64, packet)
				     __field(u32, source)
				     __field(pid_t, tid)
				     __field(u32, events)),
		    TP_fast_assign(__entry->packet = packet->number;
				   __entry->source = packet->source->number;
				   __entry->tid = tid;
				   __entry->events = events;),
		    TP_printk("source=%u packet=%llu tid=%d events=%u", __entry->source,
			      __entry->packet, __entry->tid, __entry->events)
);

/* A packet is in an application's queue. */
DEFINE_EVENT(esm_packet_for, esm_enqueue,
	     TP_PROTO(const struct esm_packet *packet, pid_t tid, unsigned int events),
	     TP_ARGS(packet, tid, events)
);

/* An application's queue had no room for a packet. */
DEFINE_EVENT(esm_packet_for, esm_overflow,
	     TP_PROTO(const struct esm_packet *packet, pid_t tid, unsigned int events),
	     TP_ARGS(packet, tid, events)
);

DECLARE_EVENT_CLASS(esm_task,
		    TP_PROTO(pid_t tid, unsigned int events),
		    TP_ARGS(tid, events),
		    TP_STRUCT__entry(__field(pid_t, tid)
				     __field(u32, events)),
		    TP_fast_assign(__entry->tid = tid;
				   __entry->events = events;),
		    TP_printk("tid=%d events=%u", __entry->tid, __entry->events)
);

/* An application goes into EV_WAIT. */
DEFINE_EVENT(esm_task, esm_wait,
	     TP_PROTO(pid_t tid, unsigned int events),
	     TP_ARGS(tid, events)
);

/* An application in EV_WAIT is given what is in its queue, and woken. */
DEFINE_EVENT(esm_task, esm_hand_over,
	     TP_PROTO(pid_t tid, unsigned int events),
	     TP_ARGS(tid, events)
);

/* esm_wait() returns with events. */
DEFINE_EVENT(esm_task, esm_deliver,
	     TP_PROTO(pid_t tid, unsigned int events),
	     TP_ARGS(tid, events)
);

#endif /* _LULL_ESM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE esm_trace
#include <trace/define_trace.h>
