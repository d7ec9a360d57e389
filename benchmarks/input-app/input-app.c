// SPDX-License-Identifier: BSD-3-Clause
/*
 * An application with input: keys, clicks and motions come from the event timer by a seeded
 * schedule, and reach the same handler in one of four ways. `pull` looks and sleeps in turn,
 * `epoll` sleeps until the device has something, `masked` has told the device what it does
 * not want to hear of, `esm` has the kernel bring it.
 *
 * After some time to settle, windows of gem5's statistics follow each other without a gap. All are
 * ordered before the first of them, and events are kept in memory: nobody wakes to measure.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "events.h"
#include "handler.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "plan.h"
#include "receive.h"
#include "sysfs.h"
#include "windows.h"

#define RUN_FILE "/out/run.jsonl"
#define EVENTS_FILE "/out/events.jsonl"
#define ROUTED SYS_DIR "/kernel/lull/routing/interrupts"
#define MAX_US 100000000
/* The end is told again after so long: the first time may be just before a wait begins. */
#define AGAIN_NS 10000000

static const char usage[] =
	"usage: input-app --mode pull|epoll|masked|esm [--delay-us N] [--look STEPS]\n"
	"                 [--sleeps for|until]\n"
	"                 [--dispatch direct|thread]\n"
	"                 [--keys PER_MINUTE] [--clicks PER_SECOND] [--moves PER_SECOND]\n"
	"                 [--events PER_SECOND --of-clicks PERCENT]\n"
	"                 [--places random|looks] [--after-us N]\n"
	"                 [--listen all|keys] [--work STEPS] [--work-kib N] [--cpu N]\n"
	"                 [--settle-ms N] [--window-ms N] [--windows N] [--drain-ms N] [--seed "
	"N]\n";

static const char *mode, *dispatch = "direct", *listen_to = "all", *sleeps = "for",
			 *places = "random";
static uint64_t delay_us = 16000, look, after_us, work = 4000, work_kib = 32, cpu;
static uint64_t settle_ms = 200, window_ms = 1000, drain_ms = 100, seed = 1;
/* Clicks and motions together; 0: each by its own rate. */
static uint64_t events, of_clicks;
static struct rates rates;
static struct times times = {.windows = 10};

static const struct option_to command_line[] = {
	{.name = "mode", .text = &mode},
	{.name = "delay-us", .number = &delay_us, .least = 1, .most = MAX_US},
	{.name = "look", .number = &look, .most = 100000000},
	{.name = "sleeps", .text = &sleeps},
	{.name = "places", .text = &places},
	{.name = "after-us", .number = &after_us, .most = MAX_US},
	{.name = "dispatch", .text = &dispatch},
	{.name = "keys", .number = &rates.keys_per_minute, .most = 60000},
	{.name = "clicks", .number = &rates.clicks_per_second, .most = 1000},
	{.name = "moves", .number = &rates.moves_per_second, .most = 1000},
	{.name = "events", .number = &events, .most = 1000},
	{.name = "of-clicks", .number = &of_clicks, .most = 100},
	{.name = "listen", .text = &listen_to},
	{.name = "work", .number = &work, .most = 100000000},
	{.name = "work-kib", .number = &work_kib, .most = 65536},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "settle-ms", .number = &settle_ms, .least = 12, .most = MAX_US / 1000},
	{.name = "window-ms", .number = &window_ms, .least = 1, .most = MAX_US / 1000},
	{.name = "windows", .number = &times.windows, .least = 1, .most = 1000},
	{.name = "drain-ms", .number = &drain_ms, .least = 1, .most = MAX_US / 1000},
	{.name = "seed", .number = &seed, .most = UINT64_MAX},
	{0},
};

static struct {
	unsigned int planned, windowed;
	/* The counter, and CLOCK_MONOTONIC, when the windows were ordered. */
	uint64_t ordered, ordered_ns;
	uint64_t cpu_ns, elapsed_ns;
	long waits;
} run;

