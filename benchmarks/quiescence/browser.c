// SPDX-License-Identifier: BSD-3-Clause
/*
 * A browser that loads a page at each key press, beside processes that nobody waits for. A stage of
 * the load is work in one process, which then tells the process of the next stage by a pipe. In
 * some stages the network has to answer first: a timer stands for it, so that how long the user
 * waits for nothing that a CPU does is known exactly.
 *
 * Helpers are the browser's own timers. Updates are other programs. Both work at fixed times, and
 * catch up if they could not: the work of a run is the same, whatever is done about it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "events.h"
#include "jsonl.h"
#include "options.h"
#include "page.h"
#include "sysfs.h"
#include "ways.h"
#include "windows.h"

#define MOST_LOADS 200
#define MOST_OTHERS 16
#define STEPS_PER_US 400
/* From the switch to the first key press; and of a release to the next press. */
#define FIRST_US 2000
#define RELEASE_US 3000
/* Helpers and updates do not begin at the same time. */
#define APART_NS 1700000ULL

static const char usage[] =
	"usage: browser --way " WAYS " [--page FILE] [--wait-us N] [--pause-us N]\n"
	"               [--helpers N] [--helper-steps N] [--helper-us N]\n"
	"               [--updates N] [--background PERCENT] [--update-us N]\n"
	"               [--bound-ms N] [--least-us N] [--boost PERCENT] [--cap PERCENT] "
	"[--quota PERCENT] [--slack-us N] [--windows N]\n"
	"               [--out FILE] [--totals FILE] [--others FILE] [--counts FILE]\n"
	"  --wait-us: how long the network takes; --pause-us: the rest of the time from one load "
	"to "
	"the next\n"
	"  --background: work of each update, per cent of a fast core's time\n";

static struct ways ways = {
	.bound_ms = 1000, .least_us = 2000, .boost = 60, .cap = 20, .quota = 10, .slack_us = 50000};
static const char *page_file = "/usr/share/lull/page.trace", *out = "/out/loads.jsonl",
		  *totals = "/out/windows.jsonl", *others_out = "/out/others.jsonl",
		  *counts_out = "/out/counts.jsonl";
static uint64_t wait_us = 100000, pause_us = 30000, helpers = 1, helper_steps = 60000,
		helper_us = 16000, updates = 2, background, update_us = 10000, windows = 4;

static const struct option_to options[] = {
	{.name = "way", .text = &ways.way},
	{.name = "page", .text = &page_file},
	{.name = "wait-us", .number = &wait_us, .most = 10000000},
	{.name = "pause-us", .number = &pause_us, .least = 10000, .most = 10000000},
	{.name = "helpers", .number = &helpers, .most = MOST_OTHERS / 2},
	{.name = "helper-steps", .number = &helper_steps, .most = 100000000},
	{.name = "helper-us", .number = &helper_us, .least = 100, .most = 10000000},
	{.name = "updates", .number = &updates, .most = MOST_OTHERS / 2},
	{.name = "background", .number = &background, .most = 100},
	{.name = "update-us", .number = &update_us, .least = 100, .most = 10000000},
	{.name = "bound-ms", .number = &ways.bound_ms, .least = 1, .most = 10000},
	{.name = "least-us", .number = &ways.least_us, .most = 1000000},
	{.name = "boost", .number = &ways.boost, .most = 100},
	{.name = "cap", .number = &ways.cap, .most = 100},
	{.name = "quota", .number = &ways.quota, .least = 1, .most = 100},
	{.name = "slack-us", .number = &ways.slack_us, .most = 4000000},
	{.name = "windows", .number = &windows, .least = 1, .most = MOST_LOADS - 1},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{.name = "others", .text = &others_out},
	{.name = "counts", .text = &counts_out},
	{0},
};

struct load {
	/* Of its key: the press, when it was read, and the release, 0 if it was not read yet. */
	uint64_t pressed_ns, read_ns, released_ns;
	uint64_t loaded_ns;
	/* While the network is waited for; and how much later than due its answer was taken. */
	uint64_t waited_ns, late_ns;
};

struct other {
	uint64_t jobs, latest_ns, ended_ns;
};

static struct shared {
	_Atomic uint32_t ready, loaded;
	struct page page;
	struct load loads[MOST_LOADS];
	struct other others[MOST_OTHERS];
	_Atomic uint64_t start_ns;
} * shared;

static int pipes[ROLES][2];

static int fail(const char *what, int error)
{
	fprintf(stderr, "browser: %s: %s\n", what, strerror(-error));
	return 1;
}

static uint64_t value = 88172645463325252;

static void spin(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
	}
}

static uint64_t period_us(void)
{
	return wait_us * shared->page.waits + pause_us;
}

static uint64_t length_us(void)
{
	return (windows + 1) * period_us();
}

