// SPDX-License-Identifier: BSD-3-Clause
/* anticipation: a CPU sleeps deeply until a program's window, and lightly inside. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fail_each.h"
#include "cpulist.h"
#include "idle.h"
#include "pin.h"
#include "sysfs.h"
#include "tap.h"
#include "trace_line.h"
#include "wake_ahead_abi.h"

#define SYSTEM "/sys/kernel/lull/anticipation/"
#define MS 1000000ULL
/* Those of wake_ahead_file.c and plan.h. */
#define FILES 16
#define PROGRAMS 48
#define TRACING "/sys/kernel/tracing/"
#define POLL_NS "/sys/module/haltpoll/parameters/guest_halt_poll_ns"
#define GOVERNOR "/sys/devices/system/cpu/cpuidle/current_governor"

/* The CPU with windows; its deepest state that may be used is C3. */
static int cpu;
static const char *self;

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(error < 0 ? -error : error));
}

static void sleep_until(uint64_t ns)
{
	struct timespec time = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static int open_file(void)
{
	int fd = open(WAKE_AHEAD_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int must_open(void)
{
	int fd = open_file();

	must(fd < 0 ? fd : 0, "open " WAKE_AHEAD_PATH);
	return fd;
}

static int begin_at(int fd, uint64_t start, uint64_t duration)
{
	struct wake_ahead_request request = {.start_ns = start, .duration_ns = duration};

	return ioctl(fd, WAKE_AHEAD_BEGIN, &request) ? -errno : 0;
}

static int end(int fd)
{
	return ioctl(fd, WAKE_AHEAD_END) ? -errno : 0;
}

static struct wake_ahead_counts counts_of(int fd)
{
	struct wake_ahead_counts counts;

	must(ioctl(fd, WAKE_AHEAD_COUNTS, &counts) ? errno : 0, "read the counts of a file");
	return counts;
}

/* A number of the CPU's line in the system's statistics. */
static uint64_t counted(const char *word)
{
	char text[4096], start[16], *line, *found;

	must(read_text(SYSTEM "stats", text, sizeof(text)), "read the statistics");
	snprintf(start, sizeof(start), "%d hits ", cpu);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, start, strlen(start)) && (found = strstr(line, word)))
			return strtoull(found + strlen(word), NULL, 10);
	tap_bail("no count '%s' of CPU %d", word, cpu);
}

/* How often the CPU was in states that are deeper than C1. */
static uint64_t deep_sleeps(void)
{
	struct idle_states states;
	uint64_t usage, sum = 0;

	must(idle_read(cpu, &states), "read the idle states");
	for (int state = 1; state < states.count; state++) {
		must(idle_number(cpu, state, "usage", &usage), "read an idle state's usage");
		sum += usage;
	}
	return sum;
}

static void test_memory(void)
{
	fail_check(tap_ok, fail_each_open(WAKE_AHEAD_PATH), "no memory for a file");
}

static void test_errors(void)
{
	uint64_t now = clock_ns();
	int fd = must_open(), other = must_open();
	struct wake_ahead_request request = {.start_ns = now + 50 * MS, .duration_ns = MS};
	struct wake_ahead_request flags = request;

	flags.flags = 1;
	tap_ok(ioctl(fd, WAKE_AHEAD_BEGIN, NULL) && errno == EFAULT, "EFAULT: no request");
	tap_ok(ioctl(fd, WAKE_AHEAD_COUNTS, NULL) && errno == EFAULT, "EFAULT: no room for counts");
	tap_ok(ioctl(fd, WAKE_AHEAD_BEGIN, &flags) && errno == EINVAL, "EINVAL: unknown flags");
	tap_ok(begin_at(fd, now + 50 * MS, 0) == -EINVAL, "EINVAL: an empty window");
	tap_ok(begin_at(fd, now + 50 * MS, WAKE_AHEAD_MOST_DURATION_NS + 1) == -EINVAL,
	       "EINVAL: a window that is too long");
	tap_ok(begin_at(fd, now + WAKE_AHEAD_MOST_AHEAD_NS + 5000 * MS, MS) == -EINVAL,
	       "EINVAL: too far ahead");
	tap_ok(begin_at(fd, UINT64_MAX, MS) == -EINVAL, "EINVAL: at the end of time");
	tap_ok(begin_at(fd, 0, MS) == -ETIME, "ETIME: a window that is over");
	tap_ok(ioctl(fd, _IO('L', 0x6f)) && errno == ENOTTY, "ENOTTY: another request");
	tap_ok(end(fd) == -ENODATA, "ENODATA: nothing to end");
	tap_ok(begin_at(fd, now + 80 * MS, MS) == 0, "a request is taken");
	tap_ok(begin_at(other, now + 90 * MS, MS) == -EBUSY, "EBUSY: the thread has one already");
	tap_ok(begin_at(fd, now + 90 * MS, MS) == 0 && counts_of(fd).early == 1,
	       "another request takes its place");
	tap_ok(end(fd) == 0 && counts_of(fd).early == 2, "it is ended early");
	tap_ok(begin_at(fd, clock_ns(), MS / 10) == 0, "a short window");
	for (now = clock_ns(); clock_ns() < now + MS;)
		;
	tap_ok(begin_at(other, clock_ns() + 50 * MS, MS) == 0 && end(other) == 0,
	       "hinders no other request when it is over, though its CPU has not idled");
	tap_ok(begin_at(other, clock_ns(), 50 * MS) == 0 && end(other) == 0 &&
		       counts_of(other).hits == 1,
	       "and a hit inside its window");
	close(fd);
	close(other);
}

static void test_files(void)
{
	static const char *const bad[] = {"2x", "", "-1", "10", "yes"};
	bool refused = true;
	int status, files[1];
	pid_t pid;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused &= write_text(SYSTEM "learn", bad[i][0] ? bad[i] : "\n") == -EINVAL &&
			   write_text(SYSTEM "block", bad[i][0] ? bad[i] : "\n") == -EINVAL &&
			   write_text(SYSTEM "routed", bad[i][0] ? bad[i] : "\n") == -EINVAL;
	tap_ok(refused, "EINVAL: learn and block take 0 and 1, and routed its words");
	files[0] = must_open();

	pid = fork();
	if (!pid) {
		char text[16];
		int fds[FILES + 1];
		bool right;

		if (setuid(1000))
			_exit(2);
		right = write_text(SYSTEM "enabled", "0") == -EACCES &&
			write_text(SYSTEM "learn", "0") == -EACCES &&
			write_text(SYSTEM "block", "0") == -EACCES &&
			write_text(SYSTEM "routed", "0") == -EACCES &&
			read_text(SYSTEM "routed_stats", text, sizeof(text)) == -EACCES &&
			read_text(SYSTEM "block_stats", text, sizeof(text)) == -EACCES &&
			read_text(SYSTEM "stats", text, sizeof(text)) == -EACCES;
		for (int i = 0; i <= FILES; i++)
			fds[i] = open_file();
		right &= fds[FILES - 1] >= 0 && fds[FILES] == -EUSERS;
		close(fds[0]);
		right &= open_file() >= 0;
		right &= begin_at(fds[1], clock_ns() + 10 * MS, MS) == 0;
		right &= begin_at(files[0], clock_ns() + 10 * MS, MS) == -EPERM;
		_exit(!right);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES for others than root, EUSERS for their 17th file, EPERM for root's");
	close(files[0]);
}

static uint64_t far_away;

static void *ask(void *taken)
{
	int fd = open_file();

	if (fd >= 0 && !begin_at(fd, far_away, MS))
		__atomic_add_fetch((int *)taken, 1, __ATOMIC_SEQ_CST);
	else if (fd < 0 || errno != ENOSPC)
		__atomic_add_fetch((int *)taken, 1000, __ATOMIC_SEQ_CST);
	/* The request is void when this thread ends. */
	for (;;)
		pause();
	return NULL;
}

/* Four users with 16 threads each ask for one CPU. */
static void test_full(void)
{
	int taken[2], sum = 0, own;
	pid_t pids[4];

	far_away = clock_ns() + 5000 * MS;
	if (pipe(taken))
		tap_bail("cannot make a pipe");
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			int count = 0;
			pthread_t thread;

			if (setuid((uid_t)(2000 + i)))
				_exit(1);
			for (int j = 0; j < FILES; j++)
				if (start_on_cpu(&thread, cpu, ask, &count))
					_exit(1);
			sleep_until(clock_ns() + 100 * MS);
			if (write(taken[1], &count, sizeof(count)) != sizeof(count))
				_exit(1);
			for (;;)
				pause();
		}
		if (read(taken[0], &own, sizeof(own)) != sizeof(own))
			tap_bail("a child has gone");
		sum += own;
	}
	if (!tap_ok(sum == PROGRAMS, "ENOSPC: programs get %d windows of a CPU", PROGRAMS))
		tap_note("%d were taken", sum);
	for (int i = 0; i < 4; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(taken[0]);
	close(taken[1]);
}

/* Sleeps on the CPU, whose next event is the window then. */
static void test_window(void)
{
	uint64_t start = 0, wakes, woken = 0, misses, before, inside;
	int fd = must_open();

	must(pin_to_cpu(cpu), "pin");
	wakes = counted("wakes ");
	misses = counts_of(fd).misses;
	before = deep_sleeps();
	/* A CPU that something else wakes just before the window needs no timer for it. */
	for (int i = 0; i < 5; i++) {
		if (i)
			end(fd);
		start = clock_ns() + 60 * MS + (uint64_t)i * MS / 3;
		must(begin_at(fd, start, 40 * MS), "ask for a window");
		sleep_until(start + 5 * MS);
		woken = counted("wakes ") - wakes;
		if (woken)
			break;
	}
	if (!tap_ok(woken == 1, "the CPU was woken for its window"))
		tap_note("it was woken %llu times", (unsigned long long)woken);
	tap_ok(deep_sleeps() > before, "before it the CPU slept deeply");

	inside = deep_sleeps();
	for (int i = 1; i < 7; i++)
		sleep_until(start + 5 * MS + (uint64_t)i * 4 * MS);
	if (clock_ns() < start + 40 * MS)
		tap_ok(deep_sleeps() == inside, "in the window it does not");
	sleep_until(start + 60 * MS);
	tap_ok(deep_sleeps() > inside, "and after it does again");
	tap_ok(counts_of(fd).misses == misses + 1 && end(fd) == -ENODATA,
	       "a window that nobody ended is a miss");
	close(fd);
}

/* A window that begins now, and bounds nothing. */
static int begin_unbounded(int fd)
{
	struct wake_ahead_request request = {.start_ns = clock_ns(),
					     .duration_ns = WAKE_AHEAD_MOST_DURATION_NS,
					     .bound_ns = UINT32_MAX};

	return ioctl(fd, WAKE_AHEAD_BEGIN, &request) ? -errno : 0;
}

/* Asks for a window in 3 s, or again and again for one now; reads until nobody writes any more. */
static void read_on_cpu(uid_t uid, bool inside, int ready, int from)
{
	char byte = 0;
	int fd;

	if (pin_to_cpu(cpu) || (uid && setuid(uid)))
		_exit(1);
	fd = open_file();
	if ((inside ? begin_unbounded(fd) : begin_at(fd, clock_ns() + 3000 * MS, MS)) ||
	    write(ready, &byte, 1) != 1)
		_exit(1);
	while (read(from, &byte, 1) == 1)
		if (inside && begin_unbounded(fd))
			_exit(1);
	_exit(0);
}

/* How often a CPU sleeps in C3 that another one wakes each millisecond. */
static uint64_t deepest_of(uid_t uid, bool inside)
{
	uint64_t before, after, now;
	int wakes[2], ready[2];
	char byte = 0;
	pid_t pid;

	if (pipe(wakes) || pipe(ready))
		tap_bail("cannot make a pipe");
	pid = fork();
	if (!pid) {
		close(wakes[1]);
		read_on_cpu(uid, inside, ready[1], wakes[0]);
	}
	must(pin_to_cpu(0), "pin");
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		tap_bail("the child has gone");
	must(idle_number(cpu, 2, "usage", &before), "read an idle state's usage");
	now = clock_ns();
	for (int i = 1; i <= 300; i++) {
		sleep_until(now + (uint64_t)i * MS);
		if (write(wakes[1], &byte, 1) != 1)
			tap_bail("the child has gone");
	}
	must(idle_number(cpu, 2, "usage", &after), "read an idle state's usage");
	close(wakes[0]);
	close(wakes[1]);
	close(ready[0]);
	waitpid(pid, NULL, 0);
	return after - before;
}

/* haltpoll stays in C1 for sleeps of up to 2 ms, and a plan knows of timers only. */
static void test_never_deeper(void)
{
	uint64_t by_root, by_user, inside_by_root, inside_by_user;
	char governor[32], poll_ns[32];

	must(read_text(GOVERNOR, governor, sizeof(governor)), "read the governor");
	must(read_text(POLL_NS, poll_ns, sizeof(poll_ns)), "read how long haltpoll polls");
	must(write_text(GOVERNOR, "haltpoll"), "choose haltpoll");
	must(write_text(POLL_NS, "2000000"), "let it poll for longer");
	by_root = deepest_of(0, false);
	by_user = deepest_of(1000, false);
	inside_by_root = deepest_of(0, true);
	inside_by_user = deepest_of(1000, true);
	must(write_text(POLL_NS, poll_ns), "write how long haltpoll polls");
	must(write_text(GOVERNOR, governor), "write the governor");
	if (!tap_ok(by_user < by_root / 2, "a user's window lets no CPU sleep deeper"))
		tap_note("C3 %llu times of 300, and %llu by root's", (unsigned long long)by_user,
			 (unsigned long long)by_root);
	if (!tap_ok(inside_by_user < inside_by_root / 2, "nor in the window, whatever its bound"))
		tap_note("C3 %llu times of 300, and %llu by root's",
			 (unsigned long long)inside_by_user, (unsigned long long)inside_by_root);
}

/* Another CPU's program asks nothing: a request comes to a CPU that idles. */
static void test_from_elsewhere(void)
{
	uint64_t start = clock_ns() + 40 * MS, wakes = counted("wakes ");
	int fd = must_open(), ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready))
		tap_bail("cannot make a pipe");
	pid = fork();
	if (!pid) {
		/* Asks on the CPU, then leaves it, so that only the window is there. */
		_exit(pin_to_cpu(cpu) || begin_at(fd, start, 20 * MS) || pin_to_cpu(0) ||
		      write(ready[1], "", 1) != 1 || (sleep_until(start + 30 * MS), 0));
	}
	must(pin_to_cpu(0), "pin");
	if (read(ready[0], &byte, 1) != 1)
		tap_bail("the child has gone");
	sleep_until(start + 10 * MS);
	tap_ok(counted("wakes ") == wakes + 1, "a CPU that idles is woken for a window, too");
	waitpid(pid, NULL, 0);
	tap_ok(counts_of(fd).misses == 1, "whose owner may be on another CPU by then");
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

