// SPDX-License-Identifier: BSD-3-Clause
#include "traffic.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static double bytes_of(const struct lull_eanem_socket *socket)
{
	double came, most;

	if (!socket->interval_ns)
		return 0;
	came = (double)socket->last.bytes * 1e9 / (double)socket->interval_ns;
	most = came * TRAFFIC_FACTOR;
	if (!socket->target)
		return came;
	return (double)socket->target < most ? (double)socket->target : most;
}

/* The process's place; that of the one with the least traffic, if this one has more. */
static struct traffic_process *place_of(struct traffic *traffic, uint32_t pid, double bytes_s)
{
	struct traffic_process *least = NULL;

	for (size_t i = 0; i < traffic->process_count; i++) {
		struct traffic_process *process = &traffic->processes[i];

		if (process->pid == pid)
			return process;
		if (!least || process->bytes_s < least->bytes_s)
			least = process;
	}
	if (traffic->process_count < TRAFFIC_PROCESSES) {
		least = &traffic->processes[traffic->process_count++];
	} else {
		traffic->left_out++;
		if (least->bytes_s >= bytes_s)
			return NULL;
	}
	*least = (struct traffic_process){.pid = pid};
	return least;
}

void traffic_begin(struct traffic *traffic)
{
	*traffic = (struct traffic){0};
}

void traffic_add(const struct lull_eanem_socket *socket, void *to)
{
	double bytes_s = bytes_of(socket), size = (double)socket->last.mean / 1e3;
	struct traffic *traffic = to;
	struct traffic_process *process;

	traffic->interval = socket->interval;
	if (bytes_s <= 0 || size <= 0)
		return;
	traffic->bytes_s += bytes_s;
	traffic->packets_s += bytes_s / size;
	process = socket->pid ? place_of(traffic, socket->pid, bytes_s) : NULL;
	if (process)
		process->bytes_s += bytes_s;
}

static int by_bytes(const void *one, const void *other)
{
	const struct traffic_process *first = one, *second = other;

	if (first->bytes_s != second->bytes_s)
		return first->bytes_s < second->bytes_s ? 1 : -1;
	return first->pid < second->pid ? -1 : first->pid > second->pid;
}

static void add_threads(struct traffic *traffic, uint32_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (traffic->thread_count == TRAFFIC_THREADS)
			traffic->left_out++;
		else
			traffic->threads[traffic->thread_count++] =
				(uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (folder)
		closedir(folder);
}

void traffic_end(struct traffic *traffic)
{
	qsort(traffic->processes, traffic->process_count, sizeof(traffic->processes[0]), by_bytes);
	for (size_t i = 0; i < traffic->process_count; i++)
		add_threads(traffic, traffic->processes[i].pid);
}