/* A press and a release for each load. The release comes when the load is over. */
static int load_keys(void)
{
	static char text[MOST_LOADS * 64];
	size_t used = 0;

	for (uint64_t i = 0; i <= windows; i++) {
		uint64_t at = FIRST_US + i * period_us();

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%llu %d %d 1\n%llu %d %d 0\n",
			(unsigned long long)at, EV_KEY, KEY_ENTER,
			(unsigned long long)(at + period_us() - RELEASE_US), EV_KEY, KEY_ENTER);
	}
	snprintf(text + used, sizeof(text) - used, "end\n");
	return write_text(EVENTS_DIR "schedule", text);
}

static int network_timer(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (timer < 0)
		exit(fail("a timer", -errno));
	return timer;
}

static void answer_of_network(struct load *load, int timer)
{
	struct itimerspec when = {.it_value = clock_time(wait_us * 1000)};
	uint64_t begun = clock_ns(), times;

	if (!wait_us)
		return;
	if (timerfd_settime(timer, 0, &when, NULL) ||
	    read(timer, &times, sizeof(times)) != sizeof(times))
		exit(fail("the network's timer", -errno));
	load->waited_ns += clock_ns() - begun;
	load->late_ns += clock_ns() - begun - wait_us * 1000;
}

/* Does a stage, and tells who does the next. */
static void do_stage(uint8_t number, int timer)
{
	const struct stage *stage = &shared->page.stages[number];
	struct load *load = &shared->loads[atomic_load(&shared->loaded)];

	spin(stage->steps);
	if (stage->waits)
		answer_of_network(load, timer);
	if (++number == shared->page.count) {
		load->loaded_ns = clock_ns();
		atomic_fetch_add(&shared->loaded, 1);
		return;
	}
	if (write(pipes[shared->page.stages[number].role][1], &number, 1) != 1)
		exit(fail("telling the next process", -errno));
}

static void join(const char *group)
{
	int error = ways_join(&ways, group);

	if (error)
		exit(fail(group, error));
	atomic_fetch_add(&shared->ready, 1);
}

static void take_stages(enum role role)
{
	int timer = network_timer();
	uint8_t number;

	join(BROWSER);
	while (read(pipes[role][0], &number, 1) == 1)
		do_stage(number, timer);
	exit(fail(role_names[role], -errno));
}

/* The load whose key was pressed last may be over when the key is released, or not. */
static void take_key(const struct event *event, int timer)
{
	static uint32_t number;

	if (event->type != EV_KEY)
		return;
	if (event->value == 0)
		shared->loads[number].released_ns = event->time_ns;
	if (event->value != 1)
		return;
	number = atomic_load(&shared->loaded);
	if (number >= MOST_LOADS)
		exit(fail("a key too many", -EOVERFLOW));
	shared->loads[number].pressed_ns = event->time_ns;
	shared->loads[number].read_ns = clock_ns();
	do_stage(0, timer);
}

static void take_keys(struct events *events)
{
	struct pollfd both[] = {{.fd = events->fd, .events = POLLIN},
				{.fd = pipes[UI][0], .events = POLLIN}};
	int timer = network_timer(), got;
	struct event event;
	uint8_t number;

	join(BROWSER);
	for (;;) {
		if (poll(both, 2, -1) < 0 && errno != EINTR)
			exit(fail("waiting for keys", -errno));
		while ((got = events_next(events, &event)) > 0)
			take_key(&event, timer);
		if (got < 0)
			exit(fail("reading keys", got));
		if (both[1].revents && read(pipes[UI][0], &number, 1) == 1)
			do_stage(number, timer);
	}
}

/* A job at each multiple of a time; those that could not be done in time are done after it. */
static void do_jobs(int number, const char *group, uint64_t steps, uint64_t every_us)
{
	struct other *other = &shared->others[number];
	uint64_t due;

	join(group);
	while (!atomic_load(&shared->start_ns))
		clock_sleep(1000000);
	due = atomic_load(&shared->start_ns) + (uint64_t)(number + 1) * APART_NS;
	for (uint64_t jobs = length_us() / every_us; other->jobs < jobs; due += every_us * 1000) {
		clock_sleep_until(due);
		spin(steps);
		other->jobs++;
		other->ended_ns = clock_ns();
		if (other->ended_ns - due > other->latest_ns)
			other->latest_ns = other->ended_ns - due;
	}
	for (;;)
		pause();
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(fail("a process", -errno));
	return pid;
}

