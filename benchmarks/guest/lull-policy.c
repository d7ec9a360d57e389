// SPDX-License-Identifier: BSD-3-Clause
/*
 * lull-policy KEY=VALUE …: applies what a run asks of Linux and looks whether each took effect.
 *   cstate=CPUS:STATE:LATENCY:RESIDENCY  what Linux believes of an idle state, in microseconds;
 *                                        before all else
 *   governor=NAME                        of idle states
 *   cpufreq=NAME                         of frequency, on all CPUs
 *   cpufreq.N=KHZ                        the frequency of policy N, under the governor userspace
 *   routing.depth=STATE, routing=NAME    of event interrupts
 *   file=KEY:PATH:VALUE                  a setting of a kernel system, by its file in /sys
 *   idle.deepest=STATE                   on all CPUs
 *   idle.deepest.N=STATE                 on CPU N, after the setting of all
 * What does not take effect is one line and status 125.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpulist.h"
#include "idle.h"
#include "sysfs.h"

#define LULL_DIR SYS_DIR "/kernel/lull"
#define CSTATES LULL_DIR "/cstates"

/* sysfs takes and gives a page at a time. */
#define SYSFS_MAX 4096

/* What is applied now. */
static const char *setting;

__attribute__((format(printf, 1, 2), noreturn)) static void stop(const char *format, ...)
{
	va_list arguments;

	printf("lull: %s: ", setting);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(125);
}

/* A list of choices marks one by brackets. */
static bool says(const char *now, const char *value)
{
	const char *mark = strchr(now, '[');
	size_t length = strlen(value);

	if (!mark)
		return strcmp(now, value) == 0;
	return strncmp(mark + 1, value, length) == 0 && mark[1 + length] == ']';
}

/* False where the kernel has no such file. */
static bool try_put(const char *path, const char *value)
{
	char now[256];
	int error = exchange_text(path, value, now, sizeof(now));

	if (error == -ENOENT)
		return false;
	if (error)
		stop("%s refuses %s", path, value);
	if (!says(now, value))
		stop("%s says %s after %s was written", path, now, value);
	return true;
}

static void put(const char *path, const char *value)
{
	if (!try_put(path, value))
		stop("this kernel has no %s", path);
}

/* The words of a setting. Its numbers are as the kernel's file has them: "LATENCY RESIDENCY". */
struct cstate {
	char words[128];
	const char *list, *name, *numbers;
};

/* False when the setting is not about an idle state. */
static bool parse_cstate(const char *text, struct cstate *cstate)
{
	char *word[4], *rest = cstate->words;

	if (strncmp(text, "cstate=", 7) != 0)
		return false;
	setting = text;
	snprintf(cstate->words, sizeof(cstate->words), "%s", text + 7);
	for (int i = 0; i < 4; i++)
		word[i] = strsep(&rest, ":");
	if (!word[3] || rest)
		stop("not CPUS:STATE:LATENCY:RESIDENCY");
	word[3][-1] = ' ';
	cstate->list = word[0];
	cstate->name = word[1];
	cstate->numbers = word[2];
	return true;
}

/* All in one write, because the kernel checks the states of a CPU against each other. */
static bool write_cstates(char **settings)
{
	static char lines[SYSFS_MAX];
	struct cstate cstate;
	size_t used = 0;
	int error;

	for (; *settings; settings++) {
		if (!parse_cstate(*settings, &cstate))
			continue;
		used += (size_t)snprintf(lines + used, sizeof(lines) - used, "%s %s %s\n",
					 cstate.list, cstate.name, cstate.numbers);
		if (used >= sizeof(lines))
			stop("too many of them");
	}
	if (!used)
		return false;
	setting = "advertised latencies";
	error = write_text(CSTATES, lines);
	if (error == -ENOENT)
		stop("this kernel has no " CSTATES);
	if (error)
		stop(CSTATES " refuses them");
	return true;
}

/* Lines are "CPU STATE LATENCY RESIDENCY", one for each CPU and state. */
static void check_cstate(const struct cstate *cstate, const char *lines)
{
	size_t name = strlen(cstate->name), numbers = strlen(cstate->numbers);
	struct cpulist missing;

	if (cpulist_parse(&missing, cstate->list))
		stop("%s is no list of CPUs", cstate->list);
	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char *rest;
		unsigned long cpu = strtoul(line, &rest, 10);

		if (cpu >= CPULIST_MAX || !missing.has[cpu] || *rest++ != ' ' ||
		    strncmp(rest, cstate->name, name) != 0 || rest[name] != ' ')
			continue;
		rest += name + 1;
		if (strcspn(rest, "\n") != numbers || strncmp(rest, cstate->numbers, numbers) != 0)
			stop("CPU %lu says %.*s after it was written", cpu,
			     (int)strcspn(rest, "\n"), rest);
		missing.has[cpu] = false;
		missing.count--;
	}
	if (missing.count)
		stop(CSTATES " does not list %s on all of these CPUs", cstate->name);
}

