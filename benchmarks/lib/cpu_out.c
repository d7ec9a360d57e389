// SPDX-License-Identifier: BSD-3-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu_out.h"
#include "sysfs.h"

#define CGROUPS SYS_DIR "/fs/cgroup"
#define GROUP CGROUPS "/lull-cpu-out"
#define SWITCH SYS_DIR "/kernel/lull/hotplug/enabled"

struct way {
	const char *name;
	int (*prepare)(const struct cpulist *cpus);
	/* Both NULL where the texts below are written into the files. */
	int (*out)(void);
	int (*in)(void);
	/* The files' texts when the CPUs are out, and in; NULL where there is no file. */
	const char *text_out, *text_in;
};

static const struct way *way;
static int files[CPULIST_MAX], file_count;
static char list[CPULIST_TEXT];
static unsigned int refused;
/* What the switch of pseudo hotplug said before; empty where nobody asked. */
static char switch_was[4];

static int open_file(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);

	if (file < 0)
		return -errno;
	files[file_count++] = file;
	return 0;
}

static int put(const char *text)
{
	for (int i = 0; i < file_count; i++)
		if (pwrite(files[i], text, strlen(text), 0) < 0)
			return -errno;
	return 0;
}

static int open_of_each_cpu(const struct cpulist *cpus, const char *name)
{
	char path[128];
	int error = 0;

	for (int cpu = 0; !error && cpu < CPULIST_MAX; cpu++) {
		if (!cpus->has[cpu])
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);
		error = open_file(path);
	}
	return error;
}

static int prepare_conventional(const struct cpulist *cpus)
{
	return open_of_each_cpu(cpus, "online");
}

/* Only for this way: the others are measured on a kernel in which it is off. */
static int switch_on(void)
{
	int error = read_text(SWITCH, switch_was, sizeof(switch_was));

	return error ? error : write_text(SWITCH, "1");
}

static int prepare_pseudo(const struct cpulist *cpus)
{
	int error = switch_on();

	return error ? error : open_of_each_cpu(cpus, "pseudo_online");
}

/* One file for all: all CPUs go at once. */
static int prepare_pseudo_list(const struct cpulist *cpus)
{
	int error = switch_on();

	(void)cpus;
	return error ? error : open_file(CPU_DIR "/pseudo_offline");
}

static int out_list(void)
{
	return put(list);
}

static int in_list(void)
{
	return put("\n");
}

static int prepare_partition(const struct cpulist *cpus)
{
	int error = write_text(CGROUPS "/cgroup.subtree_control", "+cpuset");

	(void)cpus;
	if (!error && mkdir(GROUP, 0755) && errno != EEXIST)
		error = -errno;
	if (!error)
		error = write_text(GROUP "/cpuset.cpus", list);
	return error ? error : open_file(GROUP "/cpuset.cpus.partition");
}

static cpu_set_t everywhere, elsewhere;
static char everywhere_list[CPULIST_TEXT], elsewhere_list[CPULIST_TEXT];

static void for_each_number(const char *folder, bool out, void (*act)(const char *name, bool out))
{
	DIR *all = opendir(folder);
	struct dirent *entry;

	if (!all)
		return;
	while ((entry = readdir(all)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			act(entry->d_name, out);
	closedir(all);
}

static void move_task(const char *name, bool out)
{
	if (sched_setaffinity(atoi(name), sizeof(elsewhere), out ? &elsewhere : &everywhere))
		refused++;
}

static void move_process(const char *name, bool out)
{
	char folder[300];

	snprintf(folder, sizeof(folder), "/proc/%s/task", name);
	for_each_number(folder, out, move_task);
}

static void move_interrupt(const char *name, bool out)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/irq/%s/smp_affinity_list", name);
	if (write_text(path, out ? elsewhere_list : everywhere_list))
		refused++;
}

static int move_all(bool out)
{
	refused = 0;
	for_each_number("/proc", out, move_process);
	for_each_number("/proc/irq", out, move_interrupt);
	return 0;
}

static int out_affinity(void)
{
	return move_all(true);
}

static int in_affinity(void)
{
	return move_all(false);
}

static uint64_t mask_of(const cpu_set_t *set)
{
	uint64_t cpus = 0;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (CPU_ISSET(cpu, set))
			cpus |= 1ULL << cpu;
	return cpus;
}

static int prepare_affinity(const struct cpulist *cpus)
{
	if (sched_getaffinity(0, sizeof(everywhere), &everywhere))
		return -errno;
	elsewhere = everywhere;
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (cpus->has[cpu])
			CPU_CLR(cpu, &elsewhere);
	if (!CPU_COUNT(&elsewhere))
		return -EBUSY;
	cpulist_text(mask_of(&everywhere), everywhere_list);
	cpulist_text(mask_of(&elsewhere), elsewhere_list);
	return 0;
}

static int nothing(void)
{
	return 0;
}

static int prepare_nothing(const struct cpulist *cpus)
{
	(void)cpus;
	return 0;
}

static const struct way ways[] = {
	{.name = "conventional", .prepare = prepare_conventional, .text_out = "0", .text_in = "1"},
	{.name = "pseudo", .prepare = prepare_pseudo, .text_out = "0", .text_in = "1"},
	{.name = "partition",
	 .prepare = prepare_partition,
	 .text_out = "isolated",
	 .text_in = "member"},
	{.name = "affinity", .prepare = prepare_affinity, .out = out_affinity, .in = in_affinity},
	{.name = "none", .prepare = prepare_nothing, .out = nothing, .in = nothing},
};

static const struct way pseudo_list = {
	.name = "pseudo",
	.prepare = prepare_pseudo_list,
	.out = out_list,
	.in = in_list,
	.text_out = list,
	.text_in = "",
};

static const struct way *find(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

bool cpu_out_is_way(const char *name)
{
	return find(name);
}

int cpu_out_prepare(const char *name, const struct cpulist *cpus)
{
	way = find(name);
	if (!way || !cpus->count)
		return -EINVAL;
	if (way->prepare == prepare_pseudo && cpus->count > 1)
		way = &pseudo_list;
	cpulist_text(cpulist_mask(cpus), list);
	return way->prepare(cpus);
}

int cpu_out(void)
{
	return way->out ? way->out() : put(way->text_out);
}

int cpu_in(void)
{
	return way->in ? way->in() : put(way->text_in);
}

int cpu_out_check(bool out)
{
	const char *text = out ? way->text_out : way->text_in;
	char now[256];

	for (int i = 0; text && i < file_count; i++) {
		ssize_t length = pread(files[i], now, sizeof(now) - 1, 0);

		if (length < 0)
			return -errno;
		now[length] = '\0';
		now[strcspn(now, "\n")] = '\0';
		if (strcmp(now, text) != 0)
			return -EPROTO;
	}
	return 0;
}

int cpu_out_finish(void)
{
	while (file_count)
		close(files[--file_count]);
	if (switch_was[0])
		return write_text(SWITCH, switch_was);
	return way->prepare == prepare_partition && rmdir(GROUP) ? -errno : 0;
}

unsigned int cpu_out_refused(void)
{
	return refused;
}
