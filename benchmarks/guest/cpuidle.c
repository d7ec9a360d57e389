// SPDX-License-Identifier: BSD-3-Clause
#include "cpuidle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "channel.h"
#include "cpulist.h"
#include "cpus.h"
#include "end.h"
#include "jsonl.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* The kernel's CPUIDLE_STATE_MAX. */
#define STATES_MAX 10

enum { USAGE, TIME, ABOVE, BELOW, REJECTED, COUNTERS };

static const struct {
	const char *file;
	const char *key;
} counters[COUNTERS] = {
	[USAGE] = {"usage", "usage"},	       [TIME] = {"time", "time_us"},
	[ABOVE] = {"above", "above"},	       [BELOW] = {"below", "below"},
	[REJECTED] = {"rejected", "rejected"},
};

struct counts {
	int64_t at_us;
	int states;
	int64_t of[STATES_MAX][COUNTERS];
};

static struct counts begun[CPULIST_MAX], ended[CPULIST_MAX];

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static bool state_text(int cpu, int state, const char *file, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle/state%d/%s", cpu, state, file);
	return read_text(path, text, size) == 0;
}

static bool state_number(int cpu, int state, const char *file, int64_t *value)
{
	char text[32];

	if (!state_text(cpu, state, file, text, sizeof(text)))
		return false;
	*value = strtoll(text, NULL, 10);
	return true;
}

static void count(int cpu, struct counts *counts)
{
	int state = 0;

	while (state < STATES_MAX && state_number(cpu, state, "usage", &counts->of[state][USAGE])) {
		for (int counter = USAGE + 1; counter < COUNTERS; counter++)
			state_number(cpu, state, counters[counter].file,
				     &counts->of[state][counter]);
		state++;
	}
	counts->states = state;
	counts->at_us = now_us();
}

/* The kernel counts a stay when it ends, so each CPU is awake when it is looked at. */
static void count_begun(int cpu, int error)
{
	(void)error;
	count(cpu, &begun[cpu]);
}

static void count_ended(int cpu, int error)
{
	(void)error;
	count(cpu, &ended[cpu]);
}

void cpuidle_begin(void)
{
	visit_cpus(count_begun);
}

static void put_number(struct jsonl *line, const char *key, int cpu, int state, const char *file)
{
	int64_t value;

	if (state_number(cpu, state, file, &value))
		jsonl_int(line, key, value);
	else
		jsonl_null(line, key);
}

static void put_state(FILE *out, int cpu, int state, const char *governor, const char *cpufreq)
{
	const struct counts *from = &begun[cpu], *to = &ended[cpu];
	struct jsonl line;
	char text[64];
	int64_t disabled = 0;

	jsonl_begin(&line, out);
	jsonl_int(&line, "cpu", cpu);
	jsonl_int(&line, "state", state);
	/* As the platform file calls it: Linux has its own word for the first. */
	if (state == 0)
		jsonl_string(&line, "name", "C1");
	else
		jsonl_string(&line, "name",
			     state_text(cpu, state, "desc", text, sizeof(text)) ? text : NULL);
	jsonl_int(&line, "window_us", to->at_us - from->at_us);
	for (int counter = 0; counter < COUNTERS; counter++)
		jsonl_int(&line, counters[counter].key,
			  to->of[state][counter] - from->of[state][counter]);
	put_number(&line, "latency_us", cpu, state, "latency");
	put_number(&line, "residency_us", cpu, state, "residency");
	state_number(cpu, state, "disable", &disabled);
	jsonl_bool(&line, "disabled", disabled != 0);
	jsonl_string(&line, "governor", governor);
	jsonl_string(&line, "cpufreq_governor", cpufreq);
	jsonl_end(&line);
}

static void put_cpu(FILE *out, int cpu, const char *governor)
{
	char path[96], text[64];
	bool known;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_governor", cpu);
	known = read_text(path, text, sizeof(text)) == 0;
	for (int state = 0; state < ended[cpu].states; state++)
		put_state(out, cpu, state, governor, known ? text : NULL);
}

void cpuidle_report(enum engine engine)
{
	struct channel channel;
	char *text = NULL;
	size_t length = 0;
	char governor[64];
	bool known;
	FILE *out;
	int error;

	visit_cpus(count_ended);
	known = read_text(CPU_DIR "/cpuidle/current_governor", governor, sizeof(governor)) == 0;
	out = open_memstream(&text, &length);
	if (!out)
		fail("cannot keep the idle statistics: %s", strerror(errno));
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		put_cpu(out, cpu, known ? governor : NULL);
	if (fclose(out))
		fail("cannot keep the idle statistics: %s", strerror(errno));

	error = channel_open(&channel, engine, CHANNEL_CPUIDLE);
	if (!error)
		error = channel_write(&channel, text, length);
	if (error)
		fail("cannot send channel %s: %s", CHANNEL_CPUIDLE, strerror(-error));
	free(text);
}
