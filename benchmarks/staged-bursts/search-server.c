// SPDX-License-Identifier: BSD-3-Clause
/*
 * A search server with an open-loop client. The client sends queries at random times (Poisson) and
 * waits for no answer. The server's threads wait for a query, search an index of manual pages, and
 * note when they have the result. The server is a control group of its own; the way is what is done
 * about sleep:
 *
 *   none     nothing: a thread is woken for each query
 *   staged   the kernel holds the group's wake-ups, and releases them every period
 *   near     the same, but the group may only run on the CPUs of one socket
 *   heeded   as staged, and the stage heeds the deadlines of urgent queries
 *   shorter  as staged, and no query waits for longer than urgent ones may
 *   released as staged, but no task is sent to a CPU of its own, and CPUs do not look for tasks
 *   proxy    the client holds queries back, as the paper's proxy does on another machine
 *   packed   the group may only run on as many CPUs as it needs
 *   idle     the group has the class SCHED_IDLE (cpu.idle)
 *   capped   the group asks for slow clocks (cpu.uclamp.max)
 *   max      the group has a part of a CPU's time in each period (cpu.max)
 *   slack    timers of the server's threads may be late (PR_SET_TIMERSLACK)
 *
 * Queries are packets over the loopback device, or come through a local socket. The kernel passes
 * packets on by itself, and does not know for whom it works then. Through the local socket the
 * client wakes the server's threads, and says which query is urgent.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bursts_abi.h"
#include "clock.h"
#include "counter.h"
#include "cpulist.h"
#include "jsonl.h"
#include "options.h"
#include "pages.h"
#include "pin.h"
#include "random.h"
#include "sysfs.h"
#include "windows.h"

#define CGROUPS "/sys/fs/cgroup"
#define GROUP CGROUPS "/search"
#define BURSTS "/sys/kernel/lull/bursts/"
#define MOST_REQUESTS 100000
#define MOST_THREADS 128
#define MOST_QUERY 1024
#define PORT 8983
/* After the last query the server gets so many periods to finish. */
#define GRACE_PERIODS 8

static const char usage[] =
	"usage: search-server --way "
	"none|staged|near|heeded|shorter|released|proxy|packed|idle|capped|max|slack "
	"--client-cpu N [--rate HZ] [--period-us N]\n"
	"                     [--bound-us N] [--parallel N] [--packed-cpus LIST] [--cap PERCENT] "
	"[--quota PERCENT] [--slack-us N] [--threads N]\n"
	"                     [--terms N] [--pages FILE] [--seed N]\n"
	"                     [--through udp|local] [--one-in N] [--deadline-us N]\n"
	"                     [--settle-us N] [--window-us N] [--windows N] [--out FILE] [--totals "
	"FILE] [--stage FILE]\n"
	"  --rate: queries a second, on average\n"
	"  --terms: words of a query; a page that has any of them is a result\n"
	"  --pages: the database that is searched\n"
	"  --quota: of max, in percent of one CPU's time\n"
	"  --one-in: one query in N is urgent, and has the deadline; 0: none\n";

static const char *way, *packed_cpus = "0", *out = "/out/requests.jsonl",
			*totals = "/out/windows.jsonl", *stage = "/out/stage.jsonl",
			*database = "/usr/share/lull/pages.db", *through = "udp";
