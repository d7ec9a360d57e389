// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a kernel of /dev/lull-accel again and again, with work of the CPU in between, and says how
 * long after each run's end the program had it. The way is how the program waits:
 *
 *   none    it sleeps in read(); idle states are the governor's choice
 *   ahead   the same, and the driver predicts the end (anticipatory wakeup)
 *   poll    the same as ahead, and read() looks for the end around the time that is predicted
 *   qos     the same, and /dev/cpu_dma_latency is held at 0, so that no CPU sleeps deeper than C1
 *   busy    it asks again and again
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "accel_abi.h"
#include "clock.h"
#include "counter.h"
#include "jsonl.h"
#include "options.h"
#include "pin.h"
#include "sysfs.h"
#include "windows.h"

#define ACCEL "/sys/kernel/lull/accel/"
#define AHEAD "/sys/kernel/lull/anticipation/"
#define MOST_RUNS 100000
#define RUN_US 550

static const char usage[] =
	"usage: wake-gpu --way none|ahead|poll|qos|busy [--kernel NAME] [--cpu N] [--work N] "
	"[--settle N] [--runs N] [--windows N]\n"
	"                [--out FILE] [--totals FILE] [--accuracy FILE]\n"
	"  --work: steps of the CPU between two runs; a step is a few instructions\n"
	"  --settle and --runs: how many before the first window, and in each window, about\n";

static const char *way, *kernel = "kmeans", *out = "/out/runs.jsonl",
			*totals = "/out/windows.jsonl", *accuracy = "/out/accuracy.jsonl";
static uint64_t cpu, steps = 20000, settle = 10, wanted = 20, windows = 4;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "kernel", .text = &kernel},
	{.name = "cpu", .number = &cpu, .most = 63},
	{.name = "work", .number = &steps, .most = 100000000},
	{.name = "settle", .number = &settle, .least = 1, .most = 10000},
	{.name = "runs", .number = &wanted, .least = 1, .most = 10000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{.name = "accuracy", .text = &accuracy},
	{0},
};

struct seen {
	struct accel_run run;
	uint64_t had_ns;
};

static struct seen seen[MOST_RUNS];
static uint64_t count;

static int fail(const char *what, int error)
{
	fprintf(stderr, "wake-gpu: %s: %s\n", what, strerror(-error));
	return 1;
}

static bool is(const char *name)
{
	return !strcmp(way, name);
}

/* The numbers of the kernel's line, or of none: those of kernels are in the platform's order. */
static int kernel_line(char *text, size_t size, char **line, uint32_t *number)
{
	int error = read_text(ACCEL "stats", text, size);
	size_t length = strlen(kernel);
	char *rest;

	*number = 0;
	for (*line = error ? NULL : strtok_r(text, "\n", &rest); *line;
	     *line = strtok_r(NULL, "\n", &rest), ++*number)
		if (!strncmp(*line, kernel, length) && (*line)[length] == ' ')
			return 0;
	return error ? error : -ENODEV;
}

static int prepare(void)
{
	static const int32_t nothing;
	bool predict = is("ahead") || is("poll");
	int fd, error = write_text(ACCEL "predict", predict ? "1" : "0");

	if (!error && predict)
		error = write_text(AHEAD "enabled", "1");
	if (!error && is("poll"))
		error = write_text(ACCEL "poll", "1");
	if (error || !is("qos"))
		return error;
	/* Held until the program ends. */
	fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	return fd < 0 || write(fd, &nothing, sizeof(nothing)) != sizeof(nothing) ? -errno : 0;
}

static int one(int fd, uint32_t number)
{
	struct accel_run run;
	ssize_t got;

	if (ioctl(fd, ACCEL_START, &number))
		return -errno;
	do
		got = read(fd, &run, sizeof(run));
	while (got < 0 && (errno == EAGAIN || errno == EINTR));
	if (got != sizeof(run))
		return got < 0 ? -errno : -EIO;
	seen[count++] = (struct seen){run, clock_ns()};
	return 0;
}

static void work(void)
{
	for (volatile uint64_t step = 0; step < steps; step++)
		;
}

static int save(const struct windows *times, uint64_t ordered)
{
	FILE *file = fopen(out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < count; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "began_ns", (int64_t)seen[i].run.began_ns);
		jsonl_int(&line, "took_ns", (int64_t)(seen[i].run.ended_ns - seen[i].run.began_ns));
		jsonl_int(&line, "late_ns", (int64_t)(seen[i].had_ns - seen[i].run.ended_ns));
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	return windows_save(totals, times, ordered);
}

static int save_accuracy(void)
{
	char text[1024], *at;
	uint32_t unused;
	FILE *file;
	struct jsonl line;
	int error = kernel_line(text, sizeof(text), &at, &unused);

	if (error)
		return error;
	file = fopen(accuracy, "w");
	if (!file)
		return -errno;
	jsonl_begin(&line, file);
	/* The kernel's name comes first. */
	jsonl_counts(&line, at + strlen(kernel));
	jsonl_end(&line);
	return jsonl_finish(file);
}

int main(int argc, char **argv)
{
	struct windows times;
	uint64_t ordered, until;
	char text[1024], *line;
	uint32_t number;
	int fd, error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way || !(is("none") || is("ahead") || is("poll") || is("qos") || is("busy"))) {
		fputs(usage, stderr);
		return 2;
	}
	error = kernel_line(text, sizeof(text), &line, &number);
	if (error)
		return fail(kernel, error);
	fd = open(ACCEL_PATH, O_RDWR | O_CLOEXEC | (is("busy") ? O_NONBLOCK : 0));
	if (fd < 0)
		return fail(ACCEL_PATH, -errno);
	error = pin_to_cpu((int)cpu);
	if (error)
		return fail("running on the CPU", error);
	error = prepare();
	if (error)
		return fail(way, error);

	ordered = counter_now();
	until = clock_ns() + (settle + windows * wanted) * RUN_US * 1000;
	times = (struct windows){settle * RUN_US, wanted * RUN_US, windows};
	windows_order(&times);
	while (!error && clock_ns() < until && count < MOST_RUNS) {
		error = one(fd, number);
		work();
	}
	if (error)
		return fail(ACCEL_PATH, error);
	error = save(&times, ordered);
	if (!error)
		error = save_accuracy();
	return error ? fail(out, error) : 0;
}
