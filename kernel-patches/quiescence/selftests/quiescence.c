// SPDX-License-Identifier: BSD-3-Clause
/* quiescence [ROUNDS]: while the user's path waits, others are held, for no longer than the bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "events.h"
#include "sysfs.h"
#include "tap.h"
#include "tasks.h"

#define SYSTEM "/sys/kernel/lull/quiescence/"
#define HOTPLUG "/sys/kernel/lull/hotplug/enabled"
#define PLANS "/sys/kernel/lull/anticipation/"
#define OUT CPU_DIR "/pseudo_offline"
#define PATH "/sys/kernel/debug/lull/quiescence/path"
#define TRACING "/sys/kernel/tracing/"
#define BURSTS "/sys/kernel/lull/bursts/enabled"
#define CGROUP "/sys/fs/cgroup"
#define STAGE CGROUP "/lull-quiescence"
#define MS 1000000ULL
#define WAIT_MS 60
/* A wait in the midst of which something can be done on a slow machine, too. */
#define LONG_MS 400
/* From the begin of a wait until all others are held, where CPUs share one time and take turns. */
#define SLACK_MS 30
#define LOG 4096
/* More than the path has room for. */
#define CROWD 40

/* What the consumer does when a key is pressed. */
enum act {
	/* Asks the network, which waits and answers. */
	CHAIN,
	/* Waits for somebody whom nobody of the path has woken. */
	STRAY,
	/* The same, by a futex. */
	STRAY_FUTEX,
	/* Writes to a file whose reader is told by a work item. */
	WORK,
	/* Wakes many. */
	MANY,
	/* A child asks the network. */
	CHILD,
	/* A child ends, and a pipe with it. */
	END,
	/* Tells a task by each of @kinds, which asks the network. */
	KIND,
};

/* How a task of the path may wake another one. */
enum kind {
	SOCKET,
	EVENTFD,
	SIGNAL,
	FUTEX,
	KINDS,
};

static const char *const kinds[KINDS] = {"a Unix socket", "an eventfd", "a signal", "a futex"};

/* Others, which run every 2 ms or all the time, and say so. */
enum other {
	SLEEPER,
	HOG,
	FIFO,
	/* Not all the time, as it would keep a CPU from going offline. */
	DUE,
	OTHERS,
};

struct log {
	_Atomic uint32_t count;
	uint64_t ns[LOG];
	int cpu[LOG];
};

static struct shared {
	_Atomic int act, word, kind, told, widen;
	_Atomic int stray;
	_Atomic uint32_t done, listening, watching;
	_Atomic uint32_t wait_ms;
	_Atomic uint32_t signals;
	_Atomic uint64_t begun, ended;
	_Atomic int busy;
	_Atomic uint64_t due, slept;
	struct log logs[OTHERS];
} * shared;

static pid_t others[OTHERS], ui, net;
static int to_net[2], to_ui[2], crowd[CROWD][2], last[2], pair[2], counter;
static pid_t asker;
static uint32_t actions;

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(-error));
}

static void put(const char *file, const char *value)
{
	must(write_text(file, value), file);
}

static unsigned long stat_of(const char *word)
{
	uint64_t number = 0;

	must(read_count(SYSTEM "stats", word, &number), word);
	return number;
}

/* Forgets what was learned. */
static void restart(const char *hold, const char *bound_ms, const char *least_us)
{
	put(SYSTEM "enabled", "0");
	put(SYSTEM "hold", hold);
	put(SYSTEM "bound_ms", bound_ms);
	put(SYSTEM "least_us", least_us);
	put(SYSTEM "enabled", "1");
}

static void tell(int to)
{
	if (write(to, "", 1) != 1)
		_exit(2);
}

/* Wakes who waits for a word of memory. */
static void tell_word(_Atomic int *word)
{
	atomic_store(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

static void hear_word(_Atomic int *word)
{
	while (!atomic_exchange(word, 0))
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL);
}

static void hear(int from)
{
	char byte;

	while (read(from, &byte, 1) != 1)
		if (errno != EINTR)
			_exit(3);
}

static void work_around(void)
{
	struct cpulist online;
	char rest[256] = "";
	size_t used = 0;
	int mine = sched_getcpu();

	if (cpulist_read(&online, "online"))
		_exit(4);
	/* All but this one: then no other CPU is asked to wake the worker. */
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu] && cpu != mine)
			used += (size_t)snprintf(rest + used, sizeof(rest) - used, "%s%d",
						 used ? "," : "", cpu);
	if (write_text(OUT, rest))
		_exit(5);
	hear(to_ui[0]);
	write_text(OUT, "\n");
}

static void tell_asker(void)
{
	uint64_t one = 1;

	switch ((enum kind)atomic_load(&shared->kind)) {
	case SOCKET:
		tell(pair[1]);
		break;
	case EVENTFD:
		if (write(counter, &one, sizeof(one)) != sizeof(one))
			_exit(2);
		break;
	case SIGNAL:
		kill(asker, SIGUSR2);
		break;
	default:
		tell_word(&shared->told);
		break;
	}
	hear(to_ui[0]);
}

/* Who is told by the consumer, in the way that is tested, and asks the network. */
static void ask_when_told(void)
{
	uint64_t sum;
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (;;) {
		switch ((enum kind)atomic_load(&shared->kind)) {
		case SOCKET:
			hear(pair[0]);
			break;
		case EVENTFD:
			if (read(counter, &sum, sizeof(sum)) != sizeof(sum))
				_exit(3);
			break;
		case SIGNAL:
			sigwait(&set, &number);
			break;
		default:
			hear_word(&shared->told);
			break;
		}
		tell(to_net[1]);
	}
}

