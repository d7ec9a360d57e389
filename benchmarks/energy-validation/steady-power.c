// SPDX-License-Identifier: BSD-3-Clause
/*
 * Brings the machine into one steady state after the other, and has gem5 open and close a window
 * of statistics in each. Both dumps are ordered in advance, so that nobody has to wake for them.
 * A window in which a CPU woke that should sleep, for the kernel's housekeeping, is taken again.
 *
 * Plans: `idle`, all CPUs asleep, in one idle state after the other; `opps`, the first CPU of a
 * cluster busy at each of its operating points, one cluster after the other; `steps`, no CPU
 * busy, then one, then two, in their order. In the last two, all others sleep in one state.
 *
 * One JSON line for each window: who is busy, the state of the others, the counter when the dumps
 * were ordered.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "m5.h"
#include "machine.h"
#include "options.h"
#include "pin.h"
#include "sysfs.h"

#define MAX_WINDOWS 256
#define MAX_US 10000000
#define LINE_BYTES 64
/* What a kernel adds to the hardware's way out of a state. */
#define KERNEL_US 100
/* Housekeeping follows what woke a CPU, a few ticks long. */
#define MAX_TRIES 16

static const char usage[] =
	"usage: steady-power --plan idle|opps|steps [--loop primes|memory] [--state C1|C2|C3|C4]\n"
	"                    [--window-us N] [--settle-us N] [--rest-us N] [--memory-kib N]\n"
	"                    [--out FILE]\n";

static const char *plan_asked, *loop_asked = "primes", *state_asked = "C4",
			       *out_file = "/out/windows.jsonl";
static uint64_t window_us = 1000, settle_us = 500, rest_us = 20000, memory_kib = 4096;

static const struct option_to options[] = {
	{.name = "plan", .text = &plan_asked},
	{.name = "loop", .text = &loop_asked},
	{.name = "state", .text = &state_asked},
	{.name = "window-us", .number = &window_us, .least = 1, .most = MAX_US},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = MAX_US},
	{.name = "rest-us", .number = &rest_us, .least = 1, .most = MAX_US},
	{.name = "memory-kib", .number = &memory_kib, .least = 1, .most = 1 << 20},
	{.name = "out", .text = &out_file},
	{0},
};

struct window {
	const char *state;
	/* So many CPUs, from this one on. */
	int busy, first;
	/* Of the first; 0 where nobody is busy. */
	long long khz;
	uint64_t settle_us, ordered;
};

static struct window windows[MAX_WINDOWS];
static int window_count;
static struct cpulist online;
static bool on_gem5;

/* What a busy CPU does, in pieces of some microseconds. */
static void (*work)(void);

/*
 * Looks for primes by dividing, as the CPU test of sysbench does; always among the same numbers,
 * so that a later window is no harder than an earlier one.
 */
static void primes(void)
{
	static __thread uint64_t candidate = 9000, found;

	for (int i = 0; i < 16; i++) {
		uint64_t divisor = 2;

		while (divisor * divisor <= candidate && candidate % divisor)
			divisor++;
		found += divisor * divisor > candidate;
		candidate = candidate < 10000 ? candidate + 1 : 9000;
	}
	__asm__ volatile("" ::"r"(found));
}

static const volatile char *memory;

/* Reads a word of each line, of more memory than the caches hold. */
static void memory_walk(void)
{
	static __thread uint64_t at;

	for (int i = 0; i < 64; i++) {
		(void)memory[at];
		at = at + LINE_BYTES < memory_kib * 1024 ? at + LINE_BYTES : 0;
	}
}

static int choose_loop(void)
{
	void *pages;

	if (strcmp(loop_asked, "primes") == 0) {
		work = primes;
		return 0;
	}
	if (strcmp(loop_asked, "memory") != 0)
		return -EINVAL;
	pages = mmap(NULL, memory_kib * 1024, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pages == MAP_FAILED)
		return -errno;
	memory = pages;
	work = memory_walk;
	return 0;
}

static void rest(uint64_t us)
{
	const struct timespec length = clock_time(us * 1000);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

/* Lets all CPUs sleep in this state only. Those asleep already do not know, so each is woken. */
static int all_sleep_in(const char *state, struct idle_setting *setting)
{
	int error = idle_only(state, setting);

	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu])
			error = pin_to_cpu(cpu);
	return error ? error : pin_to_cpu(0);
}

/* The kernel's count of how often each CPU has left the state; negative where it has none. */
static int usages[CPULIST_MAX];
/* How long they may take to leave it: a wake-up is counted once it is through. */
static uint64_t leave_us;