static uint64_t client_cpu, rate = 1000, period_us = 25000, bound_us, parallel = 1, cap = 50,
			    quota = 30, slack_us = 25000, threads = 24, terms = 3, seed = 1,
			    settle_us = 50000, window_us = 50000, windows = 4, one_in,
			    deadline_us = 50000;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "client-cpu", .number = &client_cpu, .most = 63},
	{.name = "rate", .number = &rate, .least = 1, .most = 100000},
	{.name = "period-us", .number = &period_us, .least = 1000, .most = 10000000},
	{.name = "bound-us", .number = &bound_us, .most = 10000000},
	{.name = "parallel", .number = &parallel, .least = 1, .most = 1024},
	{.name = "packed-cpus", .text = &packed_cpus},
	{.name = "cap", .number = &cap, .most = 100},
	{.name = "quota", .number = &quota, .least = 1, .most = 6400},
	{.name = "slack-us", .number = &slack_us, .most = 4000000},
	{.name = "threads", .number = &threads, .least = 1, .most = MOST_THREADS},
	{.name = "terms", .number = &terms, .least = 1, .most = PAGES_WORDS},
	{.name = "pages", .text = &database},
	{.name = "through", .text = &through},
	{.name = "one-in", .number = &one_in, .most = MOST_REQUESTS},
	{.name = "deadline-us",
	 .number = &deadline_us,
	 .least = 1000,
	 .most = BURST_DEADLINE_MOST_US},
	{.name = "seed", .number = &seed, .most = UINT32_MAX},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 10000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 10000000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{.name = "stage", .text = &stage},
	{0},
};

static const char *const ways[] = {"none",  "staged", "near", "heeded", "shorter", "released",
				   "proxy", "packed", "idle", "capped", "max",	   "slack"};

/* What a query was and what became of it; client and server share all of them. */
struct request {
	uint64_t came_ns;
	/* Server: when it had the query and when the answer. Not 0 when it is done. */
	uint64_t began_ns;
	_Atomic uint64_t done_ns;
	int cpu;
	int64_t best;
};

struct shared {
	_Atomic uint32_t ready;
	struct request requests[MOST_REQUESTS];
};

static struct shared *shared;
static const char **words;
static uint32_t count, pages_count;

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "search-server: %s: %s\n", what, why);
	return 1;
}

static int fail(const char *what, int error)
{
	return refuse(what, strerror(-error));
}

static bool is(const char *name)
{
	return !strcmp(way, name);
}

static bool is_urgent(uint32_t number)
{
	return one_in && number % one_in == one_in - 1;
}

static struct sockaddr_in address(void)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
}

/* The query of a number is always the same: words of a page that is drawn. */
static void answer(struct pages *pages, uint32_t number)
{
	uint64_t own = seed * MOST_REQUESTS + number;
	const char *drawn = words[next_random(&own) % pages_count];
	char query[MOST_QUERY];
	int64_t best = -1;

	if (pages_query(query, sizeof(query), drawn, (int)terms))
		best = pages_search(pages, query);
	if (best < 0)
		exit(refuse("a search", sqlite3_errmsg(pages->database)));
	shared->requests[number].best = best;
}

static void *serve(void *socket)
{
	struct pages pages;
	const char *error;
	uint32_t number;

	if (!pages_open(&pages, database, &error))
		exit(refuse(database, error));
	/* What the first query needs is there before it comes. */
	answer(&pages, 0);
	atomic_fetch_add(&shared->ready, 1);
	while (recv(*(int *)socket, &number, sizeof(number), 0) == sizeof(number)) {
		struct request *request = &shared->requests[number];

		request->began_ns = clock_ns();
		answer(&pages, number);
		request->cpu = sched_getcpu();
		atomic_store(&request->done_ns, clock_ns());
	}
	exit(fail("receiving a query", -errno));
}

/* In a process of its own, which is the control group. Ends by a signal. */
static int server(int socket)
{
	pthread_t thread;
	int error = write_text(GROUP "/cgroup.procs", "0");
	struct cpulist list;
	cpu_set_t set;

	if (error)
		return fail(GROUP, error);
	if (is("packed") || is("near")) {
		if (cpulist_parse(&list, packed_cpus))
			return fail(packed_cpus, -EINVAL);
		CPU_ZERO(&set);
		for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
			if (list.has[cpu])
				CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			return fail(packed_cpus, -errno);
	}
	/* Its threads inherit that. */
	if (is("slack") && prctl(PR_SET_TIMERSLACK, slack_us * 1000, 0, 0, 0))
		return fail("timer slack", -errno);
	for (uint64_t i = 1; i < threads; i++) {
		error = pthread_create(&thread, NULL, serve, &socket);
		if (error)
			return fail("a thread", -error);
	}
	serve(&socket);
	return 1;
}

static int put_number(const char *file, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return write_text(file, text);
}

