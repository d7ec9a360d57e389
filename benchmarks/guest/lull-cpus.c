// SPDX-License-Identifier: BSD-3-Clause
/* One JSON line per possible CPU: what Linux was told of it and how it runs now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpulist.h"
#include "jsonl.h"
#include "machine.h"

#define CPU_DIR "/sys/devices/system/cpu/cpu%d/"

/* A file below the CPU's directory; false when it is not there. */
static bool cpu_file(int cpu, const char *name, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "%s", cpu, name);
	return read_text(path, text, size) == 0;
}

static void put_number(struct jsonl *line, const char *key, int cpu, const char *file)
{
	char text[32];
	char *end;
	long long value;

	if (!cpu_file(cpu, file, text, sizeof(text))) {
		jsonl_null(line, key);
		return;
	}
	value = strtoll(text, &end, 10);
	if (end == text || *end)
		jsonl_null(line, key);
	else
		jsonl_int(line, key, value);
}

static void put_text(struct jsonl *line, const char *key, int cpu, const char *file)
{
	char text[128];

	jsonl_string(line, key, cpu_file(cpu, file, text, sizeof(text)) ? text : NULL);
}

static bool is_shadow(int cpu)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "of_node/lull,shadow", cpu);
	return access(path, F_OK) == 0;
}

static void put_idle_states(struct jsonl *line, int cpu)
{
	char file[64], text[32];

	jsonl_array(line, "idle_states");
	for (int state = 0;; state++) {
		snprintf(file, sizeof(file), "cpuidle/state%d/disable", state);
		if (!cpu_file(cpu, file, text, sizeof(text)))
			break;
		jsonl_object(line, NULL);
		/* Linux has its own name for the first state and cuts the names of the others;
		 * their description is whole. */
		snprintf(file, sizeof(file), "cpuidle/state%d/desc", state);
		if (state == 0)
			jsonl_string(line, "name", "C1");
		else
			put_text(line, "name", cpu, file);
		jsonl_bool(line, "disabled", strcmp(text, "0") != 0);
		jsonl_close(line);
	}
	jsonl_close(line);
}

static void describe(int cpu, bool online)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "cpu", cpu);
	jsonl_bool(&line, "online", online);
	/* The first string of the property is the most specific one. */
	put_text(&line, "model", cpu, "of_node/compatible");
	jsonl_string(&line, "role", is_shadow(cpu) ? "shadow" : "main");
	put_number(&line, "capacity", cpu, "cpu_capacity");
	/* Linux forgets the topology of a CPU that is offline. */
	put_number(&line, "cluster", cpu, "topology/cluster_id");
	put_number(&line, "package", cpu, "topology/physical_package_id");
	put_number(&line, "clock_khz", cpu, "cpufreq/scaling_cur_freq");
	put_idle_states(&line, cpu);
	jsonl_end(&line);
}

int main(void)
{
	struct cpulist possible, online;
	int error = cpulist_read(&possible, "possible");

	if (!error)
		error = cpulist_read(&online, "online");
	if (error) {
		fprintf(stderr, "lull-cpus: cannot list the CPUs: %s\n", strerror(-error));
		return 1;
	}
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (possible.has[cpu])
			describe(cpu, online.has[cpu]);
	return ferror(stdout) ? 1 : 0;
}
