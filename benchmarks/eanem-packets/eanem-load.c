// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives what the peer sends, in phases, and says of each interval what came and how busy the
 * CPU was that all of it runs on. /out/load.jsonl: a line for each interval.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "eanem.h"
#include "idle.h"
#include "jsonl.h"
#include "options.h"
#include "phases.h"
#include "pin.h"
#include "source.h"
#include "sysfs.h"
#include "windows.h"

#define OUT "/out/load.jsonl"
#define WINDOWS "/out/windows.jsonl"
#define SOCKETS 256
#define CPUS 64

static const char usage[] =
	"usage: eanem-load --phases RATE:TARGET,… [--interval-us N] [--intervals N] [--settle N]\n"
	"                  [--mss N] [--cpu N] [--mhz N] [--monitor 0|1] [--steer 0|1]\n"
	"                  [--rcvbuf BYTES] [--paced 0|1] [--clamp-us N]\n"
	"  RATE, TARGET: kbit/s that the peer sends and that the kernel holds the connection to;\n"
	"                0 is as fast as it goes\n"
	"  --paced: the peer's kernel paces, by SO_MAX_PACING_RATE\n"
	"  --clamp-us: TCP_WINDOW_CLAMP, the target's bytes in this time, holds the connection\n";

static const char *text = "0:0";
static uint64_t interval_us = 100000, intervals = 10, settle = 2, mss, cpu, mhz, monitor = 1,
		steers = 1, rcvbuf, paced, clamp_us;

static const struct option_to options[] = {
	{.name = "phases", .text = &text},
	{.name = "interval-us", .number = &interval_us, .least = 1000, .most = 10000000},
	{.name = "intervals", .number = &intervals, .least = 1, .most = 100000},
	{.name = "settle", .number = &settle, .most = 100000},
	{.name = "mss", .number = &mss, .most = 65495},
	{.name = "cpu", .number = &cpu, .most = CPUS - 1},
	{.name = "mhz", .number = &mhz, .most = 10000},
	{.name = "monitor", .number = &monitor, .most = 1},
	{.name = "steer", .number = &steers, .most = 1},
	{.name = "rcvbuf", .number = &rcvbuf, .most = 1 << 30},
	{.name = "paced", .number = &paced, .most = 1},
	{.name = "clamp-us", .number = &clamp_us, .most = 1000000},
	{0},
};

/* Files of the CPU's idle states, open to be read again and again. */
static struct {
	int times[IDLE_MAX_STATES], usages[IDLE_MAX_STATES], count;
} idle;

/* What the CPU has slept since boot, and how often. */
struct rest {
	uint64_t slept_ns, wakes;
};

static struct eanem eanem;

static int fail(const char *what, int error)
{
	fprintf(stderr, "eanem-load: %s: %s\n", what, strerror(-error));
	return 1;
}

static void open_idle(void)
{
	for (idle.count = 0; idle.count < IDLE_MAX_STATES; idle.count++) {
		idle.times[idle.count] = idle_open((int)cpu, idle.count, "time");
		idle.usages[idle.count] = idle_open((int)cpu, idle.count, "usage");
		if (idle.times[idle.count] < 0 || idle.usages[idle.count] < 0)
			break;
	}
}

static struct rest rest_now(void)
{
	struct rest rest = {0};
	uint64_t number;

	for (int i = 0; i < idle.count; i++) {
		if (!read_number_of(idle.times[i], &number))
			rest.slept_ns += number * 1000;
		if (!read_number_of(idle.usages[i], &number))
			rest.wakes += number;
	}
	return rest;
}

static bool seen(uint64_t id, struct lull_eanem_socket *record)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	size_t count = SOCKETS;

	if (!monitor || eanem_sockets(&eanem, sockets, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (sockets[i].id == id) {
			*record = sockets[i];
			return true;
		}
	}
	return false;
}

static uint64_t softirq_ns(void)
{
	static struct lull_eanem_cpu cpus[CPUS];
	size_t count = CPUS;

	if (!monitor || eanem_cpus(&eanem, cpus, &count) || cpu >= count)
		return 0;
	return cpus[cpu].net_rx_ns + cpus[cpu].net_tx_ns;
}

/* The monitor's last interval ends within this one, and is as long. */
static void tell_monitor(struct jsonl *line, uint64_t id)
{
	static const char *const stages[] = {"driver", "link", "ip", "transport", "user"};
	struct lull_eanem_socket record;

	if (!seen(id, &record))
		return;
	jsonl_object(line, "monitor");
	jsonl_int(line, "ns", (int64_t)record.interval_ns);
	jsonl_int(line, "packets", (int64_t)record.last.packets);
	jsonl_int(line, "bytes", (int64_t)record.last.bytes);
	jsonl_int(line, "mean", (int64_t)record.last.mean);
	jsonl_int(line, "variance", (int64_t)record.last.variance);
	jsonl_int(line, "all_packets", (int64_t)record.packets);
	jsonl_int(line, "all_bytes", (int64_t)record.bytes);
	jsonl_int(line, "window", (int64_t)record.window);
	jsonl_int(line, "softirq_ns", (int64_t)softirq_ns());
	for (int i = 0; i < LULL_EANEM_STAGES; i++) {
		const struct lull_eanem_latency *stage = &record.last.stages[i];

		jsonl_int(line, stages[i],
			  (int64_t)(stage->count ? stage->sum_ns / stage->count : 0));
	}
	jsonl_close(line);
}

