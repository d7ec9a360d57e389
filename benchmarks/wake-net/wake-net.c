// SPDX-License-Identifier: BSD-3-Clause
/*
 * Answers requests that come over the network at distances long enough to sleep in. Each says when
 * the next one will be sent, and how long the one before took. The end that asks is the peer, with
 * the way `ask`. The end that answers is the machine under test; its way is what is done about the
 * sleep between two requests:
 *
 *   none    nothing: idle states are the governor's choice
 *   ahead   it asks for a window of /dev/lull-wake-ahead, by the hint in the request
 *   qos     /dev/cpu_dma_latency is held at 0, so that no CPU sleeps deeper than C1
 *   resume  the program's CPU has a resume latency of "n/a", so that this CPU does not
 *   busy    a thread of the lowest priority keeps the program's CPU from sleeping at all
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "jsonl.h"
#include "message.h"
#include "options.h"
#include "pin.h"
#include "sysfs.h"
#include "wake_ahead_abi.h"
#include "windows.h"

#define INTERFACE "eth0"
#define AHEAD_ENABLED "/sys/kernel/lull/anticipation/enabled"
#define MOST_REQUESTS 100000

static const char usage[] =
	"usage: wake-net --way ask [--requests N] [--settle N] [--windows N] [--gap-us N] "
	"[--spread PERCENT] [--seed N]\n"
	"       wake-net --way none|ahead|qos|resume|busy [--cpu N] [--early-us N] [--late-us N]\n"
	"                [--requests N] [--settle N] [--windows N] [--gap-us N] [--out FILE] "
	"[--totals FILE] [--counts FILE]\n"
	"  --settle and --requests: how many before the first window, and in each window, about\n";

static const char *way, *out = "/out/requests.jsonl", *totals = "/out/windows.jsonl",
			*counts = "/out/counts.jsonl";
static uint64_t cpu, gap_us = 2000, spread = 50, seed = 1, early_us = 20, late_us = 200,
		     settle = 20, requests = 30, windows = 5;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "gap-us", .number = &gap_us, .least = 500, .most = 1000000},
	{.name = "spread", .number = &spread, .most = 90},
	{.name = "seed", .number = &seed, .most = 1000000000},
	{.name = "early-us", .number = &early_us, .most = 10000},
	{.name = "late-us", .number = &late_us, .least = 1, .most = 90000},
	{.name = "settle", .number = &settle, .least = 1, .most = 10000},
	{.name = "requests", .number = &requests, .least = 1, .most = 10000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{.name = "counts", .text = &counts},
	{0},
};

/* By its number: how long the peer waited for the answer. */
static uint64_t took_ns[MOST_REQUESTS + 2];
static int ahead = -1;

static int fail(const char *what, int error)
{
	fprintf(stderr, "wake-net: %s: %s\n", what, strerror(-error));
	return 1;
}

static bool is(const char *name)
{
	return !strcmp(way, name);
}

static void *keep_busy(void *unused)
{
	const struct sched_param lowest = {0};

	(void)unused;
	sched_setscheduler(0, SCHED_IDLE, &lowest);
	for (;;)
		;
	return NULL;
}

static int prepare(void)
{
	static const int32_t nothing;
	char path[96];
	pthread_t thread;
	int fd, error;

	if (is("ahead")) {
		error = write_text(AHEAD_ENABLED, "1");
		ahead = open(WAKE_AHEAD_PATH, O_RDWR | O_CLOEXEC);
		return error ? error : ahead < 0 ? -errno : 0;
	}
	if (is("busy"))
		return start_on_cpu(&thread, (int)cpu, keep_busy, NULL);
	if (is("resume")) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%llu/power/pm_qos_resume_latency_us",
			 (unsigned long long)cpu);
		return write_text(path, "n/a");
	}
	if (!is("qos"))
		return 0;
	/* Held until the program ends. */
	fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	return fd < 0 || write(fd, &nothing, sizeof(nothing)) != sizeof(nothing) ? -errno : 0;
}

/* The card interrupts the program's CPU: one CPU has to be ready, not two. */
static int take_interrupts(void)
{
	char line[512], path[64], text[8];
	FILE *file = fopen("/proc/interrupts", "r");
	int number = -1;

	if (!file)
		return -errno;
	while (number < 0 && fgets(line, sizeof(line), file))
		if (strstr(line, INTERFACE))
			number = atoi(line);
	fclose(file);
	if (number < 0)
		return -ENODEV;
	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", number);
	snprintf(text, sizeof(text), "%d", (int)cpu);
	return write_text(path, text);
}

