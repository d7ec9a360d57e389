// SPDX-License-Identifier: BSD-3-Clause
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "tell.h"

/* The packets that the first level decided for. */
static struct search_net net_of(const struct manager *manager)
{
	const struct mapping *mapping = &manager->first.mapping;
	const struct model_cluster *cluster = &manager->model.clusters[mapping->cluster];

	if (!manager->first.steers)
		return (struct search_net){0};
	return (struct search_net){
		.is_there = true,
		.cluster = mapping->cluster,
		.opp = search_opp(cluster, mapping->opp.mhz),
		.cores = mapping->cores,
		.packets_s = manager->first.traffic.packets_s,
		.room = manager->first.options.room,
	};
}

/* Workers of the kernel change them, later. Where no CPU is in use, any clock will do. */
static bool clocks_in_force(const struct manager *manager)
{
	const struct first *first = &manager->first;
	const struct search_state *state = &manager->second.state;

	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		bool used = state->cores[i] || (first->steers && first->mapping.cluster == i);
		const struct model_opp *opp = &manager->model.clusters[i].opps[state->opp[i]];

		if (used && !place_has_frequency(manager->place, i, opp->mhz))
			return false;
	}
	return true;
}

static const char *second_level(struct manager *manager)
{
	const struct search_net net = net_of(manager);
	struct second_app apps[SECOND_APPS];
	bool in_force = !manager->second.settling || clocks_in_force(manager);
	int count = 0;

	hearts_look(&manager->hearts);
	for (int i = 0; i < manager->hearts.count && count < SECOND_APPS; i++) {
		const struct heart *heart = &manager->hearts.list[i];

		if (heart->page)
			apps[count++] = (struct second_app){heart->id, heart->beats, heart->least,
							    heart->most, heart->threads};
	}
	return second_step(&manager->second, &manager->model, &net, apps, count, in_force,
			   clock_ns());
}

static int steer(struct manager *manager)
{
	const struct first *first = &manager->first;
	const struct second *second = &manager->second;
	const struct model_cluster *cluster = &manager->model.clusters[first->mapping.cluster];
	unsigned int cores = first->mapping.cores, mhz = first->mapping.opp.mhz;
	uint32_t threads[LULL_EANEM_THREADS_MOST];
	size_t count = first->traffic.thread_count;
	char cpus[CPULIST_TEXT];

	if (!first->steers)
		return eanem_steer(&manager->eanem, "", 0, NULL, 0);
	if (second->manages) {
		cores = second->net_cores;
		mhz = cluster->opps[second->state.opp[first->mapping.cluster]].mhz;
	}
	cpulist_text(model_cpus(cluster, 0, cores), cpus);
	memcpy(threads, first->traffic.threads, count * sizeof(threads[0]));
	/* Elsewhere the manager would wake a cluster that nobody else needs. */
	threads[count++] = (uint32_t)gettid();
	return eanem_steer(&manager->eanem, cpus, mhz * 1000, threads, count);
}

/* Beside packets, which have the first CPUs of their cluster. */
static uint64_t apps_cpus(const struct manager *manager)
{
	const struct second *second = &manager->second;
	uint64_t cpus = 0;

	for (int i = 0; i < MODEL_CLUSTERS; i++) {
		bool has_net = manager->first.steers && manager->first.mapping.cluster == i;

		cpus |= model_cpus(&manager->model.clusters[i], has_net ? second->net_cores : 0,
				   second->state.cores[i]);
	}
	return cpus;
}

/* The kernel has the threads that are steered, and gives them back to where they were before. */
static void place_apps(struct manager *manager)
{
	const struct traffic *traffic = &manager->first.traffic;
	size_t steered = manager->first.steers ? traffic->thread_count : 0;
	uint64_t cpus = apps_cpus(manager);
	pid_t pids[HEARTS_MOST];
	int count = 0;

	for (int i = 0; i < manager->hearts.count; i++)
		if (manager->hearts.list[i].page)
			pids[count++] = manager->hearts.list[i].pid;
	place_keep(manager->place, pids, count, traffic->threads, steered);
	for (int i = 0; i < count && cpus; i++)
		place_process(manager->place, pids[i], cpus, traffic->threads, steered);
}

/*
 * The kernel holds the frequency of the packets' cluster, and sysfs that of the other one. A
 * cluster without a CPU that is online takes none.
 */
static int hold_frequencies(struct manager *manager, bool before)
{
	const struct first *first = &manager->first;
	const struct second *second = &manager->second;
	int error = 0;

	for (int i = 0; i < MODEL_CLUSTERS && !error; i++) {
		const struct model_cluster *cluster = &manager->model.clusters[i];
		bool ours = second->manages && !(first->steers && first->mapping.cluster == i);
		const struct model_opp *opp = &cluster->opps[second->state.opp[i]];

		if (cluster->cpus && (ours ? !before : before))
			error = place_frequency(manager->place, &manager->model, i,
						ours ? opp->mhz : 0);
	}
	return error;
}

static int apply(struct manager *manager)
{
	int error = hold_frequencies(manager, true);

	if (!error)
		error = steer(manager);
	/* A thread that has ended meanwhile is not there the next time. */
	manager->is_told = error != -ESRCH;
	if (error && error != -ESRCH)
		return error;
	place_apps(manager);
	return hold_frequencies(manager, false);
}

/* Whether other CPUs are online than before: what is in force is then told to the kernel again. */
static bool look_at_cpus(struct manager *manager)
{
	if (!model_set_online(&manager->model, place_online(manager->place)))
		return false;
	manager->is_told = false;
	return true;
}

int manager_step(struct manager *manager)
{
	struct traffic traffic;
	struct lull_eanem_cpu cpu;
	const char *first, *second;
	size_t count = 1;
	int error;

	traffic_begin(&traffic);
	error = eanem_each_busy(&manager->eanem, traffic_add, &traffic);
	if (error)
		return error;
	/* Of sockets that are silent nobody tells. */
	if (!traffic.interval && !eanem_cpus(&manager->eanem, &cpu, &count) && count)
		traffic.interval = cpu.interval;
	traffic_end(&traffic);
	look_at_cpus(manager);
	first = first_step(&manager->first, &manager->model, &traffic);
	second = second_level(manager);
	if (!first && !second && manager->is_told)
		return 0;
	/* Those of an earlier interval may have ended, and others may have their numbers. */
	first_take_threads(&manager->first, &traffic);
	error = apply(manager);
	/* A CPU that has gone meanwhile is not there the next time. */
	if (error && !look_at_cpus(manager))
		return error;
	if (first)
		tell_first(stdout, first, manager, &traffic);
	if (second)
		tell_second(stdout, second, manager);
	return 0;
}
