// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two loads of `perf bench sched`, by their protocols, which go on until the last window is over:
 *
 *   messaging   groups of senders and receivers. Each sender writes 100 bytes to each receiver of
 *               its group, in turn, through a socket for each receiver
 *   pipe        pairs of tasks that pass four bytes to and fro through two pipes
 *
 * Says when each 16th message, or trip, was there.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "jsonl.h"
#include "options.h"
#include "placement.h"
#include "windows.h"

#define MESSAGE_BYTES 100
#define EACH 16
#define MOST_STAMPS 200000
#define MOST_SIDES 20

static const char usage[] = "usage: sched-bench --load messaging|pipe --way " PLACEMENT_WAYS "\n"
			    "                   [--groups N] [--sides N] [--threads 0|1] "
			    "[--settle-us N] [--window-us N] "
			    "[--windows N] [--out FILE] [--totals FILE]\n"
			    "  --groups: of messaging, or pairs of pipe\n"
			    "  --sides: senders, and receivers, of a group\n";

static const char *load, *way, *out = "/out/stamps.jsonl", *totals = "/out/windows.jsonl";
static uint64_t groups = 4, sides = 4, threads, settle_us = 20000, window_us = 20000, windows = 4;

static const struct option_to options[] = {
	{.name = "load", .text = &load},
	{.name = "way", .text = &way},
	{.name = "groups", .number = &groups, .least = 1, .most = 400},
	{.name = "sides", .number = &sides, .least = 1, .most = MOST_SIDES},
	{.name = "threads", .number = &threads, .most = 1},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 100000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{0},
};

struct shared {
	_Atomic uint32_t go;
	_Atomic uint32_t messages;
	uint64_t stamps[MOST_STAMPS];
};

/* What a task does, and with which descriptors. */
struct task {
	void (*run)(const struct task *task);
	int from, to[MOST_SIDES];
};

static struct shared *shared;
static pid_t leader;

static int fail(const char *what, int error)
{
	fprintf(stderr, "sched-bench: %s: %s\n", what, strerror(-error));
	return 1;
}

static void done_one(void)
{
	uint32_t number = atomic_fetch_add(&shared->messages, 1);

	if (number % EACH == 0 && number / EACH < MOST_STAMPS)
		shared->stamps[number / EACH] = clock_ns();
}

static void wait_for_start(void)
{
	while (!atomic_load(&shared->go))
		usleep(1000);
}

static void give(int to, const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t wrote = write(to, bytes + done, size - done);

		if (wrote < 0 && errno != EINTR)
			exit(fail("sending", -errno));
		done += wrote > 0 ? (size_t)wrote : 0;
	}
}

static void take(int from, char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(from, bytes + done, size - done);

		if (got < 0 && errno != EINTR)
			exit(fail("receiving", -errno));
		done += got > 0 ? (size_t)got : 0;
	}
}

static void send_messages(const struct task *task)
{
	char message[MESSAGE_BYTES] = {0};

	for (;;)
		for (uint64_t i = 0; i < sides; i++)
			give(task->to[i], message, sizeof(message));
}

static void receive_messages(const struct task *task)
{
	char message[MESSAGE_BYTES];

	for (;;) {
		take(task->from, message, sizeof(message));
		done_one();
	}
}

static void ping(const struct task *task)
{
	char number[4] = {0};

	for (;;) {
		give(task->to[0], number, sizeof(number));
		take(task->from, number, sizeof(number));
		done_one();
	}
}

static void pong(const struct task *task)
{
	char number[4];

	for (;;) {
		take(task->from, number, sizeof(number));
		give(task->to[0], number, sizeof(number));
	}
}

static void *run_thread(void *argument)
{
	struct task task = *(struct task *)argument;

	free(argument);
	wait_for_start();
	task.run(&task);
	return NULL;
}

static int start(const struct task *task)
{
	struct task *own;
	pthread_t thread;
	pid_t pid;

	if (threads) {
		own = malloc(sizeof(*own));
		if (!own)
			return -ENOMEM;
		*own = *task;
		return -pthread_create(&thread, NULL, run_thread, own);
	}
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		wait_for_start();
		task->run(task);
	}
	return 0;
}

static int start_group(void)
{
	struct task sender = {.run = send_messages}, receiver = {.run = receive_messages};
	int ends[MOST_SIDES][2], error = 0;

	for (uint64_t i = 0; i < sides; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			return -errno;
		sender.to[i] = ends[i][1];
	}
	for (uint64_t i = 0; i < sides && !error; i++) {
		receiver.from = ends[i][0];
		error = start(&receiver);
		if (!error)
			error = start(&sender);
	}
	return error;
}

static int start_pair(void)
{
	struct task one = {.run = ping}, other = {.run = pong};
	int there[2], back[2], error;

	if (pipe(there) || pipe(back))
		return -errno;
	one.to[0] = there[1];
	one.from = back[0];
	other.to[0] = back[1];
	other.from = there[0];
	error = start(&one);
	return error ? error : start(&other);
}

static int save(const struct windows *times, uint64_t begun, uint64_t ordered)
{
	uint32_t count = atomic_load(&shared->messages) / EACH;
	FILE *file = fopen(out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < count && i < MOST_STAMPS; i++) {
		if (!shared->stamps[i])
			continue;
		jsonl_begin(&line, file);
		jsonl_int(&line, "ns", (int64_t)(shared->stamps[i] - begun));
		jsonl_int(&line, "messages", EACH);
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	return windows_save(totals, times, ordered);
}

/* In a process of its own, whose group is all that has to end. */
static int lead(void)
{
	bool messaging = !strcmp(load, "messaging");
	int error = 0;

	setpgid(0, 0);
	for (uint64_t i = 0; i < groups && !error; i++)
		error = messaging ? start_group() : start_pair();
	if (error)
		return fail("starting", error);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct windows times;
	uint64_t begun, ordered;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!load || !way || (strcmp(load, "messaging") && strcmp(load, "pipe"))) {
		fputs(usage, stderr);
		return 2;
	}
	error = placement_set(way);
	if (error)
		return fail(way, error);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return fail("memory", -errno);
	leader = fork();
	if (leader < 0)
		return fail("a process", -errno);
	if (!leader)
		return lead();
	/* Until all of them wait. */
	usleep(10000);
	ordered = counter_now();
	begun = clock_ns();
	times = (struct windows){settle_us, window_us, windows};
	windows_order(&times);
	atomic_store(&shared->go, 1);
	clock_sleep_until(begun + (settle_us + windows * window_us) * 1000);
	kill(-leader, SIGKILL);
	waitpid(leader, NULL, 0);
	if (!atomic_load(&shared->messages)) {
		fputs("sched-bench: nothing was sent\n", stderr);
		return 1;
	}
	error = save(&times, begun, ordered);
	return error ? fail(out, error) : 0;
}