static int make_group(void)
{
	int error = write_text(CGROUPS "/cgroup.subtree_control", "+cpu");

	if (!error && mkdir(GROUP, 0755))
		error = -errno;
	return error;
}

/* After the server has started, so that no thread waits for its first wake-up. */
static int prepare(void)
{
	char text[64];
	int error = 0;

	if (is("idle"))
		return write_text(GROUP "/cpu.idle", "1");
	if (is("capped")) {
		snprintf(text, sizeof(text), "%llu.00", (unsigned long long)cap);
		return write_text(GROUP "/cpu.uclamp.max", text);
	}
	if (is("max")) {
		snprintf(text, sizeof(text), "%llu %llu",
			 (unsigned long long)(quota * period_us / 100),
			 (unsigned long long)period_us);
		return write_text(GROUP "/cpu.max", text);
	}
	if (!is("staged") && !is("near") && !is("heeded") && !is("shorter") && !is("released"))
		return 0;

	if (is("released")) {
		error = write_text(BURSTS "spread", "0");
		if (!error)
			error = write_text(BURSTS "eager", "0");
	}
	if (is("heeded"))
		error = put_number(GROUP "/cpu.bursts.deadline_us", deadline_us);
	if (!error)
		error = put_number(GROUP "/cpu.bursts.bound_us",
				   is("shorter") ? deadline_us : bound_us);
	if (!error)
		error = put_number(GROUP "/cpu.bursts.parallel", parallel);
	if (!error)
		error = put_number(GROUP "/cpu.bursts.period_us", period_us);
	return error ? error : write_text(BURSTS "enabled", "1");
}

/* -ln of a number from 0 to 1, for the time between two queries; in 2^-16. */
static uint64_t exponential(uint64_t *random)
{
	/* Of von Neumann: only comparisons of random numbers, so that no library is asked. */
	for (uint64_t whole = 0;; whole++) {
		uint32_t first = (uint32_t)(next_random(random) >> 32), last = first;
		int length = 1;

		for (;; length++) {
			uint32_t next = (uint32_t)(next_random(random) >> 32);

			if (next >= last)
				break;
			last = next;
		}
		if (length % 2)
			return (whole << 16) + (first >> 16);
	}
}

/* Before a query is sent, which wakes a thread. Others than urgent ones have no deadline. */
static int say_deadline(uint32_t number)
{
	static uint64_t said;
	uint64_t us = is_urgent(number) ? deadline_us : 0;

	if (us == said)
		return 0;
	said = us;
	return prctl(PR_SET_BURST_DEADLINE, us, 0UL, 0UL, 0UL) ? -errno : 0;
}

static int client(int socket, uint64_t start, uint64_t end)
{
	uint64_t random = seed, at = start, period_ns = period_us * 1000;

	for (;;) {
		int error;

		at += exponential(&random) * (1000000000 / rate) >> 16;
		if (at >= end || count == MOST_REQUESTS)
			return 0;
		shared->requests[count].came_ns = at;
		/* Its timer is as late as a packet's interrupt is. */
		clock_sleep_until(is("proxy") ? (at / period_ns + 1) * period_ns : at);
		error = say_deadline(count);
		if (error)
			return error;
		if (send(socket, &count, sizeof(count), 0) != sizeof(count))
			return -errno;
		count++;
	}
}

static uint32_t open_requests(void)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < count; i++)
		open += !atomic_load(&shared->requests[i].done_ns);
	return open;
}

