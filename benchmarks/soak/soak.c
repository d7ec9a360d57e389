// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whether every sleep ends: soak [--entries N] [--state C3] [--seed N] [--late-ms N] [--out FILE]
 *
 * Each CPU enters a state N times (12) with no other allowed, one state after the other or the
 * given one, and is interrupted at random moments of sleep, entry and exit. Most of the time
 * by timers of its own, whose place nothing else can take: a CPU that loses one is late, or never
 * seen again, and is named. These wake no task, because on a simulator each instruction is paid
 * for. At other times a task sleeps on each CPU, and all of them end each other's sleep.
 *
 * FILE gets a line for each CPU and state. A file without any means that nothing was found out.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"
#include "tap.h"

static const char usage[] =
	"usage: soak [--entries N] [--state C2|C3|C4] [--seed N] [--late-ms N] [--out FILE]\n";

#define MS 1000000ULL

/* From one interrupt to the next, beside three times what the state may take to enter and leave. */
#define SHORTEST_NS 20000
#define SPAN_NS 500000

/* How many timers, or sleeps that others may end, before the entries are counted again. */
#define TIMERS 16
#define CALLABLE_SLEEPS 4

/* In the first of so many phases, which have room for two rounds of timers, CPUs call each other.
 */
#define PHASES 16

/* Whoever was not seen for so long is lost. */
#define LOST_NS (5000 * MS)
#define LOOK_NS (100 * MS)

struct sleeper {
	pthread_t thread;
	int cpu, usage, timers[TIMERS];
	uint64_t random, span_ns, before;
	/* A futex. */
	_Atomic uint32_t calls;
	_Atomic bool callable, done;
	_Atomic uint64_t entries, alive_ns, calls_answered, latest_ns;
};

/* A timer may be late by 20 ms, which is beyond what any state takes. */
static uint64_t entries_wanted = 12, seed = 1, late_ms = 20;
static const char *only, *out;
static FILE *lines;
static struct sleeper sleepers[CPULIST_MAX];
static int sleeper_count;
static uint64_t phase_ns, first_phase_ns;

static uint64_t count_entries(const struct sleeper *self)
{
	uint64_t entries;
	int error = read_number_of(self->usage, &entries);

	if (error)
		tap_bail("cannot read the entries of CPU %d: %s", self->cpu, strerror(-error));
	return entries;
}

static uint64_t next_due(struct sleeper *self, uint64_t after)
{
	return after + SHORTEST_NS + next_random(&self->random) % self->span_ns;
}

static void woke(struct sleeper *self, uint64_t due)
{
	uint64_t now = clock_ns();

	if (now > due && now - due > self->latest_ns)
		self->latest_ns = now - due;
	atomic_store(&self->alive_ns, now);
}

static void sleep_through_timers(struct sleeper *self)
{
	uint64_t due = clock_ns();
	struct timespec until;

	for (int i = 0; i < TIMERS; i++) {
		struct itimerspec when = {.it_value = clock_time(due = next_due(self, due))};

		if (timerfd_settime(self->timers[i], TFD_TIMER_ABSTIME, &when, NULL))
			tap_bail("cannot set a timer: %s", strerror(errno));
	}
	until = clock_time(due = next_due(self, due));
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	woke(self, due);
}

