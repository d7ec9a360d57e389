// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ways through a kernel that a system of ours may make longer, each over and over: what a
 * kernel costs there. No CPU waits for a clock, so that on QEMU, whose clock counts instructions,
 * the time of a run is how many there were, on all CPUs together.
 *   wake    a CPU out of idle, by a byte from another CPU
 *   switch  from one task to another on one CPU, likewise
 *   fork    a process that starts a program, which ends
 *   timer   a timer that is over when it is set, and the read() that tells
 *   input   an event from the input core to a program that waits in read()
 *   place   two wake-ups out of idle; the scheduler chooses a CPU for the first
 *   process a process that ends at once
 *   tcp     a byte to another program through TCP, over the loopback device
 *   udp     the same through UDP
 *   connect a TCP connection, from socket() to close()
 * A JSON line each: the path, events in a run, nanoseconds of each run. On gem5 a window of
 * statistics begins before each run and ends after the last.
 */
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clamp.h"
#include "clock.h"
#include "cpulist.h"
#include "input_path.h"
#include "jsonl.h"
#include "loopback.h"
#include "m5.h"
#include "machine.h"
#include "options.h"
#include "pin.h"

#define RUNS_MAX 100

static const char usage[] = "usage: lull-cost [-c CPU] [-p CPU] [-n EVENTS] [-r RUNS]\n"
			    "  -c CPU  on this CPU (0)\n"
			    "  -p CPU  with this one for what takes two (1)\n"
			    "  -n N    events in a run (20), of what is long a twentieth\n"
			    "  -r N    runs (10)\n";

static uint64_t here, peer = 1, events = 20, runs = 10;
static int ask, answer, device, timer, listener;
static pid_t child;
static uint64_t serial;

static void be_first(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "cannot go first");
}

static void be_on(uint64_t cpu)
{
	int error = pin_to_cpu((int)cpu);

	if (error)
		errx(1, "cannot run on CPU %u: %s", (unsigned int)cpu, strerror(-error));
}

/* A process that sends each byte back that it gets. */
static void start_echo(int in, int out, void (*settle)(void))
{
	char byte;

	child = fork();
	if (child < 0)
		err(1, "cannot fork");
	if (child > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ask);
	settle();
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static void through_pipes(void (*settle)(void))
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		err(1, "cannot make a pipe");
	ask = to[1];
	answer = from[0];
	start_echo(to[0], from[1], settle);
	close(to[0]);
	close(from[1]);
}

static void first_on_peer(void)
{
	be_on(peer);
	be_first();
}

static void first_here(void)
{
	be_on(here);
	be_first();
}

/* Begins where it is most likely to stay. */
static void on_either(void)
{
	cpu_set_t both;

	be_on(here);
	CPU_ZERO(&both);
	CPU_SET(here, &both);
	CPU_SET(peer, &both);
	if (sched_setaffinity(0, sizeof(both), &both))
		err(1, "cannot run on two CPUs");
}

static void begin_wake(void)
{
	through_pipes(first_on_peer);
}

static void begin_switch(void)
{
	through_pipes(first_here);
}

/*
 * Both ask for little of a CPU, so that none counts as too busy to be chosen by energy. Who wakes
 * is on the other CPU: a task that goes to sleep on a busy CPU may stay in its queue, and then no
 * CPU is chosen for it.
 */
static void begin_place(void)
{
	int error = clamp_most(0);

	if (error)
		errx(1, "cannot ask for little of a CPU: %s", strerror(-error));
	be_on(peer);
	through_pipes(on_either);
}

/* Both ways: two of what is counted. */
static void ask_echo(void)
{
	char byte = 0;

	if (write(ask, &byte, 1) != 1 || read(answer, &byte, 1) != 1)
		err(1, "the other process does not answer");
}

static void end_echo(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ask);
	if (answer != ask)
		close(answer);
}

static void end_place(void)
{
	end_echo();
	be_on(here);
	clamp_most(1024);
}

static void through_sockets(int type)
{
	int ends[2];

	loopback_pair(type, ends);
	ask = answer = ends[0];
	start_echo(ends[1], ends[1], first_here);
	close(ends[1]);
}

