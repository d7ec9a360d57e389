// SPDX-License-Identifier: BSD-3-Clause
#include "traffic.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a connection that nothing has come on yet: what an Ethernet carries. */
#define SIZE_UNKNOWN 1448.0

static double size_of(const struct lull_eanem_socket *socket)
{
	return socket->last.packets ? (double)socket->last.mean / 1e3 : SIZE_UNKNOWN;
}

static double bytes_of(const struct lull_eanem_socket *socket)
{
	if (socket->target)
		return (double)socket->target;
	return socket->interval_ns ? (double)socket->last.bytes * 1e9 / (double)socket->interval_ns
				   : 0;
}

static bool is_known(const struct traffic *traffic, uint32_t thread)
{
	for (size_t i = 0; i < traffic->thread_count; i++)
		if (traffic->threads[i] == thread)
			return true;
	return false;
}

void traffic_add_process(struct traffic *traffic, uint32_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	if (!pid || is_known(traffic, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)) &&
	       traffic->thread_count < LULL_EANEM_THREADS_MOST)
		if (isdigit((unsigned char)entry->d_name[0]))
			traffic->threads[traffic->thread_count++] =
				(uint32_t)strtoul(entry->d_name, NULL, 10);
	if (folder)
		closedir(folder);
}

void traffic_sum(const struct lull_eanem_socket *sockets, size_t count, struct traffic *traffic)
{
	*traffic = (struct traffic){0};
	for (size_t i = 0; i < count; i++) {
		double bytes_s = bytes_of(&sockets[i]), size = size_of(&sockets[i]);

		if (bytes_s <= 0 || size <= 0)
			continue;
		traffic->bytes_s += bytes_s;
		traffic->packets_s += bytes_s / size;
		traffic_add_process(traffic, sockets[i].pid);
	}
}
