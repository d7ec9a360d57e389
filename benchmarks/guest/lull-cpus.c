// SPDX-License-Identifier: BSD-3-Clause
/* One JSON line per possible CPU: what Linux was told of it and how it runs now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpulist.h"
#include "idle.h"
#include "jsonl.h"
#include "sysfs.h"

/* A file below the CPU's directory; false when it is not there. */
static bool cpu_file(int cpu, const char *name, char *text, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);
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

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/of_node/lull,shadow", cpu);
	return access(path, F_OK) == 0;
}

static void put_idle_states(struct jsonl *line, int cpu)
{
	struct idle_states states;
	char name[IDLE_NAME_SIZE];

	idle_read(cpu, &states);
	jsonl_array(line, "idle_states");
	for (int state = 0; state < states.count; state++) {
		jsonl_object(line, NULL);
		jsonl_string(line, "name", idle_name(cpu, state, name) ? NULL : name);
		jsonl_bool(line, "disabled", states.disabled[state]);
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
	return fflush(stdout) || ferror(stdout);
}