static void consume(void)
{
	struct events events;
	struct event event;
	struct pollfd ready = {.events = POLLIN};

	if (events_open(&events))
		_exit(4);
	ready.fd = events.fd;
	atomic_fetch_add(&shared->listening, 1);
	for (;;) {
		int got = events_next(&events, &event);

		if (got < 0)
			_exit(5);
		if (!got) {
			poll(&ready, 1, -1);
			continue;
		}
		if (event.type != EV_KEY || event.value != 1)
			continue;
		switch ((enum act)atomic_load(&shared->act)) {
		case CHAIN:
			tell(to_net[1]);
			hear(to_ui[0]);
			break;
		case STRAY:
			hear(to_ui[0]);
			break;
		case STRAY_FUTEX:
			hear_word(&shared->word);
			break;
		case WORK:
			work_around();
			break;
		case MANY:
			for (int i = 0; i < CROWD; i++)
				tell(crowd[i][1]);
			break;
		case CHILD:
			if (!fork()) {
				tell(to_net[1]);
				hear(to_ui[0]);
				_exit(0);
			}
			wait(NULL);
			break;
		case END:
			if (!fork()) {
				/* Until its parent has closed the pipe. */
				clock_sleep(20 * MS);
				_exit(0);
			}
			close(last[1]);
			wait(NULL);
			break;
		case KIND:
			tell_asker();
			break;
		}
		atomic_fetch_add(&shared->done, 1);
	}
}

static void allow_all(pid_t pid)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(pid, sizeof(all), &all))
		_exit(10);
}

static void answer(void)
{
	/* It stays where it is, and may sleep anywhere. */
	if (atomic_load(&shared->widen))
		allow_all(0);
	atomic_store(&shared->begun, clock_ns());
	clock_sleep(atomic_load(&shared->wait_ms) * MS);
	atomic_store(&shared->ended, clock_ns());
	tell(to_ui[1]);
}

static void wait_for_network(void)
{
	for (;;) {
		hear(to_net[0]);
		answer();
	}
}

/* Is told by a work item when CPUs leave. */
static void watch(void)
{
	struct pollfd file = {.fd = open(OUT, O_RDONLY), .events = POLLPRI};
	char text[256];

	/* It may be told late of CPUs that have come back. */
	do {
		if (pread(file.fd, text, sizeof(text), 0) <= 0)
			_exit(6);
		atomic_store(&shared->watching, 1);
		if (*text == '\n' && poll(&file, 1, -1) != 1)
			_exit(6);
	} while (*text == '\n');
	answer();
	pause();
}

/* Reads from a pipe that ends. */
static void await_end(void)
{
	char byte;

	prctl(PR_SET_NAME, "\nmember 1 1 x");
	close(last[1]);
	if (read(last[0], &byte, 1))
		_exit(7);
	pause();
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->signals, 1);
	if (!atomic_load(&shared->busy))
		return;
	while (atomic_load(&shared->busy))
		;
	atomic_store(&shared->due, clock_ns() + LONG_MS / 2 * MS);
	clock_sleep(LONG_MS / 2 * MS);
	atomic_store(&shared->slept, clock_ns());
}

static void say(struct log *log)
{
	uint32_t i = atomic_load(&log->count) % LOG;

	log->ns[i] = clock_ns();
	log->cpu[i] = sched_getcpu();
	atomic_fetch_add(&log->count, 1);
}

static void be(enum other which)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sched_param param = {.sched_priority = 1};
	uint64_t last = clock_ns();

	sigaction(SIGUSR1, &action, NULL);
	if (which == FIFO && sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(8);
	if (which == DUE && become_deadline_task(5 * MS, 10 * MS))
		_exit(8);
	for (;;) {
		if (which == HOG) {
			while (clock_ns() < last + MS)
				;
			last = clock_ns();
		} else {
			clock_sleep(2 * MS);
		}
		say(&shared->logs[which]);
		if (which == SLEEPER && atomic_exchange(&shared->stray, 0))
			tell(to_ui[1]);
	}
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		tap_bail("no process: %s", strerror(errno));
	if (!pid) {
		run();
		_exit(9);
	}
	return pid;
}

