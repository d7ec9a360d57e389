/* SPDX-License-Identifier: BSD-3-Clause */
/* An instance of the trace, and the events in it. */
#ifndef EANEM_WIRE_CASES_TRACE_H
#define EANEM_WIRE_CASES_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define TRACING "/sys/kernel/tracing/instances/lull-eanem-wire/"

/* Makes the instance, and removes it. */
void trace_begin(void);
void trace_end(void);
void trace_enable(const char *event, bool on);
void trace_empty(void);

/* One event of a trace. */
struct event {
	uint64_t at_ns;
	/* " id=1 target=2" */
	char fields[512];
};

/* The next event of this name after a place in a trace, which then is behind it. */
bool next_event(const char **at, const char *name, struct event *event);
uint64_t field(const struct event *event, const char *name);
unsigned int events_of(const char *trace, const char *name);

#endif