static void put_cstates(char **settings)
{
	static char lines[SYSFS_MAX];
	struct cstate cstate;

	if (!write_cstates(settings))
		return;
	if (read_text(CSTATES, lines, sizeof(lines)))
		stop(CSTATES " cannot be read");
	for (; *settings; settings++)
		if (parse_cstate(*settings, &cstate))
			check_cstate(&cstate, lines);
}

static struct cpulist possible_cpus(void)
{
	struct cpulist possible;

	if (cpulist_read(&possible, "possible"))
		stop(CPU_DIR "/possible cannot be read");
	return possible;
}

/* A policy has the number of one of its CPUs. */
static void put_frequency_governor(const char *name)
{
	struct cpulist possible = possible_cpus();
	char path[128];
	bool found = false;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!possible.has[cpu])
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_governor", cpu);
		found |= try_put(path, name);
	}
	if (!found)
		stop("this kernel has no frequency driver");
}

/* N=KHZ */
static void put_frequency(const char *policy)
{
	const char *khz = strchr(policy, '=');
	char path[128];

	if (!khz)
		stop("not known here");
	snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%.*s/scaling_setspeed",
		 (int)(khz - policy), policy);
	put(path, khz + 1);
}

static void put_routing(const char *policy)
{
	put(LULL_DIR "/routing/policy", policy);
	put(LULL_DIR "/routing/enabled", strcmp(policy, "none") == 0 ? "0" : "1");
}

/* KEY:PATH:VALUE. It is the key that the user wrote. */
static void put_file(const char *text)
{
	static char words[512], said[512];
	char path[256], *value = words;
	const char *key, *file;

	snprintf(words, sizeof(words), "%s", text);
	key = strsep(&value, ":");
	file = strsep(&value, ":");
	if (!value || strlen(text) >= sizeof(words) || strncmp(file, "/sys/", 5) != 0)
		stop("not KEY:PATH:VALUE");
	snprintf(said, sizeof(said), "%s=%s", key, value);
	setting = said;
	snprintf(path, sizeof(path), SYS_DIR "/%s", file + 5);
	put(path, value);
}

/* By name, which means the same on a CPU that lacks a lighter state. */
static int depth_of(const char *name)
{
	char *end;
	long depth = *name == 'C' ? strtol(name + 1, &end, 10) : 0;

	if (depth < 1 || *end)
		stop("there is no such state");
	return (int)depth;
}

/* False where the CPU has no idle states. */
static bool allow_idle(int cpu, int deepest)
{
	struct idle_states before, after;
	int error = idle_read(cpu, &before);

	after = before;
	for (int state = 1; state < after.count; state++)
		after.disabled[state] = idle_depth(cpu, state) > deepest;
	if (after.count)
		after.disabled[0] = false;
	if (!error)
		error = idle_change(cpu, &before, &after);
	if (error)
		stop("not every CPU takes it");
	return after.count;
}

static void put_deepest(const char *name)
{
	struct cpulist possible = possible_cpus();
	int deepest = depth_of(name);
	bool found = false;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		found |= possible.has[cpu] && allow_idle(cpu, deepest);
	if (!found)
		stop("this kernel or device tree has no idle states");
}

/* N=STATE */
static void put_deepest_of_one(const char *text)
{
	struct cpulist possible = possible_cpus();
	char *name;
	unsigned long cpu = strtoul(text, &name, 10);

	if (name == text || *name++ != '=')
		stop("not known here");
	if (cpu >= CPULIST_MAX || !possible.has[cpu])
		stop("there is no such CPU");
	if (!allow_idle((int)cpu, depth_of(name)))
		stop("this CPU has no idle states");
}

/* What begins a setting, and the file that takes the rest or the function that knows how. */
static const struct key {
	const char *begin;
	const char *path;
	void (*put)(const char *value);
} keys[] = {
	{.begin = "governor=", .path = CPU_DIR "/cpuidle/current_governor"},
	{.begin = "cpufreq=", .put = put_frequency_governor},
	{.begin = "cpufreq.", .put = put_frequency},
	{.begin = "routing.depth=", .path = LULL_DIR "/routing/depth"},
	{.begin = "routing=", .put = put_routing},
	{.begin = "file=", .put = put_file},
	{.begin = "idle.deepest=", .put = put_deepest},
	{.begin = "idle.deepest.", .put = put_deepest_of_one},
	{.begin = "cstate="}, /* in force by now */
};

static void apply(const char *text)
{
	setting = text;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct key *key = &keys[i];
		size_t length = strlen(key->begin);

		if (strncmp(text, key->begin, length) != 0)
			continue;
		if (key->path)
			put(key->path, text + length);
		else if (key->put)
			key->put(text + length);
		return;
	}
	stop("not known here");
}

int main(int argc, char **argv)
{
	(void)argc;
	put_cstates(argv + 1);
	for (char **word = argv + 1; *word; word++)
		apply(*word);
	return 0;
}
