// SPDX-License-Identifier: BSD-3-Clause
/*
 * The manager of the energy-aware network stack: brings packet processing to the cores, and them to
 * the frequency, that need the least power for the connections' targets, and then applications with
 * heartbeats to what is left. Each decision is a JSON line on stdout. The manager is a child. What
 * it has changed comes back when it ends, however it ends: the kernel takes back what it steers,
 * and the parent the rest.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "manager.h"
#include "options.h"

static const char usage[] =
	"usage: eanemd --model FILE [--interval-us N] [--room PERCENT] [--saves PERCENT]\n"
	"              [--patience N] [--socket PATH] [--users root|all] [--beats N] [--reach N]\n"
	"              [--rest N]\n"
	"  --room: of the cores' time that packets may take\n"
	"  --saves: of the power, for which it is worth to move\n"
	"  --patience: intervals, or rates, in a row that something else has to be better\n"
	"  --users: whose applications may say how fast they have to be\n"
	"  --beats: that a rate is made of\n"
	"  --reach: steps of a core or an operating point that a search goes\n"
	"  --rest: intervals after a search that found nothing\n";

static const char *file, *path = HEARTBEAT_SOCKET, *users = "root";
static uint64_t interval_us = 100000, room = 80, saves = 10, patience = 3, beats = 16, reach = 8,
		rest = 16;

static const struct option_to options[] = {
	{.name = "model", .text = &file},
	{.name = "interval-us", .number = &interval_us, .least = 1000, .most = 10000000},
	{.name = "room", .number = &room, .least = 1, .most = 100},
	{.name = "saves", .number = &saves, .most = 100},
	{.name = "patience", .number = &patience, .least = 1, .most = 1000},
	{.name = "socket", .text = &path},
	{.name = "users", .text = &users},
	{.name = "beats", .number = &beats, .least = 1, .most = 1000000},
	{.name = "reach", .number = &reach, .least = 1, .most = 100},
	{.name = "rest", .number = &rest, .most = 1000},
	{0},
};

/* Intervals that nobody is waited for any longer: second.h. */
#define LONGEST 50

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

	if (!file || (strcmp(users, "root") && strcmp(users, "all")))
		return fputs(usage, stderr), 2;
	if (!from)
		return fail(file, -errno);
	wrong = model_read(from, model);
	fclose(from);
	if (wrong)
		fprintf(stderr, "eanemd: %s:%d: not a line of a model; see model.h\n", file, wrong);
	return wrong ? 2 : 0;
}

static int manage(struct manager *manager)
{
	uint64_t next;
	int error = eanem_open(&manager->eanem);

	if (error)
		return fail("the kernel's eanem", error);
	error = hearts_open(&manager->hearts, path, !strcmp(users, "all"));
	if (error) {
		eanem_close(&manager->eanem);
		if (error != -EEXIST)
			return fail(path, error);
		fprintf(stderr,
			"eanemd: --socket: %s is there and is no socket; name another path\n",
			path);
		return 1;
	}
	for (next = clock_ns(); !over && !error;) {
		error = manager_step(manager);
		/*
		 * Intervals that it was late for are not made up for: on its CPU, workers that
		 * change the clock have a lower priority, and need the time in which it sleeps.
		 */
		next += interval_us * 1000;
		if (next < clock_ns())
			next = clock_ns() + interval_us * 1000;
		clock_sleep_until(next);
	}
	hearts_close(&manager->hearts, path);
	eanem_close(&manager->eanem);
	return error ? fail("managing", error) : 0;
}

/* On CPUs that are all busy, it would otherwise be late for its intervals. */
static void be_in_time(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		fprintf(stderr, "eanemd: no real-time priority: %s\n", strerror(errno));
}

/* The child: until a signal. If its parent has gone, it puts back itself what it has changed. */
static int run(struct manager *manager, pid_t parent)
{
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t none;
	int status;

	sigemptyset(&none);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &none, NULL);
	be_in_time();
	status = getppid() == parent ? manage(manager) : 1;
	if (getppid() != parent)
		place_back(manager->place, &manager->model);
	return status;
}

/* The parent: passes signals on, and puts back what the child has changed. */
static int guard(struct manager *manager, pid_t child, const sigset_t *signals)
{
	int number, status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		number = sigwaitinfo(signals, NULL);
		if (number == SIGTERM || number == SIGINT)
			kill(child, SIGTERM);
	}
	place_back(manager->place, &manager->model);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	hearts_remove(path);
	fprintf(stderr, "eanemd: %s; what it had changed is back\n", strsignal(WTERMSIG(status)));
	return 1;
}

int main(int argc, char **argv)
{
	static struct manager manager = {.is_told = true};
	pid_t parent = getpid(), child;
	sigset_t signals;
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	manager.first.options = (struct first_options){(double)room / 100, (double)saves / 100,
						       (unsigned int)patience};
	manager.second.options = (struct second_options){.beats = beats,
							 .longest = LONGEST,
							 .patience = (unsigned int)patience,
							 .saves = (double)saves / 100,
							 .rest = (unsigned int)rest,
							 .reach = (int)reach};
	error = read_model(&manager.model);
	if (error)
		return error;
	manager.place = place_make(&manager.model);
	if (!manager.place)
		return fail("memory", -ENOMEM);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	child = fork();
	if (child < 0)
		return fail("a child", -errno);
	return child ? guard(&manager, child, &signals) : run(&manager, parent);
}
