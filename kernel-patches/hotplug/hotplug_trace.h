/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lull

#if !defined(_LULL_HOTPLUG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LULL_HOTPLUG_TRACE_H

#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

/* A change was asked for, and it is done: notifications are over. */
TRACE_EVENT(lull_pseudo_change,
	    TP_PROTO(const struct cpumask *down, const struct cpumask *up, bool done),
	    TP_ARGS(down, up, done),
	    TP_STRUCT__entry(__field(u64, down)
			     __field(u64, up)
			     __field(bool, done)),
	    TP_fast_assign(__entry->down = cpumask_bits(down)[0];
			   __entry->up = cpumask_bits(up)[0];
			   __entry->done = done;),
	    TP_printk("down=%llx up=%llx %s", __entry->down, __entry->up,
		      __entry->done ? "done" : "begin")
);

/* A task was placed on a pseudo-offline CPU, or is pushed from one. */
DECLARE_EVENT_CLASS(lull_pseudo_task,
		    TP_PROTO(struct task_struct *task, int from, int to),
		    TP_ARGS(task, from, to),
		    TP_STRUCT__entry(__array(char, comm, TASK_COMM_LEN)
				     __field(pid_t, pid)
				     __field(int, from)
				     __field(int, to)),
		    TP_fast_assign(memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
				   __entry->pid = task->pid;
				   __entry->from = from;
				   __entry->to = to;),
		    TP_printk("comm=%s pid=%d from=%d to=%d", __entry->comm, __entry->pid,
			      __entry->from, __entry->to)
);

DEFINE_EVENT(lull_pseudo_task, lull_pseudo_stranded,
	     TP_PROTO(struct task_struct *task, int from, int to),
	     TP_ARGS(task, from, to)
);

DEFINE_EVENT(lull_pseudo_task, lull_pseudo_pushed,
	     TP_PROTO(struct task_struct *task, int from, int to),
	     TP_ARGS(task, from, to)
);

/* A pseudo-offline CPU was awake, and goes back to sleep. */
TRACE_EVENT(lull_pseudo_wake,
	    TP_PROTO(unsigned int cpu, const char *source, int irq, void *function,
		     const char *task),
	    TP_ARGS(cpu, source, irq, function, task),
	    TP_STRUCT__entry(__field(unsigned int, cpu)
			     __string(source, source)
			     __field(int, irq)
			     __field(void *, function)
			     __string(task, task)),
	    TP_fast_assign(__entry->cpu = cpu;
			   __assign_str(source);
			   __entry->irq = irq;
			   __entry->function = function;
			   __assign_str(task);),
	    TP_printk("cpu=%u source=%s irq=%d function=%ps task=%s", __entry->cpu,
		      __get_str(source), __entry->irq, __entry->function, __get_str(task))
);

#endif /* _LULL_HOTPLUG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE hotplug_trace
#include <trace/define_trace.h>