/* The file outlives who asked: a request by a child that ends, and by one that executes. */
static void test_owners(void)
{
	for (int executes = 0; executes < 2; executes++) {
		int fd = must_open(), status;
		pid_t pid;

		must(fcntl(fd, F_SETFD, 0) ? errno : 0, "keep a file on exec");
		must(pin_to_cpu(cpu), "pin");
		pid = fork();
		if (!pid) {
			if (begin_at(fd, clock_ns() + 3000 * MS, MS))
				_exit(2);
			if (executes)
				execl(self, self, "--sleep", NULL);
			_exit(0);
		}
		if (!executes && (waitpid(pid, &status, 0) != pid || status))
			tap_bail("the child could not ask");
		sleep_until(clock_ns() + 60 * MS);
		tap_ok(counts_of(fd).dropped == 1,
		       executes ? "a request ends when its process executes a program"
				: "a request ends with its thread");
		if (executes) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		close(fd);
	}
}

/* Asks, and sleeps past the window, so that the request lives and the CPU idles. */
static void *ask_far_away(void *fd)
{
	*(int *)fd = begin_at(*(int *)fd, far_away, MS);
	sleep_until(far_away + 10 * MS);
	return NULL;
}

/* What the trace says of the CPU's wake-up; empty if the CPU was not woken for a window. */
static void wake_of_closed(char *line, int size)
{
	int file = must_open(), fd = file;
	pthread_t thread;

	must(write_text(TRACING "trace", "\n"), "empty the trace");
	far_away = clock_ns() + 60 * MS;
	must(start_on_cpu(&thread, cpu, ask_far_away, &fd), "start a thread");
	sleep_until(far_away - 20 * MS);
	close(file);
	pthread_join(thread, NULL);
	must(fd, "ask for a window");

	trace_line(TRACING "trace", "lull_ahead_wake:", "", line, size);
}

