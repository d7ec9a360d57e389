// SPDX-License-Identifier: BSD-3-Clause
/*
 * first-print MODEL PATIENCE: what the first level answers to lines on stdin.
 *   socket PID TARGET BYTES PACKETS   of an interval of 100 ms
 *   interval NUMBER                   which one it is
 *   online CPUS                       a mask, for all steps from now on
 *   step
 * Beside the sockets' threads: the process PID has one, of the same number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../first.h"

static void socket_line(struct traffic *traffic, unsigned int pid, unsigned long long target,
			unsigned long long bytes, unsigned long long packets)
{
	struct lull_eanem_socket socket = {.pid = pid, .target = target, .interval_ns = 100000000};

	socket.last.bytes = bytes;
	socket.last.packets = packets;
	socket.last.mean = packets ? bytes * 1000 / packets : 0;
	traffic_add(&socket, traffic);
}

/* No process of the host is looked at. */
static void end(struct traffic *traffic)
{
	for (size_t i = 0; i < traffic->process_count; i++)
		if (traffic->thread_count < TRAFFIC_THREADS)
			traffic->threads[traffic->thread_count++] = traffic->processes[i].pid;
}

/* Those that packets are on. */
static uint64_t cpus_of(const struct first *first, const struct model *model)
{
	const struct mapping *mapping = &first->mapping;

	return model_cpus(&model->clusters[mapping->cluster], 0, mapping->cores);
}

static void step(struct first *first, const struct model *model, struct traffic *traffic)
{
	const char *why = first_step(first, model, traffic);

	printf("%s|%d|%s %u %u|%.9g|%zu", why ? why : "-", first->steers,
	       model->clusters[first->mapping.cluster].name, first->mapping.cores,
	       first->mapping.opp.mhz, traffic->packets_s, traffic->left_out);
	printf("|%#llx|", (unsigned long long)cpus_of(first, model));
	for (size_t i = 0; i < first->traffic.thread_count; i++)
		printf("%s%u", i ? " " : "", first->traffic.threads[i]);
	printf("\n");
	traffic_begin(traffic);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	static struct first first;
	static struct traffic traffic;
	static struct model model;
	int wrong = file ? model_read(file, &model) : -1;
	unsigned long long target, bytes, packets;
	unsigned int pid;
	char line[256];

	if (file)
		fclose(file);
	if (!wrong)
		first.options = (struct first_options){0.8, 0.1, (unsigned int)atoi(argv[2])};
	while (!wrong && fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "socket %u %llu %llu %llu", &pid, &target, &bytes, &packets) == 4)
			socket_line(&traffic, pid, target, bytes, packets);
		else if (sscanf(line, "interval %llu", &bytes) == 1)
			traffic.interval = bytes;
		else if (sscanf(line, "online %llx", &bytes) == 1)
			model_set_online(&model, bytes);
		else if (!strcmp(line, "step\n"))
			end(&traffic), step(&first, &model, &traffic);
		else
			wrong = 1;
	}
	if (wrong)
		fprintf(stderr, "first-print: wrong model or line\n");
	return !!wrong;
}