static void begin_tcp(void)
{
	through_sockets(SOCK_STREAM);
}

static void begin_udp(void)
{
	through_sockets(SOCK_DGRAM);
}

static void begin_connect(void)
{
	listener = loopback_listen();
}

static void connect_once(void)
{
	loopback_connect(listener);
}

static void end_connect(void)
{
	close(listener);
}

static void nothing(void)
{
}

static void start_program(void)
{
	int status;

	child = fork();
	if (child < 0)
		err(1, "cannot fork");
	if (child == 0) {
		execl("/proc/self/exe", "lull-cost", "nothing", (char *)NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the program did not end well");
}

static void start_process(void)
{
	child = vfork();
	if (child < 0)
		err(1, "cannot start a process");
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void begin_timer(void)
{
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (timer < 0)
		err(1, "cannot make a timer");
}

static void set_timer(void)
{
	const struct itimerspec over = {.it_value = {.tv_nsec = 1}};
	uint64_t times;

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &over, NULL) ||
	    read(timer, &times, sizeof(times)) != sizeof(times))
		err(1, "cannot use a timer");
}

static void end_timer(void)
{
	close(timer);
}

static void begin_input(void)
{
	device = input_open();
	child = input_start_reader(device, (runs + 1) * events);
	serial = 0;
}

static void send_input(void)
{
	input_send(device, ++serial);
}

static void end_input(void)
{
	input_wait_for_reader(child);
	close(device);
}

static const struct path {
	const char *name;
	unsigned int counted; /* by each call of once() */
	unsigned int larger;  /* than others: so many times fewer, or each run has a tick */
	void (*begin)(void);
	void (*once)(void);
	void (*end)(void);
} paths[] = {
	{"wake", 2, 1, begin_wake, ask_echo, end_echo},
	{"switch", 2, 1, begin_switch, ask_echo, end_echo},
	{"fork", 1, 20, nothing, start_program, nothing},
	{"timer", 1, 1, begin_timer, set_timer, end_timer},
	{"input", 1, 1, begin_input, send_input, end_input},
	{"place", 1, 1, begin_place, ask_echo, end_place},
	{"process", 1, 5, nothing, start_process, nothing},
	{"tcp", 2, 2, begin_tcp, ask_echo, end_echo},
	{"udp", 2, 2, begin_udp, ask_echo, end_echo},
	{"connect", 1, 10, begin_connect, connect_once, end_connect},
};

/* A run before the first that counts: what is done once is done then. */
static void measure(const struct path *path, bool windows)
{
	uint64_t count = events / path->larger ? events / path->larger : 1;
	uint64_t took[RUNS_MAX];
	struct jsonl line;

	path->begin();
	for (uint64_t i = 0; i < count; i++)
		path->once();
	for (uint64_t run = 0; run < runs; run++) {
		uint64_t start;

		if (windows)
			m5_dump_reset_stats(0, 0);
		start = clock_ns();
		for (uint64_t i = 0; i < count; i++)
			path->once();
		took[run] = clock_ns() - start;
	}
	if (windows)
		m5_dump_reset_stats(0, 0);
	path->end();
	jsonl_begin(&line, stdout);
	jsonl_string(&line, "path", path->name);
	jsonl_int(&line, "events", (int64_t)(count * path->counted));
	jsonl_array(&line, "took_ns");
	for (uint64_t run = 0; run < runs; run++)
		jsonl_int(&line, NULL, (int64_t)took[run]);
	jsonl_end(&line);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct option_to options[] = {
		{.name = "c", .number = &here, .most = CPULIST_MAX - 1},
		{.name = "p", .number = &peer, .most = CPULIST_MAX - 1},
		{.name = "n", .number = &events, .least = 1, .most = 10000},
		{.name = "r", .number = &runs, .least = 1, .most = RUNS_MAX},
		{0},
	};

	if (argc == 2 && strcmp(argv[1], "nothing") == 0)
		return 0;
	options_parse(argv, options, usage);
	be_on(here);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		measure(&paths[i], machine_engine() == ENGINE_GEM5);
	return ferror(stdout);
}