static int start_all(pid_t pids[], struct events *events)
{
	int count = 0;

	for (int role = 0; role < ROLES; role++) {
		pids[count] = start();
		if (pids[count++])
			continue;
		if (role == UI)
			take_keys(events);
		else
			take_stages((enum role)role);
	}
	for (uint64_t i = 0; i < helpers; i++) {
		pids[count] = start();
		if (!pids[count++])
			do_jobs((int)i, HELPERS, helper_steps, helper_us);
	}
	for (uint64_t i = 0; background && i < updates; i++) {
		pids[count] = start();
		if (!pids[count++])
			do_jobs((int)(helpers + i), BACKGROUND,
				update_us * STEPS_PER_US * background / 100, update_us);
	}
	return count;
}

static int save_loads(uint64_t start_ns)
{
	FILE *file = fopen(out, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < atomic_load(&shared->loaded); i++) {
		const struct load *load = &shared->loads[i];

		jsonl_begin(&line, file);
		jsonl_int(&line, "load", i);
		jsonl_int(&line, "pressed_ns", (int64_t)(load->pressed_ns - start_ns));
		jsonl_int(&line, "read_ns", (int64_t)(load->read_ns - start_ns));
		if (load->released_ns)
			jsonl_int(&line, "released_ns", (int64_t)(load->released_ns - start_ns));
		jsonl_int(&line, "loaded_ns", (int64_t)(load->loaded_ns - start_ns));
		jsonl_int(&line, "waited_ns", (int64_t)load->waited_ns);
		jsonl_int(&line, "late_ns", (int64_t)load->late_ns);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

static int save_others(uint64_t start_ns)
{
	uint64_t count = helpers + (background ? updates : 0);
	FILE *file = fopen(others_out, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < count; i++) {
		const struct other *other = &shared->others[i];

		jsonl_begin(&line, file);
		jsonl_string(&line, "kind", i < helpers ? "helper" : "update");
		jsonl_int(&line, "jobs", (int64_t)other->jobs);
		jsonl_int(&line, "due",
			  (int64_t)(length_us() / (i < helpers ? helper_us : update_us)));
		jsonl_int(&line, "latest_ns", (int64_t)other->latest_ns);
		jsonl_int(&line, "ended_ns",
			  other->jobs ? (int64_t)(other->ended_ns - start_ns) : 0);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

static int save_counts(void)
{
	FILE *file = fopen(counts_out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	jsonl_begin(&line, file);
	jsonl_int(&line, "slack_us", (int64_t)(wait_us * shared->page.waits));
	error = ways_counts(&ways, &line);
	jsonl_end(&line);
	return error ? error : jsonl_finish(file);
}

static int browse(void)
{
	struct windows times = {FIRST_US / 2 + period_us(), period_us(), windows};
	uint64_t ordered, start_ns;
	int error;

	ordered = counter_now();
	start_ns = clock_ns();
	windows_order(&times);
	error = write_text(EVENTS_DIR "enabled", "1");
	if (error)
		return fail(EVENTS_DIR "enabled", error);
	atomic_store(&shared->start_ns, start_ns);
	clock_sleep_until(start_ns + (FIRST_US + length_us()) * 1000);
	for (int i = 0; atomic_load(&shared->loaded) <= windows; i++) {
		if (i == 1000) {
			fprintf(stderr,
				"browser: %u of %llu pages are there: a load takes longer "
				"than --pause-us allows for\n",
				atomic_load(&shared->loaded), (unsigned long long)windows + 1);
			return 1;
		}
		clock_sleep(1000000);
	}
	/* With this way a job may be so late, and is done all the same. */
	if (!strcmp(ways.way, "slack"))
		clock_sleep(ways.slack_us * 1000);
	error = save_loads(start_ns);
	if (!error)
		error = save_others(start_ns);
	if (!error)
		error = save_counts();
	if (!error)
		error = windows_save(totals, &times, ordered);
	return error ? fail(out, error) : 0;
}

int main(int argc, char **argv)
{
	pid_t pids[ROLES + MOST_OTHERS];
	struct events events;
	int error, count, status;

	(void)argc;
	options_parse(argv, options, usage);
	if (!ways.way || !ways_known(ways.way)) {
		fputs(usage, stderr);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return fail("memory", -errno);
	error = page_read(&shared->page, page_file);
	if (error)
		return fail(page_file, error);
	for (int role = 0; role < ROLES; role++)
		if (pipe(pipes[role]))
			return fail("a pipe", -errno);
	error = events_open(&events);
	if (!error)
		error = load_keys();
	if (!error)
		error = ways_make(&ways);
	if (error)
		return fail("preparing", error);

	count = start_all(pids, &events);
	events_close(&events);
	while (atomic_load(&shared->ready) < (uint32_t)count) {
		if (waitpid(-1, NULL, WNOHANG))
			return fail("a process", -ECHILD);
		clock_sleep(1000000);
	}
	error = ways_begin(&ways);
	status = error ? fail(ways.way, error) : browse();
	write_text(EVENTS_DIR "enabled", "0");
	error = ways_end(&ways);
	for (int i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return error && !status ? fail(ways.way, error) : status;
}
