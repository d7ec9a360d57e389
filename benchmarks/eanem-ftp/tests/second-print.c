// SPDX-License-Identifier: BSD-3-Clause
/*
 * second-print MODEL: what the second level answers to lines on stdin.
 *   options BEATS LONGEST PATIENCE SAVES REST REACH
 *   net CLUSTER OPP CORES PACKETS ROOM, or net -1
 *   threads N                             for best
 *   now|slow LITTLE BIG LITTLE_OPP BIG_OPP  for best
 *   app RATE AIM                          for best
 *   best
 *   hear ID BEATS LEAST MOST THREADS      for step
 *   clocks IN_FORCE                       for all steps from now on
 *   online CPUS                           a mask, for all that comes from now on
 *   step NS
 */
#include <stdio.h>
#include <string.h>

#include "../second.h"

static struct model model;
static struct search_net net;
static struct second second;
static struct search_state now, slow[SECOND_SLOW];
static struct search_app apps[SECOND_APPS];
static struct second_app heard[SECOND_APPS];
static int app_count, slow_count, heard_count;
static unsigned int threads = 1, in_force = 1;

static void print_state(const struct search_state *state)
{
	printf("%u %u %d %d", state->cores[0], state->cores[1], state->opp[0], state->opp[1]);
}

static void best(void)
{
	const struct search search = {.model = &model,
				      .net = net,
				      .threads = threads,
				      .reach = second.options.reach,
				      .slow = slow,
				      .slow_count = slow_count};
	struct search_state found;
	bool enough = search_best(&search, &now, apps, app_count, &found);

	printf("%d ", enough);
	print_state(&found);
	printf(" %.9g %.9g %u\n", search_watts(&search, &found),
	       search_reached(&search, &now, &found, apps, app_count),
	       search_net_cores(&search, &found));
	app_count = slow_count = 0;
}

static void step(uint64_t ns)
{
	const char *why = second_step(&second, &model, &net, heard, heard_count, in_force, ns);

	printf("%s|%d|", why ? why : "-", second.manages);
	print_state(&second.state);
	printf("|%u|", second.net_cores);
	for (int i = 0; i < second.slow_count; i++) {
		printf("%s", i ? "," : "");
		print_state(&second.slow[i]);
	}
	printf("\n");
	fflush(stdout);
	heard_count = 0;
}

static int state_of(const char *line, struct search_state *state)
{
	return sscanf(line, "%*s %u %u %d %d", &state->cores[0], &state->cores[1], &state->opp[0],
		      &state->opp[1]) == 4;
}

static int take(const char *line)
{
	struct second_options *options = &second.options;
	struct second_app *app = &heard[heard_count];
	unsigned long long one, other;
	int cluster;

	if (sscanf(line, "options %llu %u %u %lf %u %d", &one, &options->longest,
		   &options->patience, &options->saves, &options->rest, &options->reach) == 6) {
		options->beats = one;
		return 1;
	}
	if (sscanf(line, "net %d %d %u %lf %lf", &cluster, &net.opp, &net.cores, &net.packets_s,
		   &net.room) >= 1) {
		net.is_there = cluster >= 0;
		net.cluster = net.is_there ? cluster : 0;
		return 1;
	}
	if (sscanf(line, "hear %llu %llu %lf %lf %u", &one, &other, &app->least, &app->most,
		   &app->threads) == 5 &&
	    heard_count < SECOND_APPS - 1) {
		app->id = one;
		app->beats = other;
		return ++heard_count;
	}
	if (sscanf(line, "app %lf %lf", &apps[app_count].rate, &apps[app_count].aim) == 2 &&
	    app_count < SECOND_APPS - 1)
		return ++app_count;
	if (!strncmp(line, "slow ", 5) && slow_count < SECOND_SLOW)
		return state_of(line, &slow[slow_count++]);
	if (!strncmp(line, "now ", 4))
		return state_of(line, &now);
	if (sscanf(line, "online %llx", &one) == 1)
		return model_set_online(&model, one), 1;
	if (!strcmp(line, "best\n"))
		return best(), 1;
	if (sscanf(line, "step %llu", &one) == 1)
		return step(one), 1;
	return sscanf(line, "threads %u", &threads) == 1 ||
	       sscanf(line, "clocks %u", &in_force) == 1;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	int wrong = file ? model_read(file, &model) : -1;
	char line[256];

	if (file)
		fclose(file);
	while (!wrong && fgets(line, sizeof(line), stdin))
		wrong = !take(line);
	if (wrong)
		fprintf(stderr, "second-print: wrong model or line\n");
	return !!wrong;
}