static void watch_sleepers(const char *state_name)
{
	leave_us = 0;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		int state = online.has[cpu] ? idle_find(cpu, state_name) : -ENOENT;
		uint64_t latency_us;

		usages[cpu] = state < 0 ? -1 : idle_open(cpu, state, "usage");
		if (state >= 0 && idle_number(cpu, state, "latency", &latency_us) == 0 &&
		    latency_us > leave_us)
			leave_us = latency_us;
	}
	leave_us += KERNEL_US;
}

static void leave_sleepers(void)
{
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (usages[cpu] >= 0)
			close(usages[cpu]);
}

/* How often all CPUs have been woken that are neither busy nor the caller's. */
static int count_wakes(const struct window *window, uint64_t *wakes)
{
	int callers = window->busy ? window->busy : 1;
	int error = 0;

	*wakes = 0;
	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		uint64_t own = 0;

		if (usages[cpu] < 0 || (cpu >= window->first && cpu < window->first + callers))
			continue;
		error = read_number_of(usages[cpu], &own);
		*wakes += own;
	}
	return error;
}

/* All busy CPUs but the caller's. Each waits, works until the moment that it is told, and waits. */
struct helper {
	pthread_t thread;
	sem_t called;
};

static struct helper helpers[CPULIST_MAX];
static atomic_int arrived;
static atomic_uint_fast64_t until;
static atomic_bool leave;

static void *help(void *own)
{
	struct helper *helper = own;

	for (;;) {
		sem_wait(&helper->called);
		if (atomic_load_explicit(&leave, memory_order_acquire))
			return NULL;
		atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
		while (counter_now() < atomic_load_explicit(&until, memory_order_acquire))
			work();
	}
}

/*
 * How far apart the kernel's ticks are. They come to all busy CPUs together, each a whole number of
 * these after CLOCK_MONOTONIC's zero.
 */
static uint64_t tick_ns(void)
{
	struct timespec period;

	clock_getres(CLOCK_MONOTONIC_COARSE, &period);
	return (uint64_t)period.tv_nsec;
}

/* So that no tick falls into that time; where ticks are no farther apart, some do. */
static void work_until_room_for(uint64_t us)
{
	uint64_t period = tick_ns();

	while (us * 1000 < period && clock_ns() % period + us * 1000 > period)
		work();
}

/* All that are to be busy, soon after a tick. From here to the end of the window none sleeps. */
static void gather(int helping)
{
	uint64_t period = tick_ns(), next = (clock_ns() / period + 1) * period;
	struct timespec soon = clock_time(next);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL);
	atomic_store_explicit(&arrived, 0, memory_order_release);
	atomic_store_explicit(&until, UINT64_MAX, memory_order_release);
	for (int i = 0; i < helping; i++)
		sem_post(&helpers[i].called);
	while (atomic_load_explicit(&arrived, memory_order_acquire) < helping)
		work();
}

/*
 * A window in which the caller is busy too, between two ticks if they leave it the room, or all
 * are asleep. That takes longer to settle: it is some sleeps until the last CPU stops its tick.
 * Nobody is busy for longer than that, because it is what costs on gem5.
 */
static void take(struct window window)
{
	uint64_t length_us, end;

	window.settle_us = window.busy ? settle_us : rest_us;
	length_us = window.settle_us + window_us;
	if (window.busy)
		work_until_room_for(length_us);
	window.ordered = counter_now();
	if (on_gem5) {
		m5_dump_reset_stats(window.settle_us * 1000, 0);
		m5_dump_reset_stats(length_us * 1000, 0);
	}
	windows[window_count] = window;
	if (window.busy) {
		end = window.ordered + length_us * counter_frequency() / 1000000;
		atomic_store_explicit(&until, end, memory_order_release);
		while (counter_now() < end)
			work();
	} else {
		rest(length_us);
	}
	rest(leave_us);
}

/* Whoever slept when the caller began to wait and was not woken since slept in the window. */
static int measure(struct window window)
{
	uint64_t before, after;
	int error, tries = 0;

	if (window_count == MAX_WINDOWS)
		return -E2BIG;
	do {
		if (window.busy)
			gather(window.busy - 1);
		else
			rest(rest_us); /* What the caller has woken falls asleep first. */
		error = count_wakes(&window, &before);
		if (error)
			return error;
		take(window);
		error = count_wakes(&window, &after);
	} while (!error && after != before && ++tries < MAX_TRIES);
	window_count += !error;
	return error;
}

static int plan_idle(void)
{
	static const char *const states[] = {"C1", "C2", "C3", "C4"};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(states) / sizeof(*states); i++) {
		struct idle_setting setting;

		error = all_sleep_in(states[i], &setting);
		if (!error) {
			watch_sleepers(states[i]);
			error = measure((struct window){.state = states[i]});
			leave_sleepers();
			idle_restore(&setting);
		} else if (error == -ENOENT) {
			error = 0; /* A platform need not have them all. */
		}
	}
	return error;
}

