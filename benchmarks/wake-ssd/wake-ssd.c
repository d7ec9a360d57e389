// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads and writes blocks of /dev/lull-ssd, with pauses in between, and says how long each took.
 * The way is what is done about the CPU's sleep while the device works:
 *
 *   none     nothing: idle states are the governor's choice
 *   ahead    the block layer predicts when the request is done (anticipatory wakeup)
 *   qos      /dev/cpu_dma_latency is held at 0, so that no CPU sleeps deeper than C1
 *   resume   the program's CPU has a resume latency of "n/a", so that this CPU does not
 *   busy     a thread of the lowest priority keeps the program's CPU from sleeping at all
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"
#include "windows.h"

#define DISK "/dev/lull-ssd"
#define AHEAD "/sys/kernel/lull/anticipation/"
#define PAGE 4096
#define MOST_REQUESTS 20000
#define MOST_THREADS 64
/* About what a request takes on a drive; only the length of a window depends on it. */
#define REQUEST_US 150

static const char usage[] =
	"usage: wake-ssd --way none|ahead|qos|resume|busy [--cpu N] [--gap-us N] [--pages N] "
	"[--writes PERCENT] [--threads N] [--seed N]\n"
	"                [--settle N] [--requests N] [--windows N] [--out FILE] [--totals FILE] "
	"[--model FILE]\n"
	"  --settle and --requests: how many before the first window, and in each window, about\n"
	"  --threads: each on the CPU after the one before\n"
	"  --pages: of 4 KiB, at most; each size from 1 on is as likely\n";

static const char *way, *out = "/out/requests.jsonl", *totals = "/out/windows.jsonl",
			*model = "/out/model.jsonl";
static uint64_t cpu, gap_us = 1000, pages = 1, writes, threads = 1, seed = 1, settle = 20,
		     requests = 25, windows = 4;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "gap-us", .number = &gap_us, .most = 1000000},
	{.name = "pages", .number = &pages, .least = 1, .most = 256},
	{.name = "writes", .number = &writes, .most = 100},
	{.name = "threads", .number = &threads, .least = 1, .most = MOST_THREADS},
	{.name = "seed", .number = &seed, .most = 1000000000},
	{.name = "settle", .number = &settle, .least = 1, .most = 10000},
	{.name = "requests", .number = &requests, .least = 1, .most = 10000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{.name = "model", .text = &model},
	{0},
};

struct request {
	uint64_t began_ns, done_ns;
	uint32_t bytes;
	bool write;
};

/* A thread with its requests, one after the other. */
struct worker {
	pthread_t thread;
	int fd, error;
	uint64_t until_ns, random, size;
	struct request *done;
	uint64_t count;
};

static struct worker workers[MOST_THREADS];

static int fail(const char *what, int error)
{
	fprintf(stderr, "wake-ssd: %s: %s\n", what, strerror(-error));
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
	int fd, error = 0;

	/* Without anticipatory wakeup there is nothing to turn off. */
	if (is("ahead") || !access(AHEAD "block", F_OK))
		error = write_text(AHEAD "block", is("ahead") ? "1" : "0");
	if (!error && is("ahead"))
		error = write_text(AHEAD "enabled", "1");
	if (error)
		return error;

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

static int one(struct worker *worker, void *data)
{
	uint64_t length = 1 + next_random(&worker->random) % pages;
	uint64_t places = worker->size / PAGE - length + 1;
	off_t at = (off_t)(next_random(&worker->random) % places * PAGE);
	bool write = next_random(&worker->random) % 100 < writes;
	uint64_t began = clock_ns();
	ssize_t got = write ? pwrite(worker->fd, data, length * PAGE, at)
			    : pread(worker->fd, data, length * PAGE, at);

	if (got != (ssize_t)(length * PAGE))
		return got < 0 ? -errno : -EIO;
	worker->done[worker->count++] =
		(struct request){began, clock_ns(), (uint32_t)(length * PAGE), write};
	return 0;
}

static void *work(void *argument)
{
	const struct timespec gap = clock_time(gap_us * 1000);
	struct worker *worker = argument;
	void *data;

	worker->error = -posix_memalign(&data, PAGE, pages * PAGE);
	if (worker->error)
		return NULL;
	memset(data, 0, pages * PAGE);
	while (!worker->error && clock_ns() < worker->until_ns && worker->count < MOST_REQUESTS) {
		worker->error = one(worker, data);
		if (gap_us)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL);
	}
	free(data);
	return NULL;
}

