/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_QUIESCENCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_QUIESCENCE_TRACE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

/* A task has read that a key was pressed: the path begins with it. */
TRACE_EVENT(lull_quiet_action,
	    TP_PROTO(struct task_struct *task, u16 code),
	    TP_ARGS(task, code),
	    TP_STRUCT__entry(__array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)
			     __field(u16, code)),
	    TP_fast_assign(memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
			   __entry->pid = task->pid;
			   __entry->code = code;),
	    TP_printk("comm=%s pid=%d code=%u", __entry->comm, __entry->pid, __entry->code)
);

/* A task joins the path, because a task on the path, or its work item, woke it. */
TRACE_EVENT(lull_quiet_join,
	    TP_PROTO(struct task_struct *task, struct task_struct *by),
	    TP_ARGS(task, by),
	    TP_STRUCT__entry(__array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)
			     __field(pid_t, by)),
	    TP_fast_assign(memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
			   __entry->pid = task->pid;
			   __entry->by = by->pid;),
	    TP_printk("comm=%s pid=%d by=%d", __entry->comm, __entry->pid, __entry->by)
);

/* Nobody on the path can run. The wait was so long the last time: 0 for none, -1 for not known. */
TRACE_EVENT(lull_quiet_wait,
	    TP_PROTO(u64 wait, s64 expected_us),
	    TP_ARGS(wait, expected_us),
	    TP_STRUCT__entry(__field(u64, wait)
			     __field(s64, expected_us)),
	    TP_fast_assign(__entry->wait = wait;
			   __entry->expected_us = expected_us;),
	    TP_printk("wait=%llu expected_us=%lld", __entry->wait, __entry->expected_us)
);

/* Tasks are held back from now on, for so long at most. */
TRACE_EVENT(lull_quiet_hold,
	    TP_PROTO(u64 wait, bool all, u64 bound_ns),
	    TP_ARGS(wait, all, bound_ns),
	    TP_STRUCT__entry(__field(u64, wait)
			     __field(bool, all)
			     __field(u64, bound_ns)),
	    TP_fast_assign(__entry->wait = wait;
			   __entry->all = all;
			   __entry->bound_ns = bound_ns;),
	    TP_printk("wait=%llu all=%d bound_ns=%llu", __entry->wait, __entry->all,
		      __entry->bound_ns)
);

/* No longer. Why: 0 the path woke, 1 the time is over, 2 the switch. */
TRACE_EVENT(lull_quiet_release,
	    TP_PROTO(u64 wait, unsigned int why, u64 held_ns),
	    TP_ARGS(wait, why, held_ns),
	    TP_STRUCT__entry(__field(u64, wait)
			     __field(unsigned int, why)
			     __field(u64, held_ns)),
	    TP_fast_assign(__entry->wait = wait;
			   __entry->why = why;
			   __entry->held_ns = held_ns;),
	    TP_printk("wait=%llu why=%u held_ns=%llu", __entry->wait, __entry->why,
		      __entry->held_ns)
);

/* The path was woken by a task that was held, or had to leave a big CPU. */
TRACE_EVENT(lull_quiet_mistake,
	    TP_PROTO(u64 wait, struct task_struct *by),
	    TP_ARGS(wait, by),
	    TP_STRUCT__entry(__array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)
			     __field(u64, wait)),
	    TP_fast_assign(memcpy(__entry->comm, by->comm, TASK_COMM_LEN);
			   __entry->pid = by->pid;
			   __entry->wait = wait;),
	    TP_printk("wait=%llu comm=%s pid=%d", __entry->wait, __entry->comm, __entry->pid)
);

#endif /* _LULL_QUIESCENCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE quiescence_trace
#include <trace/define_trace.h>