/* A file of the frequencies of the CPUs that this one is the first of. */
static const char *frequency_file(int cpu, const char *file)
{
	static char path[96];

	snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/%s", cpu, file);
	return path;
}

static long long frequency(int cpu)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_cur_freq", cpu);
	return read_text(path, text, sizeof(text)) ? 0 : atoll(text);
}

static int at_each_frequency(int cpu, char *list)
{
	char *rest_of_list;
	int error = 0;

	for (char *khz = strtok_r(list, " ", &rest_of_list); !error && khz;
	     khz = strtok_r(NULL, " ", &rest_of_list)) {
		error = write_text(frequency_file(cpu, "scaling_setspeed"), khz);
		if (!error)
			error = measure((struct window){
				.state = state_asked, .busy = 1, .first = cpu, .khz = atoll(khz)});
	}
	return error;
}

static int plan_opps(void)
{
	int error = 0;

	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		char frequencies[512], governor[32];

		if (read_text(frequency_file(cpu, "scaling_available_frequencies"), frequencies,
			      sizeof(frequencies)))
			continue; /* Not the first of its cluster. */
		error = read_text(frequency_file(cpu, "scaling_governor"), governor,
				  sizeof(governor));
		if (!error)
			error = write_text(frequency_file(cpu, "scaling_governor"), "userspace");
		if (!error)
			error = pin_to_cpu(cpu);
		if (error)
			break;
		rest(rest_us);
		error = at_each_frequency(cpu, frequencies);
		write_text(frequency_file(cpu, "scaling_governor"), governor);
	}
	return error;
}

static int plan_steps(void)
{
	int error = 0, started = 0;

	/* The first CPU is the caller's. All helpers are there, asleep, before the first window. */
	for (int cpu = 1; !error && cpu < CPULIST_MAX && online.has[cpu]; cpu++) {
		sem_init(&helpers[started].called, 0, 0);
		error = start_on_cpu(&helpers[started].thread, cpu, help, &helpers[started]);
		started += !error;
	}
	for (int busy = 0; !error && busy <= started + 1; busy++)
		error = measure((struct window){
			.state = state_asked, .busy = busy, .khz = busy ? frequency(0) : 0});
	atomic_store_explicit(&leave, true, memory_order_release);
	atomic_store_explicit(&until, 0, memory_order_release);
	for (int i = 0; i < started; i++) {
		sem_post(&helpers[i].called);
		pthread_join(helpers[i].thread, NULL);
	}
	return error;
}

static int plan_busy(int (*plan)(void))
{
	struct idle_setting setting;
	int error = all_sleep_in(state_asked, &setting);

	if (error)
		return error;
	watch_sleepers(state_asked);
	error = plan();
	leave_sleepers();
	idle_restore(&setting);
	return error;
}

static int run(const char *plan)
{
	if (strcmp(plan, "idle") == 0)
		return plan_idle();
	return plan_busy(strcmp(plan, "opps") == 0 ? plan_opps : plan_steps);
}

static bool is_plan(const char *plan)
{
	return plan && (!strcmp(plan, "idle") || !strcmp(plan, "opps") || !strcmp(plan, "steps"));
}

static int save(void)
{
	FILE *out = fopen(out_file, "w");

	if (!out)
		return -errno;
	for (const struct window *window = windows; window < windows + window_count; window++) {
		struct jsonl line;

		jsonl_begin(&line, out);
		jsonl_string(&line, "state", window->state);
		jsonl_array(&line, "busy");
		for (int i = 0; i < window->busy; i++)
			jsonl_int(&line, NULL, window->first + i);
		jsonl_close(&line);
		jsonl_string(&line, "loop", window->busy ? loop_asked : NULL);
		jsonl_int(&line, "khz", window->khz);
		jsonl_int(&line, "ordered", (int64_t)window->ordered);
		jsonl_int(&line, "settle_us", (int64_t)window->settle_us);
		jsonl_int(&line, "window_us", (int64_t)window_us);
		jsonl_int(&line, "counter_hz", (int64_t)counter_frequency());
		jsonl_end(&line);
	}
	return jsonl_finish(out);
}

int main(int argc, char **argv)
{
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	error = choose_loop();
	if (!is_plan(plan_asked) || error == -EINVAL) {
		fputs(usage, stderr);
		return 2;
	}
	on_gem5 = machine_engine() == ENGINE_GEM5;
	if (!error)
		error = cpulist_read(&online, "online");
	if (!error)
		error = run(plan_asked);
	if (!error)
		error = save();
	if (error)
		fprintf(stderr, "steady-power: %s, %s: %s\n", plan_asked, state_asked,
			strerror(-error));
	return error ? 1 : 0;
}
