/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_ANTICIPATION_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_ANTICIPATION_TRACE_H

#include <linux/tracepoint.h>

#include "anticipation.h"

/* A request: the CPU has to be ready from start until end. */
TRACE_EVENT(lull_ahead_begin,
	    TP_PROTO(const struct wake_ahead *ahead),
	    TP_ARGS(ahead),
	    TP_STRUCT__entry(__string(owner, ahead->owner)
			     __field(pid_t, pid)
			     __field(int, cpu)
			     __field(u64, start)
			     __field(u64, end)
			     __field(u32, bound_ns)),
	    TP_fast_assign(__assign_str(owner);
			   __entry->pid = ahead->pid;
			   __entry->cpu = ahead->cpu;
			   __entry->start = ahead->window.start;
			   __entry->end = ahead->window.end;
			   __entry->bound_ns = ahead->window.bound_ns;),
	    TP_printk("owner=%s pid=%d target_cpu=%d start=%llu end=%llu bound_ns=%u",
		      __get_str(owner), __entry->pid, __entry->cpu, __entry->start,
		      __entry->end, __entry->bound_ns)
);

/* How a request ended. */
TRACE_EVENT(lull_ahead_end,
	    TP_PROTO(const struct wake_ahead *ahead, enum wake_ahead_outcome outcome),
	    TP_ARGS(ahead, outcome),
	    TP_STRUCT__entry(__string(owner, ahead->owner)
			     __field(pid_t, pid)
			     __field(int, cpu)
			     __field(u64, start)
			     __field(unsigned int, outcome)),
	    TP_fast_assign(__assign_str(owner);
			   __entry->pid = ahead->pid;
			   __entry->cpu = ahead->cpu;
			   __entry->start = ahead->window.start;
			   __entry->outcome = outcome;),
	    TP_printk("owner=%s pid=%d target_cpu=%d start=%llu %s", __get_str(owner),
		      __entry->pid, __entry->cpu, __entry->start,
		      __print_symbolic(__entry->outcome, { 0, "hit" }, { 1, "early" },
				       { 2, "miss" }, { 3, "dropped" }))
);

/* The timer that wakes a CPU ahead fires: late_ns after it was due, for a window from start on. */
TRACE_EVENT(lull_ahead_wake,
	    TP_PROTO(unsigned int cpu, const char *owner, pid_t pid, u64 start, int state,
		     u64 late_ns),
	    TP_ARGS(cpu, owner, pid, start, state, late_ns),
	    TP_STRUCT__entry(__field(unsigned int, cpu)
			     __string(owner, owner)
			     __field(pid_t, pid)
			     __field(u64, start)
			     __field(int, state)
			     __field(u64, late_ns)),
	    TP_fast_assign(__entry->cpu = cpu;
			   __assign_str(owner);
			   __entry->pid = pid;
			   __entry->start = start;
			   __entry->state = state;
			   __entry->late_ns = late_ns;),
	    TP_printk("owner=%s pid=%d start=%llu state=%d late_ns=%llu", __get_str(owner),
		      __entry->pid, __entry->start, __entry->state, __entry->late_ns)
);

/*
 * A device has interrupted, ns after it began. Expected was expected_ns, or 0 for nothing, and the
 * CPUs were ready from margin_ns before that on. What the device did: for storage, twice the
 * sectors, and one more for a write.
 */
TRACE_EVENT(lull_ahead_came,
	    TP_PROTO(const char *owner, u32 what, u64 ns, u64 expected_ns, u64 margin_ns),
	    TP_ARGS(owner, what, ns, expected_ns, margin_ns),
	    TP_STRUCT__entry(__string(owner, owner)
			     __field(u32, what)
			     __field(u64, ns)
			     __field(u64, expected_ns)
			     __field(u64, margin_ns)),
	    TP_fast_assign(__assign_str(owner);
			   __entry->what = what;
			   __entry->ns = ns;
			   __entry->expected_ns = expected_ns;
			   __entry->margin_ns = margin_ns;),
	    TP_printk("owner=%s what=%u ns=%llu expected_ns=%llu margin_ns=%llu",
		      __get_str(owner), __entry->what, __entry->ns, __entry->expected_ns,
		      __entry->margin_ns)
);

#endif /* _LULL_ANTICIPATION_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE anticipation_trace
#include <trace/define_trace.h>