static void call_another(struct sleeper *self)
{
	struct sleeper *other = &sleepers[next_random(&self->random) % (uint64_t)sleeper_count];

	if (other == self || !atomic_load(&other->callable))
		return;
	atomic_fetch_add(&other->calls, 1);
	syscall(SYS_futex, &other->calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void sleep_callable(struct sleeper *self)
{
	uint32_t calls = atomic_load(&self->calls);
	uint64_t due = next_due(self, clock_ns());
	struct timespec until = clock_time(due);

	atomic_store(&self->callable, true);
	if (syscall(SYS_futex, &self->calls, FUTEX_WAIT_BITSET_PRIVATE, calls, &until, NULL,
		    FUTEX_BITSET_MATCH_ANY) == 0)
		self->calls_answered++;
	atomic_store(&self->callable, false);
	woke(self, due);
	call_another(self);
}

static void *run(void *data)
{
	struct sleeper *self = data;

	while (self->entries < entries_wanted) {
		if ((clock_ns() - first_phase_ns) / phase_ns % PHASES != 0)
			sleep_through_timers(self);
		else
			for (int i = 0; i < CALLABLE_SLEEPS; i++)
				sleep_callable(self);
		atomic_store(&self->entries, count_entries(self) - self->before);
	}
	atomic_store(&self->done, true);
	return NULL;
}

static void prepare(struct sleeper *self, int cpu, const char *name)
{
	int state = idle_find(cpu, name);
	uint64_t latency_us;

	*self = (struct sleeper){.cpu = cpu, .random = seed << 8 | (uint64_t)cpu};
	self->usage = idle_open(cpu, state, "usage");
	if (self->usage < 0 || idle_number(cpu, state, "latency", &latency_us))
		tap_bail("cannot read state %s of CPU %d", name, cpu);
	self->span_ns = 3 * latency_us * 1000 + SPAN_NS;
	if (phase_ns < TIMERS * self->span_ns)
		phase_ns = TIMERS * self->span_ns;
	self->before = count_entries(self);
	for (int i = 0; i < TIMERS; i++) {
		self->timers[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (self->timers[i] < 0)
			tap_bail("cannot make a timer: %s", strerror(errno));
	}
}

static void tell(const struct sleeper *self, const char *name, bool lost)
{
	struct jsonl line;

	if (!lines)
		return;
	jsonl_begin(&line, lines);
	jsonl_string(&line, "state", name);
	jsonl_int(&line, "cpu", self->cpu);
	jsonl_int(&line, "entries", (int64_t)self->entries);
	jsonl_int(&line, "ended_by_others", (int64_t)self->calls_answered);
	jsonl_int(&line, "latest_us", (int64_t)(self->latest_ns / 1000));
	jsonl_int(&line, "bound_us", (int64_t)(late_ms * 1000));
	jsonl_bool(&line, "lost", lost);
	jsonl_end(&line);
}

static void finish(struct sleeper *self, const char *name)
{
	pthread_join(self->thread, NULL);
	close(self->usage);
	for (int i = 0; i < TIMERS; i++)
		close(self->timers[i]);
	tap_ok(self->latest_ns <= late_ms * MS, "%s: CPU %d woke from %" PRIu64 " entries", name,
	       self->cpu, self->entries);
	tap_note("others ended %" PRIu64 " sleeps, the latest timer came %" PRIu64 " us late",
		 self->calls_answered, self->latest_ns / 1000);
	tell(self, name, false);
}

static bool is_lost(const struct sleeper *self, uint64_t now)
{
	return !self->done && now > self->alive_ns + LOST_NS;
}

static void bail_lost(const struct sleeper *found, const char *name, uint64_t now)
{
	tap_ok(false, "%s: CPU %d is lost after %" PRIu64 " entries", name, found->cpu,
	       found->entries);
	for (int i = 0; i < sleeper_count; i++)
		tell(&sleepers[i], name, &sleepers[i] == found || is_lost(&sleepers[i], now));
	tap_bail("a lost CPU does not come back");
}

/* The fewest entries of a CPU so far, or its end if it is lost. */
static uint64_t look(const char *name)
{
	uint64_t fewest = UINT64_MAX, now = clock_ns();

	for (int i = 0; i < sleeper_count; i++) {
		const struct sleeper *self = &sleepers[i];

		if (is_lost(self, now))
			bail_lost(self, name, now);
		if (!self->done && self->entries < fewest)
			fewest = self->entries;
	}
	return fewest;
}

static void watch(const char *name)
{
	uint64_t fewest, told = 0;

	while ((fewest = look(name)) != UINT64_MAX) {
		if (fewest * 10 / entries_wanted > told) {
			told = fewest * 10 / entries_wanted;
			tap_note("%s: %" PRIu64 " of %" PRIu64 " entries", name, fewest,
				 entries_wanted);
		}
		usleep(LOOK_NS / 1000);
	}
}

/* False when no CPU has such a state. */
static bool soak(const char *name)
{
	struct idle_setting setting;
	int error = idle_only(name, &setting);

	if (error == -ENOENT)
		return false;
	if (error)
		tap_bail("cannot allow %s alone: %s", name, strerror(-error));
	sleeper_count = 0;
	phase_ns = 0;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (setting.cpus.has[cpu])
			prepare(&sleepers[sleeper_count++], cpu, name);
	/* A quarter of the first phase is left, so that a short soak sees the next one too. */
	first_phase_ns = clock_ns() - phase_ns * 3 / 4;
	for (int i = 0; i < sleeper_count; i++) {
		atomic_store(&sleepers[i].alive_ns, clock_ns());
		error = start_on_cpu(&sleepers[i].thread, sleepers[i].cpu, run, &sleepers[i]);
		if (error)
			tap_bail("cannot start a thread on CPU %d: %s", sleepers[i].cpu,
				 strerror(-error));
	}
	watch(name);
	for (int i = 0; i < sleeper_count; i++)
		finish(&sleepers[i], name);
	idle_restore(&setting);
	return true;
}

int main(int argc, char **argv)
{
	const struct option_to options[] = {
		{.name = "entries", .number = &entries_wanted, .least = 1, .most = UINT32_MAX},
		{.name = "state", .text = &only},
		{.name = "seed", .number = &seed, .most = UINT32_MAX},
		{.name = "late-ms", .number = &late_ms, .least = 1, .most = 5000},
		{.name = "out", .text = &out},
		{0},
	};
	char name[] = "C2";

	(void)argc;
	options_parse(argv, options, usage);
	if (out) {
		lines = fopen(out, "we");
		if (!lines)
			tap_bail("cannot write %s: %s", out, strerror(errno));
	}
	if (only && !soak(only))
		tap_bail("no CPU has a state %s", only);
	/* C1 is WFI, which no firmware could lose. */
	for (; !only && name[1] <= '9'; name[1]++)
		soak(name);
	if (lines && jsonl_finish(lines))
		tap_bail("cannot write all of %s", out);
	return tap_finish();
}