__attribute__((noreturn)) static void fail(const char *what, int error)
{
	fprintf(stderr, "input-app: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static void on_end(int number)
{
	(void)number;
	receive_stop();
}

/* The event timer's interrupt belongs to the application's CPU, so that no other one is woken. */
static int take_interrupt(void)
{
	char text[4096], path[64], list[8];
	const char *second;
	int error = read_text(ROUTED, text, sizeof(text));

	if (error)
		return error;
	second = strchr(text, '\n');
	if (!second)
		return -ENODEV;
	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", atoi(second));
	snprintf(list, sizeof(list), "%d", (int)cpu);
	return write_text(path, list);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static long waits(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_nvcsw;
}

static void order_end(timer_t timer)
{
	/* A poll may find the last event only after its sleep. */
	uint64_t drain_us = drain_ms * 1000 + (strcmp(mode, "pull") == 0 ? delay_us : 0);
	uint64_t length_us = times.settle_us + times.windows * times.window_us + drain_us;
	const struct itimerspec when = {
		.it_value = clock_time(run.ordered_ns + length_us * 1000),
		.it_interval = clock_time(AGAIN_NS),
	};

	if (timer_settime(timer, TIMER_ABSTIME, &when, NULL))
		fail("setting a timer", errno);
}

static void measure(const struct receiver *receiver)
{
	struct sigevent signal_end = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	timer_t timer;
	int error;

	if (timer_create(CLOCK_MONOTONIC, &signal_end, &timer))
		fail("making a timer", errno);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_end}, NULL);
	error = plan_play(true);
	if (error)
		fail("starting the events", error);
	run.ordered = counter_now();
	run.ordered_ns = clock_ns();
	receive_from(run.ordered_ns);
	windows_order(&(struct windows){times.settle_us, times.window_us, times.windows});
	order_end(timer);
	run.waits = waits();
	run.cpu_ns = cpu_ns();
	run.elapsed_ns = clock_ns();
	error = receiver->run();
	run.cpu_ns = cpu_ns() - run.cpu_ns;
	run.elapsed_ns = clock_ns() - run.elapsed_ns;
	run.waits = waits() - run.waits;
	timer_delete(timer);
	if (error)
		fail(receive_complaint(), error);
	error = plan_play(false);
	if (error)
		fail("stopping the events", error);
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

static int64_t number_of(const char *file)
{
	char text[32];
	int error = read_text(file, text, sizeof(text));

	if (error)
		fail(file, error);
	return atoll(text);
}

static void print_run(FILE *out)
{
	struct jsonl line;

	jsonl_begin(&line, out);
	jsonl_string(&line, "mode", mode);
	jsonl_int(&line, "pid", getpid());
	jsonl_int(&line, "cpu", (int64_t)cpu);
	jsonl_int(&line, "seed", (int64_t)seed);
	jsonl_int(&line, "ordered", (int64_t)run.ordered);
	jsonl_int(&line, "ordered_ns", (int64_t)run.ordered_ns);
	jsonl_int(&line, "settle_us", (int64_t)times.settle_us);
	jsonl_int(&line, "window_us", (int64_t)times.window_us);
	jsonl_int(&line, "windows", (int64_t)times.windows);
	jsonl_int(&line, "cpu_ns", (int64_t)run.cpu_ns);
	jsonl_int(&line, "elapsed_ns", (int64_t)run.elapsed_ns);
	jsonl_int(&line, "waits", run.waits);
	jsonl_int(&line, "planned", run.planned);
	jsonl_int(&line, "windowed", run.windowed);
	jsonl_int(&line, "handled", handler_count());
	jsonl_int(&line, "lost", receive_lost());
	jsonl_int(&line, "late", run.planned ? number_of(EVENTS_DIR "late") : 0);
	jsonl_int(&line, "wall_hz", number_of(EVENTS_DIR "clock_hz"));
	jsonl_end(&line);
}

static void save(const char *path, void (*print)(FILE *out))
{
	FILE *out = fopen(path, "w");
	int error;

	if (!out)
		fail(path, errno);
	print(out);
	error = jsonl_finish(out);
	if (error)
		fail(path, -error);
}

int main(int argc, char **argv)
{
	const struct receiver *receiver;
	struct receive_options how;
	struct places where;
	int error, planned;

	(void)argc;
	options_parse(argv, command_line, usage);
	receiver = mode ? receiver_named(mode) : NULL;
	if (!receiver || !is_one_of(listen_to, "all", "keys") ||
	    !is_one_of(sleeps, "for", "until") || !is_one_of(places, "random", "looks")) {
		fputs(usage, stderr);
		return 2;
	}
	if (events) {
		/* A click is two events. */
		rates.clicks_per_second = events * of_clicks / 200;
		rates.moves_per_second = events - 2 * rates.clicks_per_second;
	}
	times.settle_us = settle_ms * 1000;
	times.window_us = window_ms * 1000;
	where = (struct places){strcmp(places, "random") == 0, delay_us, after_us};
	how = (struct receive_options){
		.delay_us = delay_us,
		.look = look,
		.steady = strcmp(sleeps, "until") == 0,
		.dispatch = dispatch,
		.only_keys = strcmp(listen_to, "keys") == 0,
	};

	error = pin_to_cpu((int)cpu);
	if (error)
		fail("the CPU", error);
	error = receive_open(&how);
	if (!error)
		error = receiver->prepare();
	if (error)
		fail(receive_complaint(), error);
	error = take_interrupt();
	if (error)
		fail("the event timer's interrupt", error);
	planned = plan_load(&rates, &times, &where, seed);
	if (planned < 0)
		fail("the schedule", planned);
	run.planned = (unsigned int)planned;
	run.windowed = plan_windowed(&times, how.only_keys);
	error = handler_prepare(run.planned, work, work_kib);
	if (error)
		fail("memory, or the wall clock", error);

	measure(receiver);

	save(RUN_FILE, print_run);
	save(EVENTS_FILE, handler_print);
	return 0;
}
