// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel's governors behind a small interface: a driver and a device for
 * each CPU, and the answers to what a governor asks about timers. The answers
 * follow tick_nohz_get_sleep_length() and tick_nohz_next_event().
 */
#include "governors.h"

#include <linux/cpuidle.h>

#define GOVERNORS 8

int shim_cpu;
struct cpuidle_device *cpuidle_devices[SHIM_CPUS];

static struct cpuidle_governor *governors[GOVERNORS];
static int governor_count;
static struct cpuidle_driver drivers[SHIM_CPUS];
static struct cpuidle_device devices[SHIM_CPUS];
static struct shim_view view;
static struct shim_choice *answer;
static int got_tick;

extern unsigned int *shim_parameter_guest_halt_poll_ns;
extern unsigned int *shim_parameter_guest_halt_poll_shrink;
extern unsigned int *shim_parameter_guest_halt_poll_grow;
extern unsigned int *shim_parameter_guest_halt_poll_grow_start;
extern bool *shim_parameter_guest_halt_poll_allow_shrink;

int cpuidle_register_governor(struct cpuidle_governor *governor)
{
	if (governor_count == GOVERNORS)
		return -1;
	governors[governor_count++] = governor;
	return 0;
}

s64 cpuidle_governor_latency_req(unsigned int cpu)
{
	(void)cpu;
	return view.qos;
}

u64 local_clock(void)
{
	return view.clock;
}

bool tick_nohz_tick_stopped(void)
{
	return view.stopped;
}

bool tick_nohz_idle_got_tick(void)
{
	bool had = got_tick;

	got_tick = 0;
	return had;
}

ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next)
{
	ktime_t programmed = min(view.tick, view.hrtimer);
	ktime_t event;

	/* SHIM_NEVER is KTIME_MAX, and the kernel, too, takes now from it: menu's product with a factor wraps. */
	*delta_next = programmed - view.now;
	/* A timer of the wheel in the coming period: the tick will not be stopped for it. */
	if (!view.stopped && view.wheel <= view.now - view.now % TICK_NSEC + TICK_NSEC) {
		event = *delta_next;
	} else {
		event = min(view.wheel, view.hrtimer) - view.now;
	}
	if (answer) {
		answer->asked = 1;
		answer->length = event;
	}
	return event;
}

int shim_governor(const char *name)
{
	for (int i = 0; i < governor_count; i++)
		if (!strcmp(governors[i]->name, name))
			return i;
	return -1;
}

void shim_states(int cpu, int count, const int64_t *exit_ns, const int64_t *residency_ns, const int32_t *disabled)
{
	struct cpuidle_driver *driver = &drivers[cpu];

	memset(driver, 0, sizeof(*driver));
	driver->state_count = count;
	for (int i = 0; i < count; i++) {
		driver->states[i].exit_latency_ns = exit_ns[i];
		driver->states[i].exit_latency = exit_ns[i] / 1000;
		driver->states[i].target_residency_ns = residency_ns[i];
		driver->states[i].target_residency = residency_ns[i] / 1000;
		devices[cpu].states_usage[i].disable = disabled[i];
	}
}

void shim_forget(void)
{
	memset(drivers, 0, sizeof(drivers));
	memset(devices, 0, sizeof(devices));
}

/* As cpuidle_enable_device() does when the governor changes, but for numbers that cpuidle keeps. */
void shim_reset(int governor)
{
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++) {
		if (!drivers[cpu].state_count)
			continue;
		devices[cpu].cpu = cpu;
		devices[cpu].last_state_idx = 0;
		devices[cpu].last_residency_ns = 0;
		devices[cpu].poll_limit_ns = 0;
		devices[cpu].poll_time_limit = 0;
		cpuidle_devices[cpu] = &devices[cpu];
		if (governors[governor]->enable)
			governors[governor]->enable(&drivers[cpu], &devices[cpu]);
	}
}

/* The governors' own memory: the linker names the ends of a section. */
extern char __start_shim_percpu[], __stop_shim_percpu[];

size_t shim_size(void)
{
	return __stop_shim_percpu - __start_shim_percpu + sizeof(devices);
}

void shim_save(char *into)
{
	size_t size = __stop_shim_percpu - __start_shim_percpu;

	memcpy(into, __start_shim_percpu, size);
	memcpy(into + size, devices, sizeof(devices));
}

void shim_restore(const char *from)
{
	size_t size = __stop_shim_percpu - __start_shim_percpu;

	memcpy(__start_shim_percpu, from, size);
	memcpy(devices, from + size, sizeof(devices));
}

void shim_select(int governor, int cpu, const struct shim_view *seen, struct shim_choice *choice)
{
	bool stop_tick = true;

	shim_cpu = cpu;
	view = *seen;
	answer = choice;
	choice->asked = 0;
	choice->length = 0;
	choice->state = governors[governor]->select(&drivers[cpu], &devices[cpu], &stop_tick);
	choice->stop_tick = stop_tick;
	answer = NULL;
}

void shim_reflect(int governor, int cpu, int64_t now, int state, int64_t residency_ns, int tick)
{
	shim_cpu = cpu;
	view.clock = now;
	got_tick = tick;
	devices[cpu].last_residency_ns = residency_ns;
	if (governors[governor]->reflect)
		governors[governor]->reflect(&devices[cpu], state);
	got_tick = 0;
}

/* The hardware refused the state: cpuidle_enter_state() notes no time, and cpuidle_reflect() is silent. */
void shim_rejected(int cpu)
{
	devices[cpu].last_residency_ns = 0;
}

/* Sleeps one after the other, from which the governor learns, and what it chooses. */
void shim_live(int governor, int cpu, int64_t count, const struct shim_lived *lived, struct shim_choice *choices)
{
	for (int64_t at = 0; at < count; at++) {
		const struct shim_lived *one = &lived[at];
		struct shim_choice *choice = &choices[at];

		shim_select(governor, cpu, &one->view, choice);
		if (one->refused)
			shim_rejected(cpu);
		else
			shim_reflect(governor, cpu, one->end, one->state < 0 ? choice->state : one->state,
				     one->residency, one->got_tick);
	}
}

/* haltpoll's parameters: window, shrink, grow, start of growth, whether it shrinks. */
void shim_haltpoll(const unsigned int *values)
{
	*shim_parameter_guest_halt_poll_ns = values[0];
	*shim_parameter_guest_halt_poll_shrink = values[1];
	*shim_parameter_guest_halt_poll_grow = values[2];
	*shim_parameter_guest_halt_poll_grow_start = values[3];
	*shim_parameter_guest_halt_poll_allow_shrink = values[4];
}