/* A file is closed on another CPU than the one that sleeps for its window. */
static void test_closed(void)
{
	char line[256] = "";

	must(pin_to_cpu(0), "pin");
	must(write_text(TRACING "events/lull/lull_ahead_wake/enable", "1"), "trace");
	/* A CPU that something else wakes meanwhile finds no window. */
	for (int i = 0; !*line && i < 20; i++)
		wake_of_closed(line, sizeof(line));
	must(write_text(TRACING "events/lull/lull_ahead_wake/enable", "0"), "trace no more");
	if (!tap_ok(strstr(line, "owner=ended"), "a file that was closed owns no wake-up"))
		tap_note("%s", line);
}

static void test_off(void)
{
	int fd = must_open();

	must(begin_at(fd, clock_ns() + 3000 * MS, MS), "ask for a window");
	must(write_text(SYSTEM "enabled", "0"), "turn the system off");
	tap_ok(counts_of(fd).dropped == 1, "turning the system off drops requests");
	tap_ok(begin_at(fd, clock_ns() + 50 * MS, MS) == -EOPNOTSUPP, "EOPNOTSUPP while it is off");
	must(write_text(SYSTEM "enabled", "1"), "turn the system on");
	tap_ok(begin_at(fd, clock_ns() + 50 * MS, MS) == 0, "and it can be turned on again");
	close(fd);
}

