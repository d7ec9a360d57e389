/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_BURSTS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_BURSTS_TRACE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

/* A wake-up is held back. */
TRACE_EVENT(lull_bursts_hold,
	    TP_PROTO(struct task_struct *task),
	    TP_ARGS(task),
	    TP_STRUCT__entry(__array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)),
	    TP_fast_assign(memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
			   __entry->pid = task->pid;),
	    TP_printk("comm=%s pid=%d", __entry->comm, __entry->pid)
);

/*
 * A burst begins: so many tasks are woken, of which the first was held for so long. Early: because
 * a bound or a deadline ended.
 */
TRACE_EVENT(lull_bursts_release,
	    TP_PROTO(unsigned int tasks, u64 held_ns, bool early),
	    TP_ARGS(tasks, held_ns, early),
	    TP_STRUCT__entry(__field(unsigned int, tasks)
			     __field(u64, held_ns)
			     __field(bool, early)),
	    TP_fast_assign(__entry->tasks = tasks;
			   __entry->held_ns = held_ns;
			   __entry->early = early;),
	    TP_printk("tasks=%u held_ns=%llu early=%d", __entry->tasks, __entry->held_ns,
		      __entry->early)
);

#endif /* _LULL_BURSTS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bursts_trace
#include <trace/define_trace.h>
