/* SPDX-License-Identifier: GPL-2.0-only */
/* Several probes of trace points, all of them or none. */
#ifndef _LULL_PROBES_H
#define _LULL_PROBES_H

#include <linux/build_bug.h>
#include <linux/tracepoint.h>

/**
 * struct lull_trace_probe - a function that a trace point calls
 * @point: the trace point
 * @function: with the arguments of that trace point
 */
struct lull_trace_probe {
	struct tracepoint *point;
	void *function;
};

/* The function has to have the arguments of the trace point. */
#define LULL_TRACE_PROBE(_name, _function)						\
	{										\
		.point = &__tracepoint_##_name,						\
		.function = (void *)(_function) + BUILD_BUG_ON_ZERO(			\
			!__builtin_types_compatible_p(					\
				typeof(check_trace_callback_type_##_name),		\
				void (typeof(_function) *))),				\
	}

int lull_register_probes(const struct lull_trace_probe *probes, unsigned int count);
void lull_unregister_probes(const struct lull_trace_probe *probes, unsigned int count);

#endif /* _LULL_PROBES_H */