/* A key that is pressed before somebody listens is nobody's. */
static void start_ui(void)
{
	uint32_t before = atomic_load(&shared->listening);

	ui = start(consume);
	for (int i = 0; atomic_load(&shared->listening) == before; i++) {
		if (i == 20000)
			tap_bail("the consumer does not listen");
		clock_sleep(MS);
	}
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void start_other(enum other which)
{
	others[which] = fork();
	if (others[which] < 0)
		tap_bail("no process: %s", strerror(errno));
	if (!others[which])
		be(which);
}

/* How often one of the others ran from one moment to another. */
static unsigned int ran(enum other which, uint64_t from, uint64_t to)
{
	struct log *log = &shared->logs[which];
	uint32_t count = atomic_load(&log->count), first = count > LOG ? count - LOG : 0;
	unsigned int times = 0;

	for (uint32_t i = first; i < count; i++)
		times += log->ns[i % LOG] > from && log->ns[i % LOG] < to;
	return times;
}

static void press(enum act act)
{
	atomic_store(&shared->act, act);
	put(EVENTS_DIR "enabled", "0");
	put(EVENTS_DIR "enabled", "1");
}

static void finish(void)
{
	actions++;
	for (int i = 0; atomic_load(&shared->done) != actions; i++) {
		if (i == 20000)
			tap_bail("the consumer did not finish");
		clock_sleep(MS);
	}
	/* Until it waits for the next key. */
	clock_sleep(5 * MS);
}

static void do_all(enum act act)
{
	press(act);
	finish();
}

/* While the wait of the last action was on, from when all others had to be held. */
static unsigned int ran_in_wait(enum other which)
{
	uint64_t begun = atomic_load(&shared->begun);

	/* At its end all are released, and another may run before the task that says so. */
	return ran(which, begun + SLACK_MS * MS, begun + (WAIT_MS - 1) * MS);
}

static void test_files(void)
{
	static const char *const holds[] = {"none", "\n", "bigger", "0"};
	static const char *const bounds[] = {"0", "10001", "-1", "x", "1 2"};
	static const char *const leasts[] = {"1000001", "-1", "x"};
	static const char *const switches[] = {"2x", "-1", "\n"};
	static const char *const aheads[] = {"2", "-1", "x", "\n"};
	bool refused = true;
	char text[32];
	pid_t pid;
	int status;

	tap_ok(!read_text(SYSTEM "hold", text, sizeof(text)) && !strcmp(text, "all") &&
		       !read_text(SYSTEM "bound_ms", text, sizeof(text)) && !strcmp(text, "200") &&
		       !read_text(SYSTEM "least_us", text, sizeof(text)) && !strcmp(text, "2000") &&
		       !read_text(SYSTEM "ahead", text, sizeof(text)) && !strcmp(text, "0"),
	       "the settings after boot");
	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		refused &= write_text(SYSTEM "hold", holds[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		refused &= write_text(SYSTEM "bound_ms", bounds[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(leasts) / sizeof(*leasts); i++)
		refused &= write_text(SYSTEM "least_us", leasts[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(aheads) / sizeof(*aheads); i++)
		refused &= write_text(SYSTEM "ahead", aheads[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		refused &= write_text(SYSTEM "enabled", switches[i]) == -EINVAL;
	tap_ok(refused, "EINVAL: other words, numbers out of range, no number");
	tap_ok(write_text(PATH, "0") == -EINVAL, "EINVAL: nobody writes the path");

	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(write_text(SYSTEM "enabled", "0") == -EACCES &&
			write_text(SYSTEM "hold", "all") == -EACCES &&
			write_text(SYSTEM "bound_ms", "1") == -EACCES &&
			write_text(SYSTEM "least_us", "1") == -EACCES &&
			write_text(SYSTEM "ahead", "0") == -EACCES &&
			write_text(SYSTEM "stats", "0") == -EACCES &&
			write_text(PATH, "0") == -EACCES &&
			read_text(SYSTEM "stats", text, sizeof(text)) == -EACCES &&
			read_text(PATH, text, sizeof(text)) == -EACCES));
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES: only root writes, or reads counts and the path");
	tap_ok(write_text(SYSTEM "stats", "0") == -EACCES, "EACCES: not even root writes counts");

	put(HOTPLUG, "0");
	tap_ok(!write_text(SYSTEM "enabled", "1"), "by itself it can be turned on");
	tap_ok(write_text(SYSTEM "hold", "big") == -EOPNOTSUPP,
	       "EOPNOTSUPP: big CPUs cannot leave without pseudo hotplug");
	put(PLANS "enabled", "0");
	tap_ok(write_text(SYSTEM "ahead", "1") == -EOPNOTSUPP,
	       "EOPNOTSUPP: no CPU wakes ahead without anticipation");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "1");
	tap_ok(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP, "nor when that was chosen before");
	put(PLANS "enabled", "1");
	tap_ok(!write_text(SYSTEM "enabled", "1"), "with it one does");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "0");
	put(PLANS "enabled", "0");
	put(SYSTEM "hold", "big");
	tap_ok(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP,
	       "nor when they were chosen before");
	put(SYSTEM "hold", "all");
}

static void test_off(void)
{
	unsigned long before = stat_of("actions");

	do_all(CHAIN);
	do_all(CHAIN);
	tap_ok(stat_of("actions") == before, "off: nobody follows the path");
}

static void test_all(void)
{
	unsigned long holds, by_path, tasks;

	start_other(DUE);
	restart("all", "200", "2000");
	holds = stat_of("holds");
	by_path = stat_of("by_path");
	do_all(CHAIN);
	tap_ok(stat_of("holds") == holds && ran_in_wait(SLEEPER) && ran_in_wait(HOG),
	       "what was never done before holds nobody");
	tasks = stat_of("tasks");
	do_all(CHAIN);
	tap_ok(stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1,
	       "the second time there is one hold, and the path ends it");
	tap_ok(!ran_in_wait(SLEEPER), "all: who would wake is held");
	tap_ok(!ran_in_wait(HOG), "and who runs is stopped");
	tap_ok(stat_of("tasks") >= tasks + 2, "both are counted");
	tap_ok(ran_in_wait(FIFO) > WAIT_MS / 10, "a real-time task is not held");
	tap_ok(ran_in_wait(DUE) > WAIT_MS / 10, "nor is a deadline task");
	stop(others[DUE]);
	clock_sleep(20 * MS);
	tap_ok(ran(SLEEPER, atomic_load(&shared->ended), clock_ns()) &&
		       ran(HOG, atomic_load(&shared->ended), clock_ns()),
	       "both go on when the path wakes");
	tap_ok(stat_of("holds") == holds + 1, "the time in which the user thinks holds nobody");
}

static void test_bound(void)
{
	unsigned long deadlines, held;
	uint64_t begun;

	restart("all", "40", "2000");
	do_all(CHAIN);
	deadlines = stat_of("by_deadline");
	held = stat_of("held_sum_us");
	do_all(CHAIN);
	begun = atomic_load(&shared->begun);
	tap_ok(stat_of("by_deadline") == deadlines + 1, "the bound ends a hold");
	tap_ok(!ran(HOG, begun + SLACK_MS * MS, begun + 38 * MS), "not before it is over");
	tap_ok(ran(HOG, begun + 38 * MS, begun + WAIT_MS * MS) &&
		       ran(SLEEPER, begun + 38 * MS, begun + WAIT_MS * MS),
	       "and then others run, though the path still waits");
	held = stat_of("held_sum_us") - held;
	tap_ok(held >= 40000 && held < (40 + SLACK_MS) * 1000,
	       "the hold was as long as its bound: %lu us", held);
}

/* Whoever holds all the time leaves half of it. */
static void test_starvation(void)
{
	uint64_t from, to;
	unsigned long held, first;

	restart("all", "40", "2000");
	do_all(CHAIN);
	first = stat_of("held_sum_us");
	from = clock_ns();
	for (int i = 0; i < 8; i++)
		do_all(CHAIN);
	to = clock_ns();
	held = stat_of("held_sum_us") - first;
	tap_ok(held > 40000 && held <= (to - from) / 2000 + 40000,
	       "in a row of actions others are held for half of the time at most");
}

static void test_least(void)
{
	unsigned long holds = stat_of("holds"), brief;

	restart("all", "200", "500000");
	do_all(CHAIN);
	brief = stat_of("brief");
	do_all(CHAIN);
	tap_ok(stat_of("holds") == holds && stat_of("brief") > brief,
	       "a wait that is too short holds nobody");
}

static void test_signal(void)
{
	uint32_t signals = atomic_load(&shared->signals);
	pid_t dead = others[HOG];

	restart("all", "1000", "2000");
	do_all(CHAIN);
	press(CHAIN);
	clock_sleep((SLACK_MS + 10) * MS);
	kill(others[SLEEPER], SIGUSR1);
	kill(dead, SIGKILL);
	clock_sleep(5 * MS);
	tap_ok(atomic_load(&shared->signals) == signals + 1,
	       "a signal goes through to who is held");
	tap_ok(waitpid(dead, NULL, WNOHANG) == dead, "so does the one that kills");
	finish();
	tap_ok(ran(SLEEPER, atomic_load(&shared->ended), clock_ns()), "which loses nobody");
	start_other(HOG);
}

/*
 * Whether one of the others, whom a signal had woken in the hold before, was due in the midst of a
 * hold, and the path ended that. On a slow machine the hold may begin later, or end by its bound.
 */
static bool was_due_in_hold(uint64_t begun, unsigned long holds, unsigned long by_path)
{
	uint64_t due = atomic_load(&shared->due);

	return stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1 &&
	       due > begun + SLACK_MS * MS && due < begun + LONG_MS * MS;
}

/* Whom a signal has woken needs no release, and has none left for the next hold. */
static void test_vain_release(void)
{
	unsigned long holds, by_path;
	bool due = false, held = false;
	uint64_t begun;

	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 5 && !due; i++) {
		press(CHAIN);
		clock_sleep((SLACK_MS + 10) * MS);
		atomic_store(&shared->busy, 1);
		atomic_store(&shared->slept, 0);
		kill(others[SLEEPER], SIGUSR1);
		finish();
		holds = stat_of("holds");
		by_path = stat_of("by_path");
		/* It runs since the hold has ended. From now on it sleeps, until in the next. */
		atomic_store(&shared->busy, 0);
		do_all(CHAIN);
		for (int k = 0; k < 20000 && !atomic_load(&shared->slept); k++)
			clock_sleep(MS);
		begun = atomic_load(&shared->begun);
		due = was_due_in_hold(begun, holds, by_path);
		/* The network cannot wake sooner. It may say so later than who is released then. */
		held = atomic_load(&shared->slept) >= begun + LONG_MS * MS;
		/* Holds are half of the time at most: until short ones are allowed again. */
		clock_sleep(2 * LONG_MS * MS);
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	tap_ok(due && held, "a release in vain lets nobody out of the next hold");
}

/* Whether there is one more hold than before, which nothing has ended yet. */
static bool is_held(unsigned long holds, unsigned long ended)
{
	return stat_of("holds") == holds + 1 &&
	       stat_of("by_path") + stat_of("by_deadline") == ended;
}

/* Who makes a device waits for a thread of the kernel, which sleeps as programs do. */
static void test_kernel_thread(void)
{
	unsigned long holds, ended;
	bool held = false;

	if (!find_device_thread())
		tap_bail("there is no " DEVICE_THREAD);
	atomic_store(&shared->wait_ms, LONG_MS);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 5 && !held; i++) {
		holds = stat_of("holds");
		ended = stat_of("by_path") + stat_of("by_deadline");
		press(CHAIN);
		clock_sleep((SLACK_MS + 10) * MS);
		held = is_held(holds, ended);
		must(use_device_thread(), "make a device");
		held &= is_held(holds, ended);
		finish();
		/* Holds are half of the time at most: until short ones are allowed again. */
		clock_sleep(2 * LONG_MS * MS);
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	tap_ok(held, "a thread of the kernel works while others are held");
}

static void test_switch(void)
{
	char text[4096];
	uint64_t now;

	restart("all", "10000", "2000");
	do_all(CHAIN);
	press(CHAIN);
	clock_sleep((SLACK_MS + 10) * MS);
	put(SYSTEM "enabled", "0");
	now = clock_ns();
	clock_sleep(15 * MS);
	tap_ok(ran(SLEEPER, now, clock_ns()) && ran(HOG, now, clock_ns()),
	       "turning it off releases all");
	tap_ok(!read_text(PATH, text, sizeof(text)) && !*text,
	       "and forgets the path and what was learned");
	finish();
}

/* Who runs all the time is stopped by a hold, and then let go, without a stage's consent. */
static void test_stage(void)
{
	char was[8], pid[16];
	uint64_t ended;

	must(read_text(BURSTS, was, sizeof(was)), BURSTS);
	put(CGROUP "/cgroup.subtree_control", "+cpu");
	if (mkdir(STAGE, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	/* A single task waits there for 10 s. */
	put(STAGE "/cpu.bursts.parallel", "2");
	put(STAGE "/cpu.bursts.period_us", "10000000");
	snprintf(pid, sizeof(pid), "%d", others[HOG]);
	put(STAGE "/cgroup.procs", pid);
	put(BURSTS, "1");
	restart("all", "1000", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	ended = atomic_load(&shared->ended);
	for (int i = 0; i < 5000 && !ran(HOG, ended, clock_ns()); i++)
		clock_sleep(MS);
	tap_ok(ran(HOG, ended, clock_ns()), "a stage does not hold whom a hold lets go");
	put(BURSTS, was);
	put(CGROUP "/cgroup.procs", pid);
	tap_ok(!rmdir(STAGE), "nothing keeps the stage");
}

static void test_mistake(const char *hold)
{
	unsigned long mistaken;

	/* Somebody else's wait, as long as the chain's, is learned. */
	restart(hold, "55", "2000");
	do_all(CHAIN);
	mistaken = stat_of("mistaken");
	press(STRAY);
	clock_sleep((SLACK_MS + 10) * MS);
	atomic_store(&shared->stray, 1);
	finish();
	tap_ok(stat_of("mistaken") == mistaken + 1,
	       "%s: a hold of whom the path waited for is counted", hold);
	mistaken = stat_of("mistaken");
	do_all(CHAIN);
	tap_ok(stat_of("mistaken") == mistaken, "and no other one is");
}

/* Who of the two is woken first after @told; in the trace, which is empty then. */
static pid_t woken_first(void)
{
	char text[4096], *line;

	must(read_text(TRACING "trace", text, sizeof(text)), TRACING "trace");
	line = strstr(text, "sched_waking: ");
	line = line ? strstr(line, " pid=") : NULL;
	return line ? atoi(line + strlen(" pid=")) : 0;
}

/* The hold ends where interrupts are on, as nobody could be released before they are. */
static void test_order(void)
{
	char filter[64];
	uint64_t told;
	int first = 0;
	pid_t woken;

	snprintf(filter, sizeof(filter), "pid == %d || pid == %d", ui, others[SLEEPER]);
	put(TRACING "events/sched/sched_waking/filter", filter);
	restart("all", "1000", "2000");
	do_all(CHAIN);
	for (int i = 0; i < 3; i++) {
		press(STRAY_FUTEX);
		clock_sleep((SLACK_MS + 10) * MS);
		put(TRACING "trace", "\n");
		put(TRACING "events/sched/sched_waking/enable", "1");
		told = clock_ns();
		tell_word(&shared->word);
		finish();
		put(TRACING "events/sched/sched_waking/enable", "0");
		woken = woken_first();
		first += woken == ui && ran(SLEEPER, told, clock_ns());
		tap_note("%s first", woken == ui ? "path" : woken ? "other" : "nobody");
	}
	tap_ok(first == 3, "who is on the path is woken before who was held is released");
	put(TRACING "events/sched/sched_waking/filter", "0");
}

static bool on_path(pid_t pid)
{
	char text[4096] = "\n", member[32];

	must(read_text(PATH, text + 1, sizeof(text) - 1), PATH);
	snprintf(member, sizeof(member), "\nmember %d ", pid);
	return strstr(text, member);
}

static void test_chain(void)
{
	unsigned long evicted, holds;
	pid_t pids[CROWD], reader;

	restart("all", "200", "2000");
	do_all(CHAIN);
	tap_ok(on_path(ui) && on_path(net) && !on_path(others[SLEEPER]) && !on_path(others[FIFO]),
	       "who is woken by the path joins it, and nobody else");
	do_all(CHAIN);
	holds = stat_of("holds");
	do_all(CHILD);
	tap_ok(on_path(net) && stat_of("holds") == holds + 1, "a child's cause is its parent's");

	for (int i = 0; i < CROWD; i++) {
		if (pipe(crowd[i]))
			tap_bail("no pipe: %s", strerror(errno));
	}
	stop(ui);
	for (int i = 0; i < CROWD; i++) {
		int mine = crowd[i][0];

		pids[i] = fork();
		if (!pids[i])
			for (;;)
				hear(mine);
	}
	if (pipe(last))
		tap_bail("no pipe: %s", strerror(errno));
	reader = start(await_end);
	start_ui();
	close(last[1]);
	clock_sleep(20 * MS);
	evicted = stat_of("evicted");
	do_all(MANY);
	tap_ok(stat_of("evicted") > evicted || stat_of("lost"),
	       "a path of more tasks than there is room for forgets some");
	do_all(CHAIN);
	tap_ok(on_path(ui) && on_path(net), "and goes on");
	do_all(END);
	tap_ok(on_path(reader), "whom a task of the path wakes by its end joins it");
	tap_ok(!on_path(1), "whose name cannot make up another member");
	stop(reader);
	close(last[0]);
	for (int i = 0; i < CROWD; i++) {
		stop(pids[i]);
		close(crowd[i][0]);
		close(crowd[i][1]);
	}
}

/* Between the consumer and the network there is one more task. */
static void test_kinds(void)
{
	unsigned long holds;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		tap_bail("no socket: %s", strerror(errno));
	counter = eventfd(0, 0);
	if (counter < 0)
		tap_bail("no eventfd: %s", strerror(errno));
	for (int kind = 0; kind < KINDS; kind++) {
		restart("all", "200", "2000");
		atomic_store(&shared->kind, kind);
		asker = start(ask_when_told);
		/* The consumer has to know whom it tells. */
		stop(ui);
		start_ui();
		clock_sleep(20 * MS);
		do_all(KIND);
		holds = stat_of("holds");
		do_all(KIND);
		tap_ok(on_path(asker) && on_path(net) && !on_path(others[SLEEPER]),
		       "who is woken by %s joins the path, and so does whom it wakes", kinds[kind]);
		tap_ok(stat_of("holds") == holds + 1, "and others are held in their wait");
		stop(asker);
	}
	close(pair[0]);
	close(pair[1]);
	close(counter);
	stop(ui);
	start_ui();
}

/* Those of the most capacity, and one of the others. */
static int find_big(struct cpulist *big, cpu_set_t *set)
{
	uint64_t capacity[CPULIST_MAX] = {0}, most = 0;
	struct cpulist online;
	int little = -1;
	char file[64], text[32];

	must(cpulist_read(&online, "online"), "read the CPUs");
	memset(big, 0, sizeof(*big));
	CPU_ZERO(set);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (!online.has[cpu])
			continue;
		snprintf(file, sizeof(file), CPU_DIR "/cpu%d/cpu_capacity", cpu);
		must(read_text(file, text, sizeof(text)), file);
		capacity[cpu] = strtoull(text, NULL, 10);
		if (capacity[cpu] > most)
			most = capacity[cpu];
	}
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		big->has[cpu] = online.has[cpu] && capacity[cpu] == most;
		if (big->has[cpu])
			CPU_SET((size_t)cpu, set);
		else if (online.has[cpu])
			little = cpu;
	}
	return little;
}

/* Presses, and returns when others are held. */
static bool press_and_hold(void)
{
	unsigned long holds = stat_of("holds");

	press(CHAIN);
	for (int i = 0; i < SLACK_MS + 10; i++) {
		if (stat_of("holds") > holds)
			return true;
		clock_sleep(MS);
	}
	return false;
}

/* Whether one of the others ran, and on these CPUs always or never. */
static bool ran_on(const struct cpulist *cpus, bool always)
{
	struct log *log = &shared->logs[HOG];
	uint32_t from = atomic_load(&log->count), to;
	bool good = true;

	clock_sleep(10 * MS);
	to = atomic_load(&log->count);
	for (uint32_t i = from; i < to; i++)
		good &= cpus->has[log->cpu[i % LOG]] == always;
	return good && to > from;
}

/* The CPU that has the timer for which the network sleeps, or -1. */
static int cpu_of_timer(void)
{
	uint64_t due = atomic_load(&shared->begun) + atomic_load(&shared->wait_ms) * MS, at;
	FILE *timers = fopen("/proc/timer_list", "r");
	int cpu = -1, found = -1;
	char line[256];

	if (!timers)
		tap_bail("/proc/timer_list: %s", strerror(errno));
	while (fgets(line, sizeof(line), timers)) {
		sscanf(line, "cpu: %d", &cpu);
		if (sscanf(line, " # expires at %" SCNu64, &at) == 1 && at >= due && at < due + MS)
			found = cpu;
	}
	fclose(timers);
	return found;
}

static void test_big(void)
{
	struct pollfd file = {.fd = open(OUT, O_RDONLY), .events = POLLPRI};
	char text[64], one_little[16];
	struct cpulist big;
	cpu_set_t all, set, one;
	bool held, silent;
	pid_t watcher;
	int little;

	restart("big", "200", "2000");
	little = find_big(&big, &set);
	do_all(CHAIN);
	if (file.fd < 0 || pread(file.fd, text, sizeof(text), 0) <= 0)
		tap_bail(OUT ": %s", strerror(errno));
	held = press_and_hold();
	tap_ok(held && ran_on(&big, false), "big: others go on elsewhere");
	must(read_text(OUT, text, sizeof(text)), OUT);
	silent = !*text;
	finish();
	clock_sleep(20 * MS);
	tap_ok(silent && !poll(&file, 1, 0), "and no file says so, or has its readers told");
	/* It stays on a big CPU, unless this is out. */
	if (sched_setaffinity(others[HOG], sizeof(set), &set))
		tap_bail("cannot bind one of the others: %s", strerror(errno));
	clock_sleep(5 * MS);
	allow_all(others[HOG]);
	clock_sleep(20 * MS);
	tap_ok(ran_on(&big, true), "big CPUs are back when the path wakes");

	if (sched_setaffinity(net, sizeof(set), &set))
		tap_bail("cannot bind the network: %s", strerror(errno));
	atomic_store(&shared->widen, 1);
	held = press_and_hold();
	/* Until the CPU sleeps. */
	clock_sleep(SLACK_MS * MS);
	tap_ok(held && cpu_of_timer() >= 0 && big.has[cpu_of_timer()],
	       "the path's own timer stays on the CPU where the path fell asleep");
	finish();
	atomic_store(&shared->widen, 0);

	held = press_and_hold();
	snprintf(one_little, sizeof(one_little), "%d", little);
	put(OUT, one_little);
	tap_ok(held && poll(&file, 1, 1000) == 1, "who writes which CPUs are out ends the pause");
	finish();
	must(read_text(OUT, text, sizeof(text)), OUT);
	tap_ok(!strcmp(text, one_little), "and these CPUs stay out when the hold ends");
	put(OUT, "\n");
	close(file.fd);

	atomic_store(&shared->watching, 0);
	watcher = start(watch);
	for (int i = 0; i < 20000 && !atomic_load(&shared->watching); i++)
		clock_sleep(MS);
	/* Until it sleeps, and nobody is told of CPUs any more. */
	clock_sleep(100 * MS);
	/* The CPU that stays is that of the consumer, which is not to leave it. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_getaffinity(ui, sizeof(all), &all) || sched_setaffinity(ui, sizeof(one), &one))
		tap_bail("cannot bind the consumer: %s", strerror(errno));
	do_all(WORK);
	sched_setaffinity(ui, sizeof(all), &all);
	tap_ok(on_path(watcher), "whom a work item of the path wakes is on the path");
	stop(watcher);
}

/* A number of all CPUs' lines in the statistics of anticipation, or of some CPUs' lines. */
static uint64_t plans_count(const char *word, const struct cpulist *cpus)
{
	char text[4096], pattern[32], *line, *found;
	uint64_t sum = 0;

	must(read_text(PLANS "stats", text, sizeof(text)), PLANS "stats");
	snprintf(pattern, sizeof(pattern), " %s ", word);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		found = strstr(line, pattern);
		if (found && (!cpus || cpus->has[atoi(line)]))
			sum += strtoull(found + strlen(pattern), NULL, 10);
	}
	return sum;
}

/* Does the same until a count has risen. Short holds have to be allowed again meanwhile. */
static bool do_until(const char *word, int tries)
{
	unsigned long before = stat_of(word);

	for (int i = 0; i < tries && stat_of(word) == before; i++) {
		do_all(CHAIN);
		clock_sleep(WAIT_MS * MS);
	}
	return stat_of(word) > before;
}

/* Each hold has a plan or none, and each plan that is over has ended in one way. */
static bool all_counted(unsigned long holds)
{
	return stat_of("planned") + stat_of("unsure") + stat_of("declined") == holds &&
	       stat_of("plan_hits") + stat_of("plan_early") + stat_of("plan_misses") +
			       stat_of("plan_dropped") ==
		       stat_of("planned");
}

/* Learns a wait, and presses. Whether the end of the wait has been planned for, and is yet to come.
 */
static bool press_planned(const char *hold, enum act act, uint32_t ms)
{
	unsigned long planned;

	/* What a test before has turned off. */
	put(PLANS "enabled", "1");
	atomic_store(&shared->wait_ms, LONG_MS);
	/* Holds are half of the time at most, but for one bound. */
	restart(hold, "10000", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	planned = stat_of("planned");
	atomic_store(&shared->wait_ms, ms);
	press(act);
	for (int i = 0; i < LONG_MS / 2; i++) {
		if (stat_of("planned") > planned)
			return true;
		clock_sleep(MS);
	}
	return false;
}

static void answer_soon(void)
{
	/* A shorter wait would not count, and another one would be taken for it. */
	clock_sleep(SLACK_MS * MS);
	tell(to_ui[1]);
}

static void wait_on(void)
{
}

static void turn_off(void)
{
	put(SYSTEM "enabled", "0");
}

static void turn_plans_off(void)
{
	put(PLANS "enabled", "0");
}

static int leaves;

static void go_offline(void)
{
	char file[64];

	snprintf(file, sizeof(file), CPU_DIR "/cpu%d/online", leaves);
	must(write_text(file, "0"), file);
	must(write_text(file, "1"), file);
}

/*
 * Whether a plan ends in this way, and in no other one, if this is done before its time. On a slow
 * machine it may be done too late.
 */
static bool ends_as(const char *word, const char *hold, enum act act, uint32_t ms,
		    void (*then)(void))
{
	unsigned long before = stat_of(word);
	bool planned = false;

	for (int i = 0; i < 5 && stat_of(word) == before; i++) {
		planned = press_planned(hold, act, ms);
		if (planned)
			then();
		else if (act == STRAY)
			tell(to_ui[1]);
		finish();
	}
	atomic_store(&shared->wait_ms, WAIT_MS);
	return planned && stat_of(word) == before + 1;
}

static void test_offline(const char *hold)
{
	struct cpulist online;
	cpu_set_t one;

	must(cpulist_read(&online, "online"), "read the CPUs");
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++)
		if (online.has[cpu])
			leaves = cpu;
	if (!leaves) {
		tap_ok(true, "%s: a CPU goes offline # SKIP there is one", hold);
		return;
	}
	CPU_ZERO(&one);
	CPU_SET((size_t)leaves, &one);
	if (sched_setaffinity(net, sizeof(one), &one) || sched_setaffinity(ui, sizeof(one), &one))
		tap_bail("cannot bind the path: %s", strerror(errno));
	tap_ok(ends_as("plan_dropped", hold, CHAIN, LONG_MS, go_offline),
	       "%s: a plan ends when its CPU goes offline", hold);
	allow_all(net);
	allow_all(ui);
}

/* The end of a wait is planned for if it is known, and only then. */
static void test_ahead(const char *hold)
{
	unsigned long planned = stat_of("planned"), unsure = stat_of("unsure"), holds, declined;
	uint64_t hits;

	restart(hold, "200", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	tap_ok(stat_of("planned") == planned && stat_of("unsure") == unsure,
	       "%s: nothing is planned if that is off", hold);

	put(PLANS "enabled", "1");
	put(SYSTEM "ahead", "1");
	restart(hold, "200", "2000");
	holds = stat_of("holds") - planned - unsure - stat_of("declined");
	clock_sleep(WAIT_MS * MS);
	do_all(CHAIN);
	clock_sleep(WAIT_MS * MS);
	do_all(CHAIN);
	tap_ok(stat_of("planned") == planned && stat_of("unsure") == unsure + 1,
	       "%s: nor for a wait that was there once", hold);
	hits = plans_count("hits", NULL);
	tap_ok(do_until("plan_hits", 10) && plans_count("hits", NULL) > hits,
	       "%s: then a CPU is awake when the path wakes", hold);

	planned = stat_of("planned");
	unsure = stat_of("unsure");
	restart(hold, "200", "2000");
	for (int i = 0; i < 6; i++) {
		atomic_store(&shared->wait_ms, i % 2 ? WAIT_MS / 2 : WAIT_MS);
		clock_sleep(WAIT_MS * MS);
		do_all(CHAIN);
	}
	atomic_store(&shared->wait_ms, LONG_MS);
	tap_ok(stat_of("planned") == planned && stat_of("unsure") >= unsure + 4,
	       "%s: no wait is planned for whose length differs from time to time", hold);

	restart(hold, "40", "2000");
	do_all(CHAIN);
	tap_ok(do_until("declined", 10) && stat_of("planned") == planned,
	       "%s: nor is a wait whose end comes after that of the hold", hold);
	atomic_store(&shared->wait_ms, WAIT_MS);

	tap_ok(ends_as("plan_early", hold, STRAY, LONG_MS, answer_soon),
	       "%s: a path that wakes before its plan is counted", hold);
	tap_ok(ends_as("plan_misses", hold, CHAIN, 2 * LONG_MS, wait_on),
	       "%s: so is a plan in vain", hold);
	tap_ok(ends_as("plan_dropped", hold, CHAIN, LONG_MS, turn_off),
	       "%s: a plan ends when the system is turned off", hold);
	/* The path wakes before the window, so that this would not have been in vain. */
	tap_ok(ends_as("plan_dropped", hold, CHAIN, 3 * LONG_MS / 4, turn_plans_off),
	       "%s: or when anticipation is", hold);
	declined = stat_of("declined");
	atomic_store(&shared->wait_ms, LONG_MS);
	/* Until the error is small again. */
	tap_ok(do_until("declined", 10) && stat_of("declined") == declined + 1,
	       "%s: of which there are no plans then", hold);
	atomic_store(&shared->wait_ms, WAIT_MS);
	put(PLANS "enabled", "1");
	test_offline(hold);
	put(SYSTEM "enabled", "0");
	tap_ok(all_counted(stat_of("holds") - holds), "%s: each hold and each plan is counted once",
	       hold);
	put(SYSTEM "ahead", "0");
}

/* Where one of the others was from one moment to another. */
static bool was_on(const struct cpulist *cpus, uint64_t from, uint64_t to)
{
	struct log *log = &shared->logs[HOG];
	uint32_t count = atomic_load(&log->count), first = count > LOG ? count - LOG : 0;
	bool was = false;

	for (uint32_t i = first; i < count; i++)
		was |= log->ns[i % LOG] > from && log->ns[i % LOG] < to &&
		       cpus->has[log->cpu[i % LOG]];
	return was;
}

/* The CPU with the path's timer is out with the other big ones, and wakes alone. */
static void test_keeper(void)
{
	unsigned long holds, by_path, hits;
	bool woken = false, out = false;
	struct cpulist big;
	uint64_t wakes, begun;
	cpu_set_t set;

	if (system("lull-policy idle.deepest=C3"))
		tap_bail("cannot allow C3");
	find_big(&big, &set);
	if (sched_setaffinity(net, sizeof(set), &set) || sched_setaffinity(ui, sizeof(set), &set))
		tap_bail("cannot bind the path: %s", strerror(errno));
	atomic_store(&shared->widen, 1);
	put(SYSTEM "ahead", "1");
	restart("big", "200", "2000");
	do_all(CHAIN);
	do_all(CHAIN);
	for (int i = 0; i < 10 && !(woken && out); i++) {
		holds = stat_of("holds");
		by_path = stat_of("by_path");
		hits = stat_of("plan_hits");
		wakes = plans_count("wakes", &big);
		if (sched_setaffinity(net, sizeof(set), &set))
			tap_bail("cannot bind the network: %s", strerror(errno));
		do_all(CHAIN);
		begun = atomic_load(&shared->begun);
		woken = plans_count("wakes", &big) > wakes && stat_of("plan_hits") > hits;
		out = stat_of("holds") == holds + 1 && stat_of("by_path") == by_path + 1 &&
		      !was_on(&big, begun + SLACK_MS * MS, begun + (WAIT_MS - 1) * MS);
	}
	tap_ok(woken, "big: a CPU that is out wakes for the end of the path's wait");
	tap_ok(out, "and all stay out until the path wakes");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "ahead", "0");
	atomic_store(&shared->widen, 0);
	allow_all(net);
	allow_all(ui);
	if (system("lull-policy idle.deepest=C1"))
		tap_bail("cannot allow C1 only");
}

/* Settings and the switch change while actions go on. */
static void test_storm(int rounds)
{
	static const char *const bounds[] = {"1", "5", "20", "200"};
	static const char *const leasts[] = {"0", "1000", "20000"};
	unsigned int seed = 1;
	uint64_t now;
	pid_t storm = fork();

	if (!storm) {
		for (;;) {
			write_text(SYSTEM "hold", rand_r(&seed) % 2 ? "all" : "big");
			write_text(SYSTEM "bound_ms", bounds[rand_r(&seed) % 4]);
			write_text(SYSTEM "least_us", leasts[rand_r(&seed) % 3]);
			write_text(SYSTEM "ahead", rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 4 == 0)
				write_text(SYSTEM "enabled", rand_r(&seed) % 2 ? "1" : "0");
			if (rand_r(&seed) % 16 == 0)
				write_text(HOTPLUG, rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 16 == 0)
				write_text(PLANS "enabled", rand_r(&seed) % 4 ? "1" : "0");
			if (rand_r(&seed) % 4 == 0)
				clock_sleep(rand_r(&seed) % 10 * MS);
		}
	}
	for (int round = 0; round < rounds; round++)
		do_all(rand_r(&seed) % 4 ? CHAIN : CHILD);
	stop(storm);
	put(SYSTEM "enabled", "0");
	now = clock_ns();
	clock_sleep(30 * MS);
	tap_ok(ran(SLEEPER, now, clock_ns()) && ran(HOG, now, clock_ns()),
	       "nobody is lost in %d rounds of changes", rounds);
}

int main(int argc, char **argv)
{
	struct sched_param param = {.sched_priority = 2};
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	char was[8], hotplug[8], plans[8];

	must(read_text(SYSTEM "enabled", was, sizeof(was)), "read the switch");
	must(read_text(HOTPLUG, hotplug, sizeof(hotplug)), "read that of pseudo hotplug");
	must(read_text(PLANS "enabled", plans, sizeof(plans)), "read that of anticipation");
	put(SYSTEM "enabled", "0");
	put(SYSTEM "hold", "all");
	put(SYSTEM "ahead", "0");
	put(EVENTS_DIR "enabled", "0");
	put(EVENTS_DIR "schedule", "1000 1 30 1\n2000 1 30 0\nend\n");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(to_net) || pipe(to_ui))
		tap_bail("no memory: %s", strerror(errno));
	atomic_store(&shared->wait_ms, WAIT_MS);

	test_files();

	/* So that this program is never held; its children are. */
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		tap_bail("cannot be a real-time task: %s", strerror(errno));
	net = start(wait_for_network);
	start_ui();
	for (int i = 0; i < DUE; i++)
		start_other((enum other)i);
	clock_sleep(20 * MS);

	test_off();
	test_all();
	test_bound();
	test_signal();
	test_switch();
	test_stage();
	/* What runs all the time makes all the rest slow, where time is instructions. */
	stop(others[HOG]);
	test_starvation();
	test_least();
	test_vain_release();
	test_kernel_thread();
	test_mistake("all");
	test_order();
	test_chain();
	test_kinds();
	test_ahead("all");
	start_other(HOG);
	put(SYSTEM "enabled", "0");
	put(HOTPLUG, "1");
	put(SYSTEM "hold", "big");
	if (!write_text(SYSTEM "enabled", "1")) {
		test_big();
		test_mistake("big");
		test_keeper();
		test_ahead("big");
	} else {
		tap_ok(write_text(SYSTEM "enabled", "1") == -EOPNOTSUPP,
		       "EOPNOTSUPP: no CPU is bigger than another");
	}
	test_storm(rounds);

	for (int i = 0; i < DUE; i++)
		stop(others[i]);
	stop(ui);
	stop(net);
	put(EVENTS_DIR "enabled", "0");
	put(SYSTEM "enabled", "0");
	put(HOTPLUG, hotplug);
	put(PLANS "enabled", plans);
	put(SYSTEM "hold", "all");
	put(SYSTEM "ahead", "0");
	put(SYSTEM "bound_ms", "200");
	put(SYSTEM "least_us", "2000");
	put(SYSTEM "enabled", was);
	return tap_finish();
}