/* By the kernel's control, or by what Linux has without it. */
static int hold(int fd, uint64_t kbit_s)
{
	if (clamp_us)
		return source_clamp(fd, kbit_s * clamp_us / 8000);
	return monitor ? eanem_target_socket(&eanem, source_id(fd), kbit_s * 125) : 0;
}

static int run_phase(FILE *out, int number, const struct phase *phase, int fd)
{
	uint64_t id = source_id(fd), began = clock_ns();
	struct rest before = rest_now();

	if (hold(fd, phase->target_kbit_s))
		return -EPROTO;
	for (uint64_t i = 0; i < settle + intervals; i++) {
		int64_t bytes = source_read_until(fd, began + interval_us * 1000);
		uint64_t now = clock_ns();
		struct rest rest = rest_now();
		struct jsonl line;

		if (bytes < 0)
			return (int)bytes;
		jsonl_begin(&line, out);
		jsonl_int(&line, "phase", number);
		jsonl_int(&line, "rate_kbit_s", (int64_t)phase->rate_kbit_s);
		jsonl_int(&line, "target_kbit_s", (int64_t)phase->target_kbit_s);
		jsonl_int(&line, "number", (int64_t)i);
		jsonl_bool(&line, "settled", i >= settle);
		jsonl_int(&line, "ns", (int64_t)(now - began));
		jsonl_int(&line, "bytes", bytes);
		jsonl_int(&line, "slept_ns", (int64_t)(rest.slept_ns - before.slept_ns));
		jsonl_int(&line, "wakes", (int64_t)(rest.wakes - before.wakes));
		tell_monitor(&line, id);
		jsonl_end(&line);
		began = now;
		before = rest;
	}
	return 0;
}

static int run_phases(FILE *out, const struct phase *phases, int count)
{
	int fd = -1, error = 0;

	for (int i = 0; i < count && !error; i++) {
		if (fd >= 0 && phases[i].rate_kbit_s != phases[i - 1].rate_kbit_s) {
			close(fd);
			fd = -1;
		}
		if (fd < 0)
			fd = source_open(phases[i].rate_kbit_s, paced, (uint32_t)mss,
					 (uint32_t)rcvbuf);
		error = fd < 0 ? fd : run_phase(out, i, &phases[i], fd);
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/*
 * Whether the clock that is asked for is an operating point of the CPU. Linux takes the next slower
 * one for any other, so that the load would be of a clock that nobody asked for.
 */
static bool has_clock(void)
{
	char path[96], clocks[512], list[512], *rest, *word;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_available_frequencies",
		 (unsigned int)cpu);
	if (!mhz || read_text(path, clocks, sizeof(clocks)))
		return true;
	strcpy(list, clocks);
	for (word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (strtoull(word, NULL, 10) == mhz * 1000)
			return true;
	fprintf(stderr, "eanem-load: CPU %u has no clock of %u MHz; its clocks in kHz: %s\n",
		(unsigned int)cpu, (unsigned int)mhz, clocks);
	return false;
}

/* What is not the kernel's and the load's is over before the load begins. */
static int steer(void)
{
	uint32_t self = (uint32_t)getpid();
	char list[8];

	if (!monitor || !steers)
		return 0;
	snprintf(list, sizeof(list), "%u", (unsigned int)cpu);
	return eanem_steer(&eanem, list, (uint32_t)mhz * 1000, &self, 1);
}

int main(int argc, char **argv)
{
	struct phase phases[PHASES_MOST];
	struct windows times;
	uint64_t ordered;
	FILE *out;
	int error, count;

	(void)argc;
	options_parse(argv, options, usage);
	count = phases_parse(text, phases);
	if (count < 0)
		return fputs(usage, stderr), 2;
	if (!has_clock())
		return 2;
	error = steers ? pin_to_cpu((int)cpu) : 0;
	if (!error && monitor)
		error = eanem_open(&eanem);
	if (!error)
		error = steer();
	if (error)
		return fail("getting ready", error);
	open_idle();
	out = fopen(OUT, "w");
	if (!out)
		return fail(OUT, -errno);
	times = (struct windows){.settle_us = settle * interval_us,
				 .window_us = (uint64_t)count * (settle + intervals) * interval_us -
					      settle * interval_us,
				 .windows = 1};
	ordered = counter_now();
	windows_order(&times);
	error = run_phases(out, phases, count);
	if (!error)
		error = windows_save(WINDOWS, &times, ordered);
	if (jsonl_finish(out) && !error)
		error = -EIO;
	return error ? fail("the load", error) : 0;
}
