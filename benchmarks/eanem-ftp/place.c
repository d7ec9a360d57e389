// SPDX-License-Identifier: BSD-3-Clause
#include "place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpulist.h"
#include "sysfs.h"

#define CPUS CPULIST_MAX

static void policy_path(char path[96], const struct model *model, int cluster, const char *file)
{
	snprintf(path, 96, CPU_DIR "/cpu%u/cpufreq/scaling_%s_freq",
		 model->clusters[cluster].first_cpu, file);
}

static void read_limit(const struct model *model, int cluster, const char *file, char khz[16])
{
	char path[96];

	policy_path(path, model, cluster, file);
	if (read_text(path, khz, 16))
		khz[0] = '\0';
}

static int open_now(const struct model *model, int cluster)
{
	char path[96];

	policy_path(path, model, cluster, "cur");
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The limits are read here, because later they may be those that the kernel holds for packets. */
struct place *place_make(const struct model *model)
{
	void *memory = mmap(NULL, sizeof(struct place), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct place *place = memory == MAP_FAILED ? NULL : memory;

	for (int i = 0; place && i < MODEL_CLUSTERS; i++) {
		read_limit(model, i, "min", place->clusters[i].least);
		read_limit(model, i, "max", place->clusters[i].most);
		place->clusters[i].now = open_now(model, i);
	}
	if (place)
		place->online = open(CPU_DIR "/online", O_RDONLY | O_CLOEXEC);
	return place;
}

uint64_t place_online(const struct place *place)
{
	struct cpulist list;
	char text[CPULIST_TEXT];

	if (read_text_of(place->online, text, sizeof(text)) || cpulist_parse(&list, text))
		return ~0ULL;
	return cpulist_mask(&list);
}

/* The 22nd word of its stat; a name may have blanks, and ends with the last bracket. 0: none. */
static uint64_t start_of(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (read_text(path, text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	for (int word = 2; at && word < 22; word++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t get_cpus(pid_t tid)
{
	cpu_set_t set;
	uint64_t cpus = 0;

	if (sched_getaffinity(tid, sizeof(set), &set))
		return 0;
	for (int i = 0; i < CPUS; i++)
		cpus |= (uint64_t) !!CPU_ISSET(i, &set) << i;
	return cpus;
}

/* A thread that has ended meanwhile is no error. */
static void set_cpus(pid_t tid, uint64_t cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPUS; i++)
		if (cpus >> i & 1)
			CPU_SET(i, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

static bool is_known(const struct place *place, pid_t pid, pid_t tid, uint64_t start)
{
	for (int i = 0; i < place->count; i++)
		if (place->threads[i].tid == tid && place->threads[i].pid == pid &&
		    place->threads[i].start == start)
			return true;
	return false;
}

/* It is written down before it is done, so that it is undone whenever the writer dies. */
static void move(struct place *place, pid_t pid, pid_t tid, uint64_t cpus)
{
	uint64_t start = start_of(pid, tid), before = get_cpus(tid);

	if (!start || !before || before == cpus)
		return;
	if (!is_known(place, pid, tid, start)) {
		if (place->count == PLACE_THREADS)
			return;
		place->threads[place->count] = (struct place_thread){pid, tid, start, before};
		place->count++;
	}
	set_cpus(tid, cpus);
}

static bool is_among(uint32_t tid, const uint32_t *threads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (threads[i] == tid)
			return true;
	return false;
}

void place_process(struct place *place, pid_t pid, uint64_t cpus, const uint32_t *besides,
		   size_t count)
{
	int left = PLACE_OF_AN_APP;
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && left > 0 && (entry = readdir(folder))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!isdigit((unsigned char)entry->d_name[0]) || is_among(tid, besides, count))
			continue;
		move(place, pid, (pid_t)tid, cpus);
		left--;
	}
	if (folder)
		closedir(folder);
}

static void move_back(const struct place_thread *thread)
{
	if (start_of(thread->pid, thread->tid) == thread->start)
		set_cpus(thread->tid, thread->before);
}

void place_keep(struct place *place, const pid_t *pids, int count, const uint32_t *besides,
		size_t besides_count)
{
	int kept = 0;

	for (int i = 0; i < place->count; i++) {
		const struct place_thread thread = place->threads[i];
		bool stays = is_among((uint32_t)thread.tid, besides, besides_count);

		for (int k = 0; k < count; k++)
			stays |= pids[k] == thread.pid;
		if (stays)
			place->threads[kept++] = thread;
		else
			move_back(&thread);
	}
	place->count = kept;
}

int place_frequency(struct place *place, const struct model *model, int cluster, unsigned int mhz)
{
	char least[96], most[96], khz[16];
	int error;

	policy_path(least, model, cluster, "min");
	policy_path(most, model, cluster, "max");
	if (!mhz && !place->clusters[cluster].held)
		return 0;
	if (!mhz) {
		write_text(most, place->clusters[cluster].most);
		error = write_text(least, place->clusters[cluster].least);
		place->clusters[cluster].held = 0;
		return error;
	}
	if (!*place->clusters[cluster].least || !*place->clusters[cluster].most)
		return -EOPNOTSUPP;
	place->clusters[cluster].held = 1;
	snprintf(khz, sizeof(khz), "%u", mhz * 1000);
	error = write_text(most, khz);
	return error ? error : write_text(least, khz);
}

bool place_has_frequency(const struct place *place, int cluster, unsigned int mhz)
{
	uint64_t khz;

	if (read_number_of(place->clusters[cluster].now, &khz))
		return true;
	return (khz + 500) / 1000 == mhz;
}

void place_back(struct place *place, const struct model *model)
{
	place_keep(place, NULL, 0, NULL, 0);
	for (int i = 0; i < MODEL_CLUSTERS; i++)
		place_frequency(place, model, i, 0);
}