/* The first thread is this one: others cost nothing where there are none. */
static int work_all(int fd, uint64_t until_ns)
{
	off_t size = lseek(fd, 0, SEEK_END);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int error = size < (off_t)(pages * PAGE) ? -ENOSPC : 0;

	for (uint64_t i = 0; i < threads && !error; i++) {
		workers[i] = (struct worker){
			.fd = fd, .until_ns = until_ns, .random = seed + i, .size = (uint64_t)size};
		workers[i].done = calloc(MOST_REQUESTS, sizeof(struct request));
		if (!workers[i].done)
			return -ENOMEM;
		if (i)
			error = start_on_cpu(&workers[i].thread, (int)((cpu + i) % (uint64_t)cpus),
					     work, &workers[i]);
	}
	if (error)
		return error;
	work(&workers[0]);
	for (uint64_t i = 0; i < threads; i++) {
		if (i)
			pthread_join(workers[i].thread, NULL);
		error = error ? error : workers[i].error;
	}
	return error;
}

static int save_requests(void)
{
	FILE *file = fopen(out, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t thread = 0; thread < threads; thread++) {
		for (uint64_t i = 0; i < workers[thread].count; i++) {
			const struct request *done = &workers[thread].done[i];

			jsonl_begin(&line, file);
			jsonl_int(&line, "thread", (int64_t)thread);
			jsonl_bool(&line, "write", done->write);
			jsonl_int(&line, "bytes", done->bytes);
			jsonl_int(&line, "began_ns", (int64_t)done->began_ns);
			jsonl_int(&line, "took_ns", (int64_t)(done->done_ns - done->began_ns));
			jsonl_end(&line);
		}
	}
	return jsonl_finish(file);
}

/* What the block layer learned: the lines of the disk, each word followed by its number. */
static int save_model(void)
{
	char text[4096] = "", *rest, *name, *what, *next;
	FILE *file = fopen(model, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	error = is("ahead") ? read_text(AHEAD "block_stats", text, sizeof(text)) : 0;
	for (char *at = text; !error && at && *at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = 0;
		name = strtok_r(at, " ", &rest);
		what = strtok_r(NULL, " ", &rest);
		if (!name || !what || strcmp(name, "lull-ssd"))
			continue;
		jsonl_begin(&line, file);
		jsonl_string(&line, "what", what);
		jsonl_counts(&line, rest);
		jsonl_end(&line);
	}
	return jsonl_finish(file) ? -EIO : error;
}

int main(int argc, char **argv)
{
	struct windows times;
	uint64_t ordered, began, request_us;
	int fd, error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || !(is("none") || is("ahead") || is("qos") || is("resume") || is("busy"))) {
		fputs(usage, stderr);
		return 2;
	}
	fd = open(DISK, (writes ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return fail(DISK, -errno);
	error = pin_to_cpu((int)cpu);
	if (error)
		return fail("running on the CPU", error);
	error = prepare();
	if (error)
		return fail(way, error);

	request_us = gap_us + REQUEST_US;
	ordered = counter_now();
	began = clock_ns();
	times = (struct windows){settle * request_us, requests * request_us, windows};
	windows_order(&times);
	error = work_all(fd, began + (settle + windows * requests) * request_us * 1000);
	if (error)
		return fail(DISK, error);
	error = save_requests();
	if (!error)
		error = windows_save(totals, &times, ordered);
	if (!error)
		error = save_model();
	return error ? fail(out, error) : 0;
}
