// SPDX-License-Identifier: BSD-3-Clause
#include "tell.h"

#include "clock.h"
#include "jsonl.h"

static void begin(struct jsonl *line, FILE *out, int level, const char *why)
{
	jsonl_begin(line, out);
	jsonl_int(line, "ns", (int64_t)clock_ns());
	jsonl_int(line, "level", level);
	jsonl_string(line, "why", why);
}

static void end(struct jsonl *line, FILE *out)
{
	jsonl_end(line);
	fflush(out);
}

void tell_first(FILE *out, const char *why, const struct manager *manager,
		const struct traffic *traffic)
{
	const struct mapping *mapping = &manager->first.mapping;
	struct jsonl line;

	begin(&line, out, 1, why);
	jsonl_real(&line, "packets_s", traffic->packets_s);
	jsonl_real(&line, "bytes_s", traffic->bytes_s);
	jsonl_int(&line, "threads", (int64_t)traffic->thread_count);
	if (traffic->left_out)
		jsonl_int(&line, "threads_left_out", (int64_t)traffic->left_out);
	if (manager->first.steers) {
		jsonl_string(&line, "cluster", manager->model.clusters[mapping->cluster].name);
		jsonl_int(&line, "cores", mapping->cores);
		jsonl_int(&line, "mhz", mapping->opp.mhz);
		jsonl_real(&line, "watts", mapping->watts);
	}
	end(&line, out);
}

static void tell_apps(struct jsonl *line, const struct manager *manager)
{
	const struct second *second = &manager->second;

	jsonl_array(line, "applications");
	for (int i = 0; i < manager->hearts.count; i++) {
		const struct heart *heart = &manager->hearts.list[i];

		if (!heart->page)
			continue;
		jsonl_object(line, NULL);
		jsonl_string(line, "name", heart->name);
		jsonl_int(line, "pid", heart->pid);
		jsonl_int(line, "threads", heart->threads);
		jsonl_real(line, "least", heart->least);
		jsonl_real(line, "most", heart->most);
		for (int k = 0; k < second->count; k++)
			if (second->apps[k].app.id == heart->id && second->apps[k].rate >= 0)
				jsonl_real(line, "rate", second->apps[k].rate);
		jsonl_close(line);
	}
	jsonl_close(line);
}

/* Where packets are too: with the second level on fewer cores than the first level had in mind. */
void tell_second(FILE *out, const char *why, const struct manager *manager)
{
	const struct second *second = &manager->second;
	struct jsonl line;

	begin(&line, out, 2, why);
	if (second->manages) {
		for (int i = 0; i < MODEL_CLUSTERS; i++) {
			const struct model_cluster *cluster = &manager->model.clusters[i];

			jsonl_object(&line, i == MODEL_LITTLE ? "little" : "big");
			jsonl_int(&line, "cores", second->state.cores[i]);
			jsonl_int(&line, "mhz", cluster->opps[second->state.opp[i]].mhz);
			jsonl_close(&line);
		}
		jsonl_int(&line, "net_cores", second->net_cores);
		jsonl_real(&line, "watts", second_watts(second, &manager->model));
		tell_apps(&line, manager);
	}
	end(&line, out);
}
