// SPDX-License-Identifier: BSD-3-Clause
/*
 * The manager of the energy-aware network stack: brings packet processing to the cores, and them to
 * the frequency, that need the least power for the connections' targets. Each decision is a JSON
 * line on stdout. The kernel takes everything back when the daemon ends, however it ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "eanem.h"
#include "jsonl.h"
#include "mapping.h"
#include "model.h"
#include "options.h"
#include "traffic.h"

#define SOCKETS 256

static const char usage[] =
	"usage: eanemd --model FILE [--interval-us N] [--room PERCENT] [--saves PERCENT]\n"
	"              [--patience N]\n"
	"  --room: of the cores' time that packets may take\n"
	"  --saves: of the power, for which it is worth to move\n"
	"  --patience: intervals in a row that something else has to be better\n";

static const char *file;
static uint64_t interval_us = 100000, room = 80, saves = 10, patience = 3;

static const struct option_to options[] = {
	{.name = "model", .text = &file},
	{.name = "interval-us", .number = &interval_us, .least = 1000, .most = 10000000},
	{.name = "room", .number = &room, .least = 1, .most = 100},
	{.name = "saves", .number = &saves, .most = 100},
	{.name = "patience", .number = &patience, .least = 1, .most = 1000},
	{0},
};

static volatile sig_atomic_t over;

static void on_signal(int number)
{
	(void)number;
	over = 1;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "eanemd: %s: %s\n", what, strerror(-error));
	return 1;
}

static int read_model(struct model *model)
{
	FILE *from = file ? fopen(file, "r") : NULL;
	int wrong;

	if (!file)
		return fputs(usage, stderr), 2;
	if (!from)
		return fail(file, -errno);
	wrong = model_read(from, model);
	fclose(from);
	if (wrong)
		fprintf(stderr, "eanemd: %s:%d: not a line of a model; see model.h\n", file, wrong);
	return wrong ? 2 : 0;
}

static void tell(const char *why, const struct model *model, const struct traffic *traffic,
		 const struct mapping *mapping)
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "ns", (int64_t)clock_ns());
	jsonl_string(&line, "why", why);
	jsonl_real(&line, "packets_s", traffic->packets_s);
	jsonl_real(&line, "bytes_s", traffic->bytes_s);
	jsonl_int(&line, "threads", (int64_t)traffic->thread_count);
	if (mapping) {
		jsonl_string(&line, "cluster", model->clusters[mapping->cluster].name);
		jsonl_int(&line, "cores", mapping->cores);
		jsonl_int(&line, "mhz", mapping->opp.mhz);
		jsonl_real(&line, "watts", mapping->watts);
	}
	jsonl_end(&line);
	fflush(stdout);
}

static int apply(struct eanem *eanem, const struct model *model, const struct traffic *traffic,
		 const struct mapping *mapping)
{
	unsigned int first = model->clusters[mapping->cluster].first_cpu;
	char cpus[32];

	snprintf(cpus, sizeof(cpus), "%u-%u", first, first + mapping->cores - 1);
	return eanem_steer(eanem, cpus, mapping->opp.mhz * 1000, traffic->threads,
			   traffic->thread_count);
}

/* The threads of the traffic, or how many there are, may have changed. */
static bool same_threads(const struct traffic *one, const struct traffic *other)
{
	return one->thread_count == other->thread_count &&
	       !memcmp(one->threads, other->threads, one->thread_count * sizeof(one->threads[0]));
}

/* What is in force. */
struct state {
	struct mapping mapping;
	struct traffic traffic;
	bool steers;
	unsigned int better;
};

static const char *reason(const struct model *model, const struct state *state,
			  const struct traffic *traffic, const struct mapping *best, bool enough)
{
	if (!state->steers)
		return "traffic began";
	if (!enough)
		return "nothing suffices";
	if (mapping_stays(model, &state->mapping, best, traffic->packets_s, (double)saves / 100))
		return same_threads(&state->traffic, traffic) ? NULL : "other threads";
	/* Too little is mended at once. */
	if (!mapping_stays(model, &state->mapping, best, traffic->packets_s, 1))
		return "too little";
	return state->better + 1 >= patience ? "less power" : "";
}

static int decide(struct eanem *eanem, const struct model *model, struct state *state)
{
	static struct lull_eanem_socket sockets[SOCKETS];
	struct traffic traffic;
	struct mapping best;
	size_t count = SOCKETS;
	const char *why;
	bool enough;
	int error = eanem_sockets(eanem, sockets, &count);

	if (error)
		return error;
	traffic_sum(sockets, count, &traffic);
	if (traffic.packets_s <= 0) {
		if (state->steers)
			tell("traffic ended", model, &traffic, NULL);
		error = state->steers ? eanem_steer(eanem, "", 0, NULL, 0) : 0;
		*state = (struct state){0};
		return error;
	}
	enough = mapping_choose(model, traffic.packets_s, (double)room / 100, &best);
	why = reason(model, state, &traffic, &best, enough);
	state->better = why && !*why ? state->better + 1 : 0;
	if (!why || !*why)
		return 0;
	if (state->steers && !strcmp(why, "other threads"))
		best = state->mapping;
	/* The same although it does not suffice: told once. */
	if (state->steers && !enough && same_threads(&state->traffic, &traffic) &&
	    !memcmp(&best.opp, &state->mapping.opp, sizeof(best.opp)) &&
	    best.cluster == state->mapping.cluster && best.cores == state->mapping.cores)
		return 0;
	error = apply(eanem, model, &traffic, &best);
	/* A thread that has ended meanwhile is not there the next time. */
	if (error == -ESRCH)
		return 0;
	if (error)
		return error;
	*state = (struct state){.mapping = best, .traffic = traffic, .steers = true};
	tell(why, model, &traffic, &best);
	return 0;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct state state = {0};
	struct eanem eanem;
	struct model model;
	uint64_t next;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	error = read_model(&model);
	if (error)
		return error;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	error = eanem_open(&eanem);
	if (error)
		return fail("the kernel's eanem", error);
	for (next = clock_ns(); !over && !error; next += interval_us * 1000) {
		error = decide(&eanem, &model, &state);
		clock_sleep_until(next + interval_us * 1000);
	}
	eanem_close(&eanem);
	return error ? fail("managing", error) : 0;
}
