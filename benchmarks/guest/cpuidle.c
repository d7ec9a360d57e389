// SPDX-License-Identifier: BSD-3-Clause
#include "cpuidle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "channel.h"
#include "clock.h"
#include "cpulist.h"
#include "cpus.h"
#include "end.h"
#include "idle.h"
#include "jsonl.h"
#include "sysfs.h"

/* Numbers of a state. Of those that count it is told what a run has added. */
enum {
	USAGE,
	TIME,
	ABOVE,
	BELOW,
	REJECTED,
	COUNTERS,
	LATENCY = COUNTERS,
	RESIDENCY,
	DISABLED,
	NUMBERS
};

static const struct {
	const char *file;
	const char *key;
} numbers[NUMBERS] = {
	[USAGE] = {"usage", "usage"},
	[TIME] = {"time", "time_us"},
	[ABOVE] = {"above", "above"},
	[BELOW] = {"below", "below"},
	[REJECTED] = {"rejected", "rejected"},
	[LATENCY] = {"latency", "latency_us"},
	[RESIDENCY] = {"residency", "residency_us"},
	[DISABLED] = {"disable", "disabled"},
};

/* What is found before the checkpoint costs a run nothing: names, and files to read again. */
struct state {
	char name[IDLE_NAME_SIZE];
	int files[NUMBERS];
	uint64_t begun[COUNTERS], ended[COUNTERS];
};

struct cpu {
	int states, governor_file;
	uint64_t begun_us, ended_us;
	struct state state[IDLE_MAX_STATES];
};

static struct cpu cpus[CPULIST_MAX];
static int governor_file;

static void find_cpu(int number)
{
	struct cpu *cpu = &cpus[number];
	char path[96];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_governor", number);
	cpu->governor_file = open(path, O_RDONLY | O_CLOEXEC);
	for (cpu->states = 0; cpu->states < IDLE_MAX_STATES; cpu->states++) {
		struct state *state = &cpu->state[cpu->states];

		if (idle_name(number, cpu->states, state->name))
			return;
		for (int i = 0; i < NUMBERS; i++)
			state->files[i] = idle_open(number, cpu->states, numbers[i].file);
	}
}

static uint64_t read_state(int cpu, int state, int which)
{
	uint64_t value;
	int error = read_number_of(cpus[cpu].state[state].files[which], &value);

	/* A new governor makes all files anew, and those that were open are dead. */
	if (error)
		error = idle_number(cpu, state, numbers[which].file, &value);
	if (error)
		fail("cannot read %s of state %d of CPU %d: %s", numbers[which].file, state, cpu,
		     strerror(-error));
	return value;
}

static uint64_t count(int cpu, bool ended)
{
	for (int index = 0; index < cpus[cpu].states; index++) {
		struct state *state = &cpus[cpu].state[index];

		for (int i = 0; i < COUNTERS; i++)
			(ended ? state->ended : state->begun)[i] = read_state(cpu, index, i);
	}
	return clock_ns() / 1000;
}

/* The kernel counts a stay when it ends, so each CPU is awake when it is looked at. */
static void count_begun(int cpu, int error)
{
	(void)error;
	cpus[cpu].begun_us = count(cpu, false);
}

static void count_ended(int cpu, int error)
{
	(void)error;
	cpus[cpu].ended_us = count(cpu, true);
}

void cpuidle_begin(void)
{
	struct rlimit files;

	/* There are more of them than a process may open by default on a machine of 32 CPUs. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	governor_file = open(CPU_DIR "/cpuidle/current_governor", O_RDONLY | O_CLOEXEC);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		find_cpu(cpu);
	visit_cpus(count_begun);
}

static void put_state(FILE *out, int number, int index, const char *governor, const char *cpufreq)
{
	const struct cpu *cpu = &cpus[number];
	const struct state *state = &cpu->state[index];
	struct jsonl line;

	jsonl_begin(&line, out);
	jsonl_int(&line, "cpu", number);
	jsonl_int(&line, "state", index);
	jsonl_string(&line, "name", state->name);
	jsonl_int(&line, "window_us", (int64_t)(cpu->ended_us - cpu->begun_us));
	for (int i = 0; i < COUNTERS; i++)
		jsonl_int(&line, numbers[i].key, (int64_t)(state->ended[i] - state->begun[i]));
	for (int i = COUNTERS; i < DISABLED; i++)
		jsonl_int(&line, numbers[i].key, (int64_t)read_state(number, index, i));
	jsonl_bool(&line, numbers[DISABLED].key, read_state(number, index, DISABLED));
	jsonl_string(&line, "governor", governor);
	jsonl_string(&line, "cpufreq_governor", cpufreq);
	jsonl_end(&line);
}

/* NULL where there is none, as of the frequency of a CPU that is off. */
static const char *read_governor(int file, char *name, size_t size)
{
	return read_text_of(file, name, size) ? NULL : name;
}

static void put_cpus(FILE *out)
{
	char idle[64], frequency[64];
	const char *governor = read_governor(governor_file, idle, sizeof(idle)), *cpufreq;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!cpus[cpu].states)
			continue;
		cpufreq = read_governor(cpus[cpu].governor_file, frequency, sizeof(frequency));
		for (int state = 0; state < cpus[cpu].states; state++)
			put_state(out, cpu, state, governor, cpufreq);
	}
}

void cpuidle_report(enum engine engine)
{
	struct channel channel;
	char *text = NULL;
	size_t length = 0;
	FILE *out;
	int error;

	visit_cpus(count_ended);
	out = open_memstream(&text, &length);
	if (!out)
		fail("cannot keep the idle statistics: %s", strerror(errno));
	put_cpus(out);
	if (fclose(out))
		fail("cannot keep the idle statistics: %s", strerror(errno));

	error = channel_open(&channel, engine, CHANNEL_CPUIDLE);
	if (!error)
		error = channel_write(&channel, text, length);
	if (error)
		fail("cannot send channel %s: %s", CHANNEL_CPUIDLE, strerror(-error));
	free(text);
}