static int open_socket(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any)) ? -errno : fd;
}

/*
 * The least time from the peer's clock when it sends to ours when we have it: what is more than
 * that is a sleep's, and no part of the way.
 */
static int64_t least_ns(const struct message *message, uint64_t now)
{
	static int64_t least = INT64_MAX;
	int64_t distance = (int64_t)(now - message->sent_ns);

	if (distance < least)
		least = distance;
	return least;
}

static int expect(const struct message *message, uint64_t now)
{
	uint64_t at = (uint64_t)((int64_t)message->next_ns + least_ns(message, now));
	const struct wake_ahead_request asked = {
		.start_ns = at - early_us * 1000,
		.duration_ns = (early_us + late_us) * 1000,
	};

	/* A request that is about to come needs no window. */
	return ioctl(ahead, WAKE_AHEAD_BEGIN, &asked) && errno != ETIME ? -errno : 0;
}

/* The next request. Anybody may send datagrams here: what is no request is left out. */
static int receive(int fd, struct message *message, struct sockaddr_in *from)
{
	uint64_t last = settle + windows * requests;
	socklen_t length;
	ssize_t got;

	for (;;) {
		length = sizeof(*from);
		/* A datagram that is longer is no request either. */
		got = recvfrom(fd, message, sizeof(*message), MSG_TRUNC, (struct sockaddr *)from,
			       &length);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == sizeof(*message) && message->number <= last + 1)
			return 0;
	}
}

static int answer_all(int fd, struct windows *times, uint64_t *ordered)
{
	uint64_t last = settle + windows * requests, now;
	struct message message;
	struct sockaddr_in from;
	int error = 0;

	do {
		error = receive(fd, &message, &from);
		if (error)
			break;
		now = clock_ns();
		/* A miss has ended by itself. */
		if (ahead >= 0)
			ioctl(ahead, WAKE_AHEAD_END);
		/* Who does not get it asks again. */
		sendto(fd, &message, sizeof(message), 0, (struct sockaddr *)&from, sizeof(from));
		if (message.number)
			took_ns[message.number - 1] = message.before_ns;
		if (message.number == 1) {
			*ordered = counter_now();
			windows_order(times);
		}
		if (ahead >= 0 && message.number && message.next_ns)
			error = expect(&message, now);
	} while (!error && message.number <= last);
	return error;
}

static int save_requests(void)
{
	FILE *file = fopen(out, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 1; i <= settle + windows * requests; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "number", (int64_t)i - 1);
		jsonl_int(&line, "took_ns", (int64_t)took_ns[i]);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

static int save_counts(void)
{
	struct wake_ahead_counts found = {0};
	FILE *file = fopen(counts, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	if (ahead >= 0 && ioctl(ahead, WAKE_AHEAD_COUNTS, &found)) {
		fclose(file);
		return -errno;
	}
	jsonl_begin(&line, file);
	jsonl_int(&line, "hits", (int64_t)found.hits);
	jsonl_int(&line, "early", (int64_t)found.early);
	jsonl_int(&line, "misses", (int64_t)found.misses);
	jsonl_int(&line, "dropped", (int64_t)found.dropped);
	jsonl_end(&line);
	return jsonl_finish(file);
}

static int answer(void)
{
	struct windows times = {settle * gap_us, requests * gap_us, windows};
	uint64_t ordered = 0;
	int fd = open_socket(), error;

	if (fd < 0)
		return fail("socket", fd);
	error = pin_to_cpu((int)cpu);
	if (error)
		return fail("running on the CPU", error);
	error = take_interrupts();
	if (error)
		return fail("interrupts of " INTERFACE, error);
	error = prepare();
	if (error)
		return fail(way, error);
	error = answer_all(fd, &times, &ordered);
	if (error)
		return fail("answering", error);
	error = save_requests();
	if (!error)
		error = save_counts();
	if (!error)
		error = windows_save(totals, &times, ordered);
	return error ? fail(out, error) : 0;
}

int main(int argc, char **argv)
{
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || settle + windows * requests > MOST_REQUESTS ||
	    !(is("ask") || is("none") || is("ahead") || is("qos") || is("resume") || is("busy"))) {
		fputs(usage, stderr);
		return 2;
	}
	if (!is("ask"))
		return answer();
	error = ask(settle + windows * requests, gap_us, spread, seed);
	return error ? fail(way, error) : 0;
}