static int save_requests(uint64_t start)
{
	FILE *file = fopen(out, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < count; i++) {
		const struct request *request = &shared->requests[i];

		jsonl_begin(&line, file);
		jsonl_int(&line, "came_ns", (int64_t)(request->came_ns - start));
		jsonl_int(&line, "began_ns", (int64_t)(request->began_ns - start));
		jsonl_int(&line, "done_ns", (int64_t)(request->done_ns - start));
		jsonl_int(&line, "cpu", request->cpu);
		jsonl_int(&line, "best", request->best);
		if (one_in)
			jsonl_int(&line, "urgent", is_urgent(i));
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}

/* The server's CPU time so far. */
static uint64_t used_us(void)
{
	uint64_t used = 0;
	int error = read_count(GROUP "/cpu.stat", "usage_usec", &used);

	if (error)
		exit(fail(GROUP "/cpu.stat", error));
	return used;
}

/*
 * What the kernel counted of the stage; and of how many CPUs the server used how much, for the
 * queries of how long.
 */
static int save_stage(int cpus, uint64_t used)
{
	char text[512];
	FILE *file;
	struct jsonl line;
	int error = read_text(GROUP "/cpu.bursts.stat", text, sizeof(text));

	if (error)
		return error;
	file = fopen(stage, "w");
	if (!file)
		return -errno;
	jsonl_begin(&line, file);
	jsonl_counts(&line, text);
	jsonl_int(&line, "cpus", cpus);
	jsonl_int(&line, "used_us", (int64_t)used);
	jsonl_int(&line, "asked_us", (int64_t)(settle_us + windows * window_us));
	jsonl_end(&line);
	return jsonl_finish(file);
}

static int ask(int socket, int cpus)
{
	uint64_t used = used_us(), ordered = counter_now(), start = clock_ns(), last;
	struct windows times = {settle_us, window_us, windows};
	int error;

	windows_order(&times);
	last = start + (settle_us + windows * window_us) * 1000;
	error = client(socket, start, last);
	if (error)
		return fail("sending a query", error);
	for (int i = 0; i < GRACE_PERIODS && open_requests(); i++)
		clock_sleep_until(clock_ns() + period_us * 1000);
	if (open_requests()) {
		fprintf(stderr,
			"search-server: %u of %u queries have no answer: more than the "
			"machine can do\n",
			open_requests(), count);
		return 1;
	}
	used = used_us() - used;
	error = save_requests(start);
	if (!error)
		error = windows_save(totals, &times, ordered);
	if (!error)
		error = save_stage(cpus, used);
	return error ? fail(out, error) : 0;
}

/* A pair of local sockets has no limit but the sender's room. */
static bool open_sockets(int *receiver, int *sender)
{
	struct sockaddr_in to = address();
	int pair[2], room = 1 << 22;

	if (!strcmp(through, "local")) {
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
			return false;
		*receiver = pair[0];
		*sender = pair[1];
		return !setsockopt(*sender, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	}
	*receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return *receiver >= 0 && *sender >= 0 &&
	       !bind(*receiver, (struct sockaddr *)&to, sizeof(to)) &&
	       !setsockopt(*receiver, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) &&
	       !connect(*sender, (struct sockaddr *)&to, sizeof(to));
}

int main(int argc, char **argv)
{
	int receiver, sender, error, status;
	bool known = false;
	const char *why;
	cpu_set_t usable;
	pid_t pid;

	(void)argc;
	options_parse(argv, options, usage);
	for (size_t i = 0; way && i < sizeof(ways) / sizeof(*ways); i++)
		known |= is(ways[i]);
	if (!known || (strcmp(through, "udp") && strcmp(through, "local"))) {
		fputs(usage, stderr);
		return 2;
	}
	if (!open_sockets(&receiver, &sender))
		return fail("a socket", -errno);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return fail("memory", -errno);
	if (!pages_init())
		return refuse(database, "SQLite does not start");
	words = pages_words(database, &pages_count, &why);
	if (!words)
		return refuse(database, why);
	error = make_group();
	if (error)
		return fail("preparing", error);

	/* A shadow core is isolated, and is none of them. */
	if (sched_getaffinity(0, sizeof(usable), &usable))
		return fail("CPUs", -errno);
	pid = fork();
	if (pid < 0)
		return fail("a process", -errno);
	if (!pid)
		return server(receiver);
	while (atomic_load(&shared->ready) < threads) {
		if (waitpid(pid, NULL, WNOHANG))
			return fail("the server", -ECHILD);
		clock_sleep_until(clock_ns() + 1000000);
	}
	error = pin_to_cpu((int)client_cpu);
	if (!error)
		error = prepare();
	status = error ? fail(way, error) : ask(sender, CPU_COUNT(&usable));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return status;
}
