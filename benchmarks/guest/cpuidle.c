// SPDX-License-Identifier: BSD-3-Clause
#include "cpuidle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "clock.h"
#include "cpulist.h"
#include "cpus.h"
#include "end.h"
#include "idle.h"
#include "jsonl.h"
#include "sysfs.h"

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
	uint64_t of[IDLE_MAX_STATES][COUNTERS];
};

static struct counts begun[CPULIST_MAX], ended[CPULIST_MAX];

static void count(int cpu, struct counts *counts)
{
	int state = 0;

	while (state < IDLE_MAX_STATES &&
	       idle_number(cpu, state, "usage", &counts->of[state][USAGE]) == 0) {
		for (int counter = USAGE + 1; counter < COUNTERS; counter++)
			idle_number(cpu, state, counters[counter].file,
				    &counts->of[state][counter]);
		state++;
	}
	counts->states = state;
	counts->at_us = (int64_t)(clock_ns() / 1000);
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
	uint64_t value;

	if (idle_number(cpu, state, file, &value) == 0)
		jsonl_int(line, key, (int64_t)value);
	else
		jsonl_null(line, key);
}

static void put_state(FILE *out, int cpu, int state, const char *governor, const char *cpufreq)
{
	const struct counts *from = &begun[cpu], *to = &ended[cpu];
	struct jsonl line;
	char name[IDLE_NAME_SIZE];
	uint64_t disabled = 0;

	jsonl_begin(&line, out);
	jsonl_int(&line, "cpu", cpu);
	jsonl_int(&line, "state", state);
	jsonl_string(&line, "name", idle_name(cpu, state, name) ? NULL : name);
	jsonl_int(&line, "window_us", to->at_us - from->at_us);
	for (int counter = 0; counter < COUNTERS; counter++)
		jsonl_int(&line, counters[counter].key,
			  (int64_t)(to->of[state][counter] - from->of[state][counter]));
	put_number(&line, "latency_us", cpu, state, "latency");
	put_number(&line, "residency_us", cpu, state, "residency");
	idle_number(cpu, state, "disable", &disabled);
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
