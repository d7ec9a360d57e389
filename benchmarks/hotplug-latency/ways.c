// SPDX-License-Identifier: BSD-3-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sysfs.h"
#include "ways.h"

#define GROUP "/sys/fs/cgroup/hotplug-latency"

static int file = -1;
static unsigned int refused;

static int open_file(const char *path)
{
	file = open(path, O_RDWR | O_CLOEXEC);
	return file < 0 ? -errno : 0;
}

static int put(const char *text)
{
	ssize_t done = pwrite(file, text, strlen(text), 0);

	return done < 0 ? -errno : 0;
}

static int close_file(void)
{
	close(file);
	file = -1;
	return 0;
}

/* `conventional` and `pseudo`: a file of the CPU that takes 0 and 1. */
static int open_of_cpu(int cpu, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);
	return open_file(path);
}

static int prepare_conventional(int cpu)
{
	return open_of_cpu(cpu, "online");
}

static int prepare_pseudo(int cpu)
{
	return open_of_cpu(cpu, "pseudo_online");
}

static int put_0(void)
{
	return put("0");
}

static int put_1(void)
{
	return put("1");
}

/* `partition`: the CPU is alone in an isolated cpuset partition, without tasks. */
static int prepare_partition(int cpu)
{
	char number[16];
	int error = write_text("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset");

	if (!error && mkdir(GROUP, 0755) && errno != EEXIST)
		error = -errno;
	snprintf(number, sizeof(number), "%d", cpu);
	if (!error)
		error = write_text(GROUP "/cpuset.cpus", number);
	return error ? error : open_file(GROUP "/cpuset.cpus.partition");
}

/* The kernel takes the word of a partition that it cannot make, and then says that it is invalid.
 */
static int out_partition(void)
{
	return put("isolated");
}

static int in_partition(void)
{
	return put("member");
}

static int finish_partition(void)
{
	close_file();
	return rmdir(GROUP) ? -errno : 0;
}

/* `affinity`: what `taskset` and the files of /proc/irq can do, for all tasks and interrupts. */
static cpu_set_t everywhere, elsewhere;

static void for_each_number(const char *folder, void (*act)(const char *name, bool out), bool out)
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
	/* A task that has ended meanwhile, or may not move, stays as it is. */
	if (sched_setaffinity(atoi(name), sizeof(elsewhere), out ? &elsewhere : &everywhere))
		refused++;
}

static void move_process(const char *name, bool out)
{
	char folder[300];

	snprintf(folder, sizeof(folder), "/proc/%s/task", name);
	for_each_number(folder, move_task, out);
}

static char elsewhere_list[64], everywhere_list[64];

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
	for_each_number("/proc", move_process, out);
	for_each_number("/proc/irq", move_interrupt, out);
	return 0;
}

static int prepare_affinity(int cpu)
{
	int last = (int)sysconf(_SC_NPROCESSORS_CONF) - 1;

	if (sched_getaffinity(1, sizeof(everywhere), &everywhere))
		return -errno;
	elsewhere = everywhere;
	CPU_CLR(cpu, &elsewhere);
	snprintf(everywhere_list, sizeof(everywhere_list), "0-%d", last);
	if (!cpu)
		snprintf(elsewhere_list, sizeof(elsewhere_list), "1-%d", last);
	else if (cpu == last)
		snprintf(elsewhere_list, sizeof(elsewhere_list), "0-%d", last - 1);
	else
		snprintf(elsewhere_list, sizeof(elsewhere_list), "0-%d,%d-%d", cpu - 1, cpu + 1,
			 last);
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

static int nothing(void)
{
	return 0;
}

static int prepare_nothing(int cpu)
{
	(void)cpu;
	return 0;
}

static const struct way ways[] = {
	{"conventional", prepare_conventional, put_0, put_1, "0", "1", close_file},
	{"pseudo", prepare_pseudo, put_0, put_1, "0", "1", close_file},
	{"partition", prepare_partition, out_partition, in_partition, "isolated", "member",
	 finish_partition},
	{"affinity", prepare_affinity, out_affinity, in_affinity, NULL, NULL, nothing},
	{"none", prepare_nothing, nothing, nothing, NULL, NULL, nothing},
};

const struct way *way_of(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

int way_check(const char *says)
{
	char now[64];
	ssize_t length;

	if (!says)
		return 0;
	length = pread(file, now, sizeof(now) - 1, 0);
	if (length < 0)
		return -errno;
	now[length] = '\0';
	now[strcspn(now, "\n")] = '\0';
	return strcmp(now, says) ? -EPROTO : 0;
}

unsigned int ways_refused(void)
{
	return refused;
}