static bool stop;

static void *ask_at_random(void *seed)
{
	unsigned int state = (unsigned int)(uintptr_t)seed;
	int fd = open_file();

	while (fd >= 0 && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t start = clock_ns() + (uint64_t)(rand_r(&state) % 4000) * 1000;
		struct wake_ahead_request request = {
			.start_ns = start,
			.duration_ns = 1 + (uint64_t)(rand_r(&state) % 3000) * 1000,
			.bound_ns = (uint32_t)(rand_r(&state) % 1000000),
		};
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		CPU_SET((unsigned int)(rand_r(&state) % 2 ? cpu : 0), &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
		ioctl(fd, WAKE_AHEAD_BEGIN, &request);
		if (rand_r(&state) % 2)
			sleep_until(start);
		if (rand_r(&state) % 3)
			ioctl(fd, WAKE_AHEAD_END);
		/* Perhaps while the CPU sees that the window is over. */
		if (rand_r(&state) % 8 == 0) {
			close(fd);
			fd = open_file();
		}
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void test_stress(int rounds)
{
	pthread_t threads[6];
	void *none;

	for (uintptr_t i = 0; i < 6; i++)
		must(pthread_create(&threads[i], NULL, ask_at_random, (void *)(i + 1)), "start");
	for (int i = 0; i < rounds; i++) {
		sleep_until(clock_ns() + 5 * MS);
		must(write_text(SYSTEM "enabled", i % 2 ? "1" : "0"), "switch");
		must(write_text(SYSTEM "learn", i % 3 ? "1" : "0"), "switch");
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], &none);
	must(write_text(SYSTEM "enabled", "1"), "turn the system on");
	tap_ok(true, "requests at random, and both switches meanwhile");
}

int main(int count, char **words)
{
	char enabled[8], learn[8];

	self = words[0];
	if (count == 2 && !strcmp(words[1], "--sleep")) {
		sleep_until(clock_ns() + 1000 * MS);
		return 0;
	}
	if (access(SYSTEM "enabled", F_OK)) {
		printf("1..0 # SKIP this kernel has no anticipatory wakeup\n");
		return 0;
	}
	cpu = access(CPU_DIR "/cpu1", F_OK) ? 0 : 1;
	must(read_text(SYSTEM "enabled", enabled, sizeof(enabled)), "read the switch");
	must(read_text(SYSTEM "learn", learn, sizeof(learn)), "read whether it learns");
	if (system("lull-policy idle.deepest=C3"))
		tap_bail("cannot allow C3");
	must(write_text(SYSTEM "enabled", "1"), "turn the system on");

	test_files();
	test_memory();
	test_errors();
	test_full();
	test_window();
	test_from_elsewhere();
	test_never_deeper();
	test_owners();
	test_closed();
	test_off();
	test_stress(count == 2 ? atoi(words[1]) : 40);

	must(write_text(SYSTEM "learn", learn), "write whether it learns");
	must(write_text(SYSTEM "enabled", enabled), "write the switch");
	if (system("lull-policy idle.deepest=C1"))
		tap_bail("cannot allow C1 only");
	return tap_finish();
}
