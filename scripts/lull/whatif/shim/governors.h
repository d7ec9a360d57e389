/* SPDX-License-Identifier: BSD-3-Clause */
/* A CPU and its governor: what it sees before a choice, and what it is told after the sleep. */
#ifndef LULL_GOVERNORS_H
#define LULL_GOVERNORS_H

#include "shim.h"

#define SHIM_NEVER INT64_MAX

/* What the kernel knows when it chooses. Times are nanoseconds of one clock, SHIM_NEVER where there is none. */
struct shim_view {
	int64_t clock;    /* now */
	int64_t now;      /* when the idle loop began, or its last interrupt ended */
	int64_t tick;     /* when the tick's timer is due */
	int64_t hrtimer;  /* when the first other timer of high resolution is due */
	int64_t wheel;    /* when the first timer of the wheel is due */
	int64_t qos;      /* the longest exit latency that is allowed */
	int32_t stopped;  /* the tick is stopped */
};

struct shim_choice {
	int32_t state;
	int32_t stop_tick;
	int32_t asked;    /* the governor asked how long the sleep will be */
	int64_t length;   /* what it was told */
};

/* A choice that was made before what is asked about, and how its sleep went. */
struct shim_lived {
	struct shim_view view;
	int64_t end, residency;
	int32_t state;    /* -1: as the governor chooses */
	int32_t got_tick;
	int32_t refused;  /* by the hardware */
};

int shim_governor(const char *name);
void shim_states(int cpu, int count, const int64_t *exit_ns, const int64_t *residency_ns, const int32_t *disabled);
void shim_forget(void);
void shim_reset(int governor);
size_t shim_size(void);
void shim_save(char *into);
void shim_restore(const char *from);
void shim_select(int governor, int cpu, const struct shim_view *view, struct shim_choice *choice);
void shim_reflect(int governor, int cpu, int64_t now, int state, int64_t residency_ns, int got_tick);
void shim_rejected(int cpu);
void shim_live(int governor, int cpu, int64_t count, const struct shim_lived *lived,
	       struct shim_choice *choices);
void shim_haltpoll(const unsigned int *values);

#endif
