// SPDX-License-Identifier: BSD-3-Clause
/*
 * waeas [ROUNDS [SWITCHES]]: for each part a load for which one CPU is right; and switches that
 * change while tasks run, ROUNDS times, and on until tasks were switched SWITCHES times.
 *
 * waeas replay: a load that is the same in every kernel, and nothing else; for a trace of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clamp.h"
#include "clock.h"
#include "idle.h"
#include "parts/replay.h"
#include "sysfs.h"
#include "tap.h"

#define SYSTEM "/sys/kernel/lull/waeas/"
#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/lull-waeas"
#define FEWER ROOT "/lull-waeas-cpuset"
#define SENSITIVE GROUP "/cpu.uclamp.latency_sensitive"
#define GONE ROOT "/lull-waeas-gone"
#define GONE_FILE GONE "/cpu.uclamp.latency_sensitive"
#define US 1000ULL
#define MS 1000000ULL
#define RUNS 50
/* Messages that a sender has for each receiver; then it waits for their answers. */
#define BATCH 20
#define RECEIVERS 4
/* Wake-ups before those that count, as nobody knows what a new task will do. */
#define WARM_UP 25
/* Tasks that work in turn with others do so at the same moments, once in a beat. */
#define BEAT (20 * MS)

static const char *const parts[] = {"frequency", "select", "pack", "associate", "balance"};
static const char *const trackings[] = {"pelt", "walt", "bes"};

/* CPUs that tasks are placed on; the little ones are those of the least capacity. */
static int mains, littles, first_little = -1, last_little;
static bool is_little[64];
/* How often a waker wakes, and at what time after a multiple of it. */
static uint64_t wakes_every = 3 * MS, wakes_at;
/* How far the scheduler's clock is ahead of clock_ns(): windows begin by the scheduler's. */
static uint64_t windows_ahead;
/* What a task does to itself before it is woken; NULL for nothing. */
static void (*begins)(void);
/* How often the last task that was woken came to each CPU. */
static int came_to[64];

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(-error));
}

static void put(const char *file, const char *value)
{
	must(write_text(file, value), file);
}

static void set(const char *part, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), SYSTEM "%s", part);
	put(path, value);
}

/* One part alone, or none. What tasks are placed by stays `tracking`. */
static void only(const char *part)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		set(parts[i], part && !strcmp(parts[i], part) ? "1" : "0");
	set("placement", "1");
}

static unsigned long stat_of(const char *word)
{
	uint64_t number = 0;

	must(read_count(SYSTEM "stats", word, &number), word);
	return number;
}

static void spin_ns(uint64_t ns)
{
	uint64_t until = clock_ns() + ns;

	while (clock_ns() < until)
		;
}

/* The next moment that is @at after a multiple of @every, by the scheduler's clock. */
static void sleep_to(uint64_t every, uint64_t at)
{
	uint64_t now = clock_ns() + windows_ahead;

	clock_sleep_until(now - (now - at) % every + every - windows_ahead);
}

/* If the kernel does not tell its clocks, a window may end in the middle of a piece of work. */
static void find_clock(void)
{
	FILE *file = fopen("/sys/kernel/debug/sched/debug", "r");
	unsigned long long ms, ns, monotonic = 0, scheduler = 0;
	char *line = NULL;
	size_t size = 0;

	while (file && !scheduler && getline(&line, &size, file) > 0) {
		if (sscanf(line, "ktime : %llu.%llu", &ms, &ns) == 2)
			monotonic = ms * MS + ns;
		if (sscanf(line, "cpu_clk : %llu.%llu", &ms, &ns) == 2)
			scheduler = ms * MS + ns;
	}
	free(line);
	if (file)
		fclose(file);
	if (monotonic && scheduler)
		windows_ahead = scheduler - monotonic;
	tap_note("the scheduler's clock is %lld us ahead", (long long)windows_ahead / 1000);
}

static void pin_to(int first, int last)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(9);
}

static void pin(int cpu)
{
	pin_to(cpu, cpu);
}

static void find_cpus(void)
{
	unsigned long capacity[64], least = ~0UL;
	char path[128], text[64];
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		tap_bail("no affinity: %s", strerror(errno));
	for (int cpu = 0; cpu < 64 && CPU_ISSET(cpu, &cpus); cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpu_capacity", cpu);
		must(read_text(path, text, sizeof(text)), path);
		capacity[cpu] = strtoul(text, NULL, 10);
		least = capacity[cpu] < least ? capacity[cpu] : least;
		mains++;
	}
	for (int cpu = 0; cpu < mains; cpu++) {
		is_little[cpu] = capacity[cpu] == least;
		if (is_little[cpu])
			last_little = cpu;
		if (is_little[cpu] && first_little < 0)
			first_little = cpu;
		littles += is_little[cpu];
	}
}

static void govern(const char *governor)
{
	char path[128];

	for (int cpu = 0; cpu < mains; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_governor", cpu);
		if (access(path, F_OK) == 0)
			put(path, governor);
	}
}

/* Energy-aware scheduling is turned on in the background. */
static bool is_aware(void)
{
	for (int i = 0; i < 100; i++) {
		if (access("/sys/kernel/debug/energy_model/cpu0", F_OK) == 0 && i > 5)
			return true;
		clock_sleep(20 * MS);
	}
	return false;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whether each file of the system answers with @error to @text. Nobody may write `stats`. */
static bool all_answer(int error, const char *text)
{
	DIR *dir = opendir(SYSTEM);
	struct dirent *entry;
	bool all = dir;
	char path[320];
	int got;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SYSTEM "%s", entry->d_name);
		got = write_text(path, text);
		if (got == (strcmp(entry->d_name, "stats") ? error : -EACCES))
			continue;
		tap_note("%s: %d to '%s'", entry->d_name, got, text);
		all = false;
	}
	if (dir)
		closedir(dir);
	return all;
}

static bool all_refuse(const char *text)
{
	return all_answer(-EINVAL, text) && write_text(SENSITIVE, text) == -EINVAL;
}

static void test_files(void)
{
	static const char *const bad[][2] = {
		{"tracking", "none"},
		{"tracking", "\n"},
		{"placement", "2"},
		{"frequency", "2"},
		{"inherit", "2"},
		{"window_us", "999"},
		{"window_us", "100001"},
		{"alpha", "0"},
		{"alpha", "1024"},
		{"select", "-1"},
		{"pack", "x"},
		{"pack_percent", "0"},
		{"pack_percent", "101"},
		{"pack_apart", "2"},
		{"associate", "2"},
		{"balance", "1 1"},
		{"latency_sensitive", "1"},
		{"latency_sensitive", "+"},
		{"latency_sensitive", "+0"},
		{"latency_sensitive", "+x"},
		{"latency_sensitive", "++5"},
		{"latency_sensitive", "-+5"},
		{"enabled", "2x"},
	};
	char path[128];
	bool refused = true;
	char large[200] = {0};
	pid_t pid;
	int status;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(path, sizeof(path), SYSTEM "%s", bad[i][0]);
		if (write_text(path, bad[i][1]) == -EINVAL)
			continue;
		tap_note("%s took '%s'", bad[i][0], bad[i][1]);
		refused = false;
	}
	tap_ok(refused && write_text(SENSITIVE, "2") == -EINVAL, "EINVAL: what is out of range");
	memset(large, 'x', sizeof(large) - 1);
	tap_ok(all_refuse("\n") && all_refuse("x") && all_refuse("-x") && all_refuse("++5") &&
		       all_refuse("-+5") && all_refuse("1 1") && all_refuse(large),
	       "EINVAL: text that is none of the words or numbers of a file");
	memset(large, '9', sizeof(large) - 1);
	tap_ok(all_answer(-EINVAL, large) && write_text(SENSITIVE, large) == -ERANGE &&
		       write_text(SENSITIVE, "-1") == -EINVAL,
	       "EINVAL, ERANGE: numbers of 199 digits, or below 0");
	tap_ok(write_text(SENSITIVE, "18446744073709551616") == -ERANGE,
	       "ERANGE: a number of 2^64 or more");
	tap_ok(write_text(SYSTEM "latency_sensitive", "+4194304") == -ESRCH, "ESRCH: no such task");
	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(all_answer(-EACCES, "1") && write_text(SENSITIVE, "1") == -EACCES &&
			read_text(SYSTEM "stats", path, sizeof(path)) == -EACCES));
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES: only root");
}

/* A group whose file belongs to a user, and which is removed while the file is open. */
static void test_group_file(void)
{
	char text[8];
	int file, status;
	pid_t pid;

	if (mkdir(GONE, 0755) || chown(GONE_FILE, 1000, 1000))
		tap_bail("cannot make a group: %s", strerror(errno));
	pid = fork();
	if (!pid)
		_exit(setuid(1000) || write_text(GONE_FILE, "1"));
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) &&
		       !read_text(GONE_FILE, text, sizeof(text)) && !strcmp(text, "1"),
	       "whom a group's file was given to writes it");
	file = open(GONE_FILE, O_WRONLY | O_CLOEXEC);
	if (file < 0 || rmdir(GONE))
		tap_bail("cannot remove a group: %s", strerror(errno));
	tap_ok(write(file, "0", 1) < 0 && errno == ENODEV, "ENODEV: the group has gone");
	close(file);
}

/* /proc/PID/latency_sensitive: a task's owner says so, and nobody else but root. */
static int own_file(pid_t pid, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", pid);
	return write_text(path, value);
}

static bool own_says(pid_t pid, const char *value)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", pid);
	return !read_text(path, text, sizeof(text)) && !strncmp(text, value, 1);
}

/* A task of a user, which may keep what root may do. */
static pid_t as_user(uid_t user, bool keeps)
{
	pid_t pid = fork();

	if (!pid) {
		/* Files of a task that changed its user are root's, until the task says otherwise.
		 */
		if (prctl(PR_SET_KEEPCAPS, keeps) || setuid(user) || prctl(PR_SET_DUMPABLE, 1))
			_exit(2);
		for (;;)
			pause();
	}
	return pid;
}

static void test_own_file(void)
{
	pid_t pid, other, may_more, writer;
	int status, fd;
	char path[64];

	tap_ok(own_says(getpid(), "0"), "a task is not latency-sensitive by itself");
	tap_ok(!own_file(getpid(), "1") && own_says(getpid(), "1"), "it says that it is");
	pid = as_user(1000, false);
	may_more = as_user(1000, true);
	other = as_user(1001, false);
	clock_sleep(50 * MS);
	tap_ok(own_says(pid, "0"), "its children are not");
	tap_ok(own_file(getpid(), "2") == -EINVAL && own_file(getpid(), "x") == -EINVAL &&
		       own_file(getpid(), "\n") == -EINVAL &&
		       own_file(getpid(), "0000000000x") == -EINVAL && own_says(getpid(), "1"),
	       "EINVAL: neither 0 nor 1");
	tap_ok(!own_file(getpid(), "0") && own_says(getpid(), "0"), "nor is it any more");

	snprintf(path, sizeof(path), "/proc/%d/latency_sensitive", other);
	fd = open(path, O_RDWR | O_CLOEXEC);
	writer = fork();
	if (!writer) {
		if (setuid(1000))
			_exit(2);
		_exit(!(!own_file(pid, "1") && own_file(other, "1") == -EACCES &&
			own_file(1, "1") == -EACCES && write(fd, "1", 1) < 0 && errno == EPERM &&
			own_file(may_more, "1") == -EPERM));
	}
	tap_ok(waitpid(writer, &status, 0) == writer && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES, EPERM: another user's, or one that may do more");
	tap_ok(own_says(pid, "1") && own_says(other, "0") && own_says(may_more, "0"),
	       "a task's owner says so for it");
	stop(may_more);
	tap_ok(syscall(SYS_write, fd, 1UL, 1UL) < 0 && errno == EFAULT && own_says(other, "0"),
	       "EFAULT: a pointer that is none");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	tap_ok(write(fd, "1", 1) < 0 && errno == ESRCH, "ESRCH: the task has gone");
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/latency_sensitive", pid, pid);
	tap_ok(!write_text(path, "0") && own_says(pid, "0"), "each thread has one");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

enum sensitive { NOT, BY_GROUP, BY_ITSELF, AND_CLAMPED };

/* A task that says that it needs more than a little CPU has. */
static void clamp(void)
{
	if (clamp_least(900))
		_exit(7);
}

/* A task that is never to get more than a part of a little CPU. */
static void cap(void)
{
	if (clamp_most(200))
		_exit(7);
}

/* Whether the waker of woken() is latency-sensitive. */
static bool waker_is_sensitive;

/*
 * A task is woken again and again by another one, which stays on @by: how often of RUNS it came to
 * @cpu, or to a little CPU if that is -1. The waker goes on working.
 */
static int woken(enum sensitive sensitive, int by, int cpu)
{
	int to[2], from[2], here = 0, on[64] = {0};
	char byte = 0;
	pid_t sleeper, waker;

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	sleeper = fork();
	if (!sleeper) {
		if (sensitive == BY_GROUP && write_text(GROUP "/cgroup.procs", "0"))
			_exit(1);
		if (sensitive >= BY_ITSELF && own_file(getpid(), "1"))
			_exit(1);
		if (sensitive == AND_CLAMPED)
			clamp();
		if (begins)
			begins();
		for (int i = 0; i < WARM_UP + RUNS && read(to[0], &byte, 1) == 1; i++)
			on[sched_getcpu()] += i >= WARM_UP;
		_exit(write(from[1], on, sizeof(on)) != sizeof(on));
	}
	waker = fork();
	if (!waker) {
		pin(by);
		if (waker_is_sensitive && own_file(getpid(), "1"))
			_exit(1);
		for (int i = 0; i < WARM_UP + RUNS; i++) {
			sleep_to(wakes_every, wakes_at);
			if (write(to[1], &byte, 1) != 1)
				_exit(1);
			spin_ns(100 * US);
		}
		_exit(0);
	}
	/* A sleeper that has failed ends what is read. */
	close(to[0]);
	close(to[1]);
	close(from[1]);
	if (read(from[0], on, sizeof(on)) != sizeof(on))
		tap_bail("a task did not run");
	waitpid(waker, NULL, 0);
	waitpid(sleeper, NULL, 0);
	close(from[0]);
	memcpy(came_to, on, sizeof(on));
	for (int i = 0; i < mains; i++) {
		here += cpu < 0 ? is_little[i] * on[i] : (i == cpu) * on[i];
		if (on[i])
			tap_note("%d on CPU %d", on[i], i);
	}
	return here;
}

static struct idle_states idle_was[64], idle_now[64];

/* CPUs sleep in their second state, but for those that are to sleep lightly, in their first. */
static void sleep_lightly(bool (*is_light)(int cpu))
{
	for (int cpu = 0; cpu < mains; cpu++) {
		must(idle_read(cpu, &idle_was[cpu]), "read idle states");
		idle_now[cpu] =
			idle_just(&idle_was[cpu], is_light(cpu) || idle_was[cpu].count < 2 ? 0 : 1);
		must(idle_change(cpu, &idle_was[cpu], &idle_now[cpu]), "change idle states");
	}
}

static void sleep_as_before(void)
{
	for (int cpu = 0; cpu < mains; cpu++)
		must(idle_change(cpu, &idle_now[cpu], &idle_was[cpu]), "restore idle states");
}

static bool is_last_little(int cpu)
{
	return cpu == last_little;
}

static bool is_big(int cpu)
{
	return !is_little[cpu];
}

/*
 * How many of RUNS wake-ups of a latency-sensitive task came to @cpu, as woken() says, where WAEAS
 * chose nine in ten of them. A machine that was over-utilised a moment ago is left to upstream for
 * a while.
 */
static int selected(enum sensitive sensitive, int cpu)
{
	unsigned long before, chosen;
	int count;

	for (int tries = 0; tries < 4; tries++) {
		before = stat_of("selected");
		count = woken(sensitive, mains - 1, cpu);
		chosen = stat_of("selected") - before;
		if (chosen >= RUNS * 9 / 10)
			return count;
		tap_note("%lu of %d selected", chosen, RUNS);
	}
	return -1;
}

static bool is_selected(enum sensitive sensitive, int cpu)
{
	return selected(sensitive, cpu) >= RUNS * 9 / 10;
}

static void test_select(void)
{
	unsigned long before;

	only("select");
	put(SENSITIVE, "1");
	sleep_lightly(is_last_little);
	tap_ok(is_selected(BY_GROUP, last_little),
	       "a latency-sensitive task gets the little CPU in the lightest state");
	tap_ok(is_selected(BY_ITSELF, last_little), "so does one that said so itself");
	before = stat_of("selected");
	put(SENSITIVE, "0");
	woken(BY_GROUP, mains - 1, -1);
	tap_ok(stat_of("selected") == before, "another one does not");
	put(SENSITIVE, "1");
	only(NULL);
	woken(BY_GROUP, mains - 1, -1);
	tap_ok(stat_of("selected") == before, "nor if that part is off");
	only("select");
	/* The waker's own CPU is not idle, so there has to be another big one. */
	if (!is_little[mains - 2])
		tap_ok(is_selected(AND_CLAMPED, mains - 2),
		       "one that needs more than a little CPU has gets a big one");
	else
		tap_ok(true, "one that needs more gets a big CPU # SKIP one big CPU");
	sleep_as_before();

	sleep_lightly(is_big);
	tap_ok(is_selected(BY_ITSELF, -1), "less capacity comes before a lighter state");
	sleep_as_before();
}

static pid_t hog(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		pin(cpu);
		for (;;)
			;
	}
	return pid;
}

/*
 * Whether so many wake-ups of RUNS are packed there. A machine that new tasks have over-utilised is
 * not packed for a while.
 */
static bool is_packed(int by, int cpu, int least)
{
	unsigned long before;
	int count;

	for (int tries = 0; tries < 4; tries++) {
		before = stat_of("packed");
		count = woken(NOT, by, cpu);
		if (count >= least && stat_of("packed") >= before + (unsigned long)least)
			return true;
		tap_note("%d, and %lu packed", count, stat_of("packed") - before);
	}
	return false;
}

/* Likewise, where each wake-up is @at after the begin of a beat. */
static bool is_packed_in_beat(uint64_t at, int by, int cpu, int least)
{
	uint64_t every = wakes_every;
	bool packed;

	wakes_every = BEAT;
	wakes_at = at;
	packed = is_packed(by, cpu, least);
	wakes_every = every;
	wakes_at = 0;
	return packed;
}

/* A task that works for so long in each beat, from a time on. */
static pid_t works(int cpu, uint64_t at, uint64_t ns, int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO};
	pid_t pid = fork();

	if (!pid) {
		pin(cpu);
		if (sched_setscheduler(0, policy, &param))
			_exit(8);
		for (;;) {
			sleep_to(BEAT, at);
			spin_ns(ns);
		}
	}
	return pid;
}

/*
 * Whether a task is packed there that is woken by a big CPU while two little ones work. Where CPUs
 * take turns, one of them may begin its work a tick late, 4 ms. So the task is woken after that.
 */
static bool is_packed_on_fuller(uint64_t first_ns, uint64_t last_ns)
{
	pid_t first = works(first_little, 0, first_ns, SCHED_OTHER);
	pid_t last = works(last_little, 0, last_ns, SCHED_OTHER);
	int fuller = first_ns > last_ns ? first_little : last_little;
	bool packed = is_packed_in_beat(5 * MS, mains - 1, fuller, RUNS * 6 / 10);

	stop(first);
	stop(last);
	return packed;
}

/* A task that works at home in each beat, and is a real-time task on its way to another CPU. */
static pid_t visits(int home, int other)
{
	struct sched_param fifo = {.sched_priority = 1}, none = {0};
	pid_t pid = fork();

	if (!pid) {
		pin(home);
		for (;;) {
			sleep_to(BEAT, 10 * MS);
			spin_ns(6 * MS);
			if (sched_setscheduler(0, SCHED_FIFO, &fifo))
				_exit(8);
			pin(other);
			if (sched_setscheduler(0, SCHED_OTHER, &none))
				_exit(8);
			pin(home);
		}
	}
	return pid;
}

/*
 * How many of RUNS wake-ups of a task come to the last little CPU, if a CPU may be made as full as
 * @percent. Others may be packed meanwhile, and do not count.
 */
static int packed_up_to(const char *percent)
{
	int count;

	set("pack_percent", percent);
	wakes_every = BEAT;
	wakes_at = 2 * MS;
	count = woken(NOT, mains - 1, last_little);
	wakes_every = 3 * MS;
	wakes_at = 0;
	set("pack_percent", "80");
	tap_note("%d came there, up to %s percent", count, percent);
	return count;
}

/*
 * A CPU works for 8 ms of 20, in two pieces. At the first one it knows of the second by the windows
 * before, from which a task that leaves takes only what it brought.
 */
static bool is_full_though_one_visits(void)
{
	pid_t first = works(last_little, 0, 4 * MS, SCHED_OTHER);
	pid_t second = works(last_little, 10 * MS, 4 * MS, SCHED_OTHER);
	pid_t guest = visits(first_little + 1, last_little);
	bool full;

	clock_sleep(300 * MS);
	full = packed_up_to("75") >= RUNS / 2 && packed_up_to("30") <= RUNS / 4;
	stop(first);
	stop(second);
	stop(guest);
	return full;
}

/* What is left beside a real-time task is not taken off a second time. */
static bool is_packed_beside_realtime(void)
{
	pid_t pid = works(last_little, 0, 12 * MS, SCHED_FIFO);
	bool packed = is_packed_in_beat(14 * MS, last_little, last_little, RUNS * 9 / 10);

	stop(pid);
	return packed;
}

/* CPUs run at their highest frequency, or at what schedutil chooses. */
static void at_highest(bool always)
{
	char path[128], hertz[32];

	for (int cpu = 0; cpu < mains; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/cpuinfo_%s_freq", cpu,
			 always ? "max" : "min");
		if (read_text(path, hertz, sizeof(hertz)))
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%d/scaling_min_freq", cpu);
		put(path, hertz);
	}
}

static void test_pack(void)
{
	unsigned long before;

	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		only("pack");
		set("tracking", trackings[i]);
		tap_ok(is_packed(last_little, last_little, RUNS * 9 / 10),
		       "%s: a task is packed on the little CPU that is at work", trackings[i]);
	}
	set("tracking", "walt");
	if (littles > 1) {
		tap_ok(is_packed_on_fuller(8 * MS, 4 * MS) && is_packed_on_fuller(4 * MS, 8 * MS),
		       "of two CPUs at work, it is the fuller one");
		at_highest(true);
		tap_ok(is_full_though_one_visits(),
		       "a task that was a real-time task takes only what it brought");
		at_highest(false);
	} else {
		tap_ok(true, "of two CPUs at work, it is the fuller one # SKIP one little CPU");
	}
	/* By itself the real-time task would fill the CPU. */
	set("pack_percent", "50");
	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		set("tracking", trackings[i]);
		tap_ok(is_packed_beside_realtime(),
		       "%s: beside a real-time task there is what it leaves", trackings[i]);
	}
	set("pack_percent", "80");
	only(NULL);
	before = stat_of("packed");
	woken(NOT, last_little, last_little);
	if (!tap_ok(stat_of("packed") == before, "not if that part is off"))
		tap_note("%lu were packed", stat_of("packed") - before);
	only("pack");
	set("pack_percent", "1");
	before = stat_of("packed");
	woken(NOT, last_little, last_little);
	tap_ok(stat_of("packed") < before + RUNS / 2, "nor if the CPU would be too full");
	set("pack_percent", "80");
}

/*
 * The waker is the only task at work on a little CPU. So the task that it wakes is packed there, or
 * nowhere.
 */
static void test_pack_apart(void)
{
	unsigned long before;
	int came;

	only("pack");
	set("pack_apart", "1");
	tap_ok(is_packed(last_little, last_little, RUNS * 9 / 10),
	       "packing apart, a task is packed where no latency-sensitive task runs");
	waker_is_sensitive = true;
	before = stat_of("packed");
	came = woken(NOT, last_little, last_little);
	/* EAS takes the only little CPU, too. So there the packings of all tasks tell. */
	if (littles == 1)
		came = (int)(stat_of("packed") - before);
	if (!tap_ok(came < RUNS / 10, "not where one runs"))
		tap_note("%d %s", came, littles == 1 ? "were packed" : "came there");
	set("pack_apart", "0");
	tap_ok(is_packed(last_little, last_little, RUNS * 9 / 10),
	       "there, too, if that is off, as in the paper");
	waker_is_sensitive = false;
}

/*
 * A task fills a large part of one window on a big CPU, and sleeps for long: how often of @runs it
 * wakes on a big CPU.
 */
static int wakes_on_big(int runs)
{
	int pipes[2], count = 0;
	cpu_set_t all;
	pid_t pid;

	if (pipe(pipes) || sched_getaffinity(0, sizeof(all), &all))
		tap_bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (begins)
			begins();
		for (int i = 0; i < runs + 3; i++) {
			pin(mains - 1);
			sleep_to(BEAT, MS);
			spin_ns(12 * MS);
			if (sched_setaffinity(0, sizeof(all), &all))
				_exit(9);
			clock_sleep(120 * MS);
			/* The first times nobody knows the task. */
			count += i >= 3 && !is_little[sched_getcpu()];
		}
		_exit(write(pipes[1], &count, sizeof(count)) != sizeof(count));
	}
	close(pipes[1]);
	if (read(pipes[0], &count, sizeof(count)) != sizeof(count))
		tap_bail("a task did not run");
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	tap_note("%d of %d wake-ups on a big CPU", count, runs);
	return count;
}

/* PELT has forgotten the work until the task wakes, and windows have not. */
static void test_placement(void)
{
	only(NULL);
	set("tracking", "walt");
	at_highest(true);
	tap_ok(wakes_on_big(6) >= 5, "by windows, EAS places a task where its last work fits");
	set("placement", "0");
	tap_ok(wakes_on_big(6) <= 1, "by PELT, where the rest of that fits");
	set("placement", "1");
	set("tracking", "pelt");
	tap_ok(wakes_on_big(6) <= 1, "so it does if nothing is by windows");
	set("tracking", "walt");
	at_highest(false);
}

/* A task works, and its child sleeps at once: how often of @runs the child wakes on a big CPU. */
static int child_wakes_on_big(int runs)
{
	int count = 0, status;
	cpu_set_t all;
	pid_t pid;

	if (sched_getaffinity(0, sizeof(all), &all))
		tap_bail("no affinity: %s", strerror(errno));
	for (int i = 0; i < runs; i++) {
		pin(mains - 1);
		sleep_to(BEAT, MS);
		spin_ns(16 * MS);
		if (sched_setaffinity(0, sizeof(all), &all))
			tap_bail("no affinity: %s", strerror(errno));
		pid = fork();
		if (!pid) {
			clock_sleep(50 * MS);
			_exit(!is_little[sched_getcpu()]);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			tap_bail("a task did not run");
		count += WEXITSTATUS(status);
	}
	tap_note("%d of %d children on a big CPU", count, runs);
	return count;
}

static void test_inherit(void)
{
	only(NULL);
	set("tracking", "walt");
	at_highest(true);
	set("inherit", "1");
	tap_ok(child_wakes_on_big(6) >= 5, "a new task begins with its parent's demand");
	set("inherit", "0");
	tap_ok(child_wakes_on_big(6) <= 1, "not if that is off");
	at_highest(false);
}

static void be_sensitive(void)
{
	if (own_file(getpid(), "1"))
		_exit(1);
}

static void be_sensitive_and_cap(void)
{
	be_sensitive();
	cap();
}

/* A CPU that is fuller than upstream's margin is over-utilised: a matter of its cluster here. */
static void test_pack_percent(void)
{
	pid_t pid;

	if (littles < 2) {
		tap_ok(true, "a CPU may be packed above 80 percent # SKIP one little CPU");
		return;
	}
	only("pack");
	set("balance", "1");
	set("tracking", "walt");
	at_highest(true);
	pid = works(last_little, 0, 17 * MS, SCHED_OTHER);
	set("pack_percent", "98");
	tap_ok(is_packed_in_beat(18 * MS, last_little, last_little, RUNS * 8 / 10),
	       "a CPU may be packed above 80 percent");
	set("pack_percent", "80");
	wakes_every = BEAT;
	wakes_at = 18 * MS;
	tap_ok(woken(NOT, last_little, last_little) <= RUNS / 10, "not if that says so");
	wakes_every = 3 * MS;
	wakes_at = 0;
	stop(pid);
	at_highest(false);
}

static bool is_last(int cpu)
{
	return cpu == mains - 1;
}

/*
 * A task needs more than a little CPU has. Its last work was on the last big CPU but one, and the
 * last one sleeps in a lighter state: how often of @runs it wakes there.
 */
static int wakes_on_last(int runs)
{
	int to[2], from[2], count = 0;
	pid_t sleeper, waker;
	char byte = 0;

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	sleeper = fork();
	if (!sleeper) {
		be_sensitive();
		for (int i = 0; i < runs + 3 && read(to[0], &byte, 1) == 1; i++) {
			/* The first times nobody knows the task. */
			count += i >= 3 && is_last(sched_getcpu());
			pin(mains - 2);
			sleep_to(BEAT, MS);
			spin_ns(9 * MS);
			pin_to(0, mains - 1);
		}
		_exit(write(from[1], &count, sizeof(count)) != sizeof(count));
	}
	waker = fork();
	if (!waker) {
		pin(first_little);
		for (int i = 0; i < runs + 3; i++) {
			clock_sleep(120 * MS);
			sleep_to(BEAT, 17 * MS);
			if (write(to[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(from[1]);
	if (read(from[0], &count, sizeof(count)) != sizeof(count))
		tap_bail("a task did not run");
	waitpid(sleeper, NULL, 0);
	waitpid(waker, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(to[i]);
	close(from[0]);
	tap_note("%d of %d wake-ups on the last CPU", count, runs);
	return count;
}

/*
 * The kernel counts what real-time tasks take from a CPU when that CPU balances, which it may not do
 * for a while. So the first wake-ups may go by what it counted before, and three tries are made.
 */
static bool is_on_last(bool wanted)
{
	for (int i = 0; i < 3; i++) {
		int count = wakes_on_last(6);

		if (wanted ? count >= 5 : count <= 1)
			return true;
	}
	return false;
}

/* A real-time task leaves a big CPU less than a little one has. */
static void test_inversion(void)
{
	pid_t pid;

	if (is_little[mains - 2]) {
		tap_ok(true, "select goes by what real-time tasks leave # SKIP one big CPU");
		return;
	}
	only("select");
	set("tracking", "walt");
	at_highest(true);
	sleep_lightly(is_last);
	tap_ok(is_on_last(true), "a task gets the big CPU in the lightest state");
	pid = works(mains - 1, 0, 12 * MS, SCHED_FIFO);
	clock_sleep(500 * MS);
	tap_ok(is_on_last(false),
	       "not if a real-time task leaves it less than a little CPU has");
	stop(pid);
	sleep_as_before();
	at_highest(false);
}

static void may_not_last(void)
{
	pin_to(first_little, last_little - 1);
}

/* A control group whose tasks may run on these CPUs only. */
static void make_fewer(int first, int last)
{
	char text[32];

	put(ROOT "/cgroup.subtree_control", "+cpuset");
	if (mkdir(FEWER, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	snprintf(text, sizeof(text), "%d-%d", first, last);
	put(FEWER "/cpuset.cpus", text);
}

static void drop_fewer(void)
{
	for (int i = 0; i < 100 && rmdir(FEWER); i++)
		clock_sleep(10 * MS);
	put(ROOT "/cgroup.subtree_control", "-cpuset");
}

static void in_fewer(void)
{
	if (write_text(FEWER "/cgroup.procs", "0"))
		_exit(6);
}

/* A latency-sensitive task gets a little CPU, but not the last one, which sleeps the lightest. */
static bool is_selected_elsewhere(void)
{
	return selected(BY_ITSELF, -1) == RUNS && !came_to[last_little];
}

/* Others are packed on the first little CPU, though the last one is fuller. */
static bool is_packed_elsewhere(void)
{
	pid_t first = works(first_little, 0, 8 * MS, SCHED_OTHER);
	pid_t last = works(last_little, 0, 12 * MS, SCHED_OTHER);
	bool packed = is_packed_in_beat(5 * MS, mains - 1, first_little, RUNS * 6 / 10) &&
		      !came_to[last_little];

	stop(first);
	stop(last);
	return packed;
}

static void test_allowed_by(void (*how)(void), const char *what)
{
	begins = how;
	only("select");
	sleep_lightly(is_last_little);
	tap_ok(is_selected_elsewhere(), "select keeps to %s", what);
	sleep_as_before();
	only("pack");
	tap_ok(is_packed_elsewhere(), "pack keeps to %s", what);
	begins = NULL;
}

/*
 * Runs a test while @cpu is offline, and again while it is out. @out, written to @file, takes the
 * CPU away, and @in brings it back. @what is what the CPU is meanwhile.
 */
static void test_offline_and_out(int cpu, void (*test)(const char *file, const char *out,
						       const char *in, const char *what))
{
	char text[32], path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
	test(path, "0", "1", "offline");
	put("/sys/kernel/lull/hotplug/enabled", "1");
	snprintf(text, sizeof(text), "%d", cpu);
	test(CPU_DIR "/pseudo_offline", text, "\n", "out");
	put("/sys/kernel/lull/hotplug/enabled", "0");
}

/* Nothing is placed on a CPU that is gone. */
static void test_not_there(const char *file, const char *out, const char *in, const char *what)
{
	only("select");
	sleep_lightly(is_last_little);
	put(file, out);
	clock_sleep(500 * MS);
	tap_ok(is_selected_elsewhere(), "select knows that a CPU is %s", what);
	only("pack");
	tap_ok(is_packed(first_little, first_little, RUNS * 9 / 10) && !came_to[last_little],
	       "pack knows that a CPU is %s", what);
	put(file, in);
	clock_sleep(500 * MS);
	sleep_as_before();
	only("select");
	sleep_lightly(is_last_little);
	tap_ok(is_selected(BY_ITSELF, last_little), "and that it is %s no more", what);
	sleep_as_before();
}

static void test_allowed(void)
{
	unsigned long before;

	if (littles < 3 || last_little - first_little + 1 != littles) {
		tap_ok(true, "a task's CPUs are kept to # SKIP too few little CPUs");
		return;
	}
	set("tracking", "walt");
	test_allowed_by(may_not_last, "affinity");

	make_fewer(first_little, last_little - 1);
	test_allowed_by(in_fewer, "cpuset");
	drop_fewer();

	test_offline_and_out(last_little, test_not_there);

	only("pack");
	begins = clamp;
	tap_ok(woken(NOT, last_little, -1) <= RUNS / 10, "pack keeps to uclamp.min");
	only("select");
	at_highest(true);
	begins = be_sensitive;
	tap_ok(wakes_on_big(6) >= 5, "a large task is given a big CPU");
	begins = be_sensitive_and_cap;
	before = stat_of("selected");
	tap_ok(wakes_on_big(6) <= 1 && stat_of("selected") >= before + 5,
	       "select keeps to uclamp.max");
	begins = NULL;
	at_highest(false);
}

/* Two tasks that wake each other in turn. */
static void in_turn(void)
{
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < RUNS; i++)
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			tap_bail("no answer");
	stop(pid);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

static void anywhere(void)
{
	pin_to(0, mains - 1);
}

static void may_not_second(void)
{
	pin_to(2, mains - 1);
}

static void leaves_fewer(void)
{
	put(ROOT "/cgroup.procs", "0");
}

/* What takes CPU 1 away, while a task that was there sleeps, and what brings it back. */
static struct {
	const char *file, *out, *in;
} second;

static void loses_second(void)
{
	anywhere();
	put(second.file, second.out);
}

static void regains_second(void)
{
	put(second.file, second.in);
}

static void needs_more(void)
{
	anywhere();
	if (clamp_least(900))
		tap_bail("cannot set uclamp.min");
}

static void needs_less(void)
{
	if (clamp_least(0))
		tap_bail("cannot drop uclamp.min");
}

/*
 * A task wakes another one on CPU 1, sleeps on CPU 0, and is woken by the other one after @pause:
 * how often of @runs it comes back to CPU 1. The other one may run on the CPUs from @first on.
 * Before the task sleeps, @goes says where it may run, and @after, if any, undoes that.
 */
static int came_back(int runs, uint64_t pause, int first, void (*goes)(void), void (*after)(void))
{
	int to[2], from[2], back = 0, on[64] = {0};
	char byte = 0;
	pid_t pid;

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		pin_to(first, mains - 1);
		while (read(to[0], &byte, 1) == 1) {
			clock_sleep(pause);
			if (write(from[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < runs; i++) {
		pin(1);
		if (write(to[1], &byte, 1) != 1)
			tap_bail("no wake-up");
		pin(0);
		goes();
		if (read(from[0], &byte, 1) != 1)
			tap_bail("no answer");
		back += sched_getcpu() == 1;
		on[sched_getcpu()]++;
		if (after)
			after();
	}
	anywhere();
	stop(pid);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	for (int i = 0; i < mains; i++)
		if (on[i])
			tap_note("%d of %d on CPU %d", on[i], runs, i);
	return back;
}

/* A task does not return to CPU 1, where it may not run any more. */
static void test_return_to(void (*goes)(void), void (*after)(void), const char *what)
{
	unsigned long before = stat_of("returned"), returned;

	/* The waker may run on one CPU only, so it returns nowhere itself. */
	came_back(RUNS, 5 * MS, mains - 1, goes, after);
	returned = stat_of("returned") - before;
	if (!tap_ok(returned <= RUNS / 10, "associate keeps to %s", what))
		tap_note("%lu returned", returned);
}

/*
 * Nor does it if CPU 1 is gone. That makes tasks of the kernel return, so `returned` says nothing.
 * Few rounds are made, because taking a CPU offline takes long on QEMU.
 */
static void test_return_gone(const char *file, const char *out, const char *in, const char *what)
{
	second.file = file;
	second.out = out;
	second.in = in;
	tap_ok(came_back(4, 5 * MS, mains - 1, loses_second, regains_second) == 0,
	       "associate knows that a CPU is %s", what);
}

static void test_return(void)
{
	if (last_little < 2 || is_little[mains - 2]) {
		tap_ok(true, "a task comes back to where it was # SKIP too few CPUs");
		return;
	}
	only("associate");
	/* A thread of the kernel may be at work there meanwhile. */
	tap_ok(came_back(RUNS, 5 * MS, mains - 2, anywhere, NULL) >= RUNS * 8 / 10,
	       "a task comes back to where it was when it woke the one that wakes it");
	tap_ok(came_back(RUNS, 5 * MS, mains - 1, anywhere, NULL) >= RUNS * 8 / 10,
	       "so it does if that one may run on one CPU only");
	/* Upstream takes any idle CPU, which may be this one now and then. */
	tap_ok(came_back(3, 700 * MS, mains - 2, anywhere, NULL) <= 1,
	       "but not after more than half a second");
	test_return_to(may_not_second, NULL, "affinity");
	make_fewer(2, mains - 1);
	test_return_to(in_fewer, leaves_fewer, "cpuset");
	drop_fewer();
	test_return_to(needs_more, needs_less, "uclamp.min");
	test_offline_and_out(1, test_return_gone);
	only(NULL);
	tap_ok(came_back(RUNS, 5 * MS, mains - 2, anywhere, NULL) <= RUNS / 10,
	       "nor if that part is off");
}

static void test_associate(void)
{
	unsigned long before;
	pid_t pid;

	if (mains < 3) {
		tap_ok(true,
		       "tasks that wake each other go back # SKIP two CPUs, one of them busy");
		return;
	}
	/* A CPU that is over-utilised, so that EAS does not choose. */
	pid = hog(last_little);
	clock_sleep(200 * MS);
	only("associate");
	before = stat_of("returned");
	in_turn();
	tap_ok(stat_of("returned") >= before + RUNS / 2, "tasks that wake each other go back");
	only(NULL);
	before = stat_of("returned");
	in_turn();
	tap_ok(stat_of("returned") == before, "not if that part is off");
	test_return();
	stop(pid);
}

/* After how many ms of work a CPU that slept has its highest frequency. */
static int time_to_highest(void)
{
	char path[128], highest[32], now[32];
	pid_t pid = fork();
	int status, ms = 5;

	if (!pid) {
		pin(last_little);
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/cpuinfo_max_freq",
			 last_little);
		if (read_text(path, highest, sizeof(highest)))
			_exit(255);
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_cur_freq",
			 last_little);
		clock_sleep(400 * MS);
		/* Until the first tick there is still what the last task left. */
		spin_ns(5 * MS);
		while (ms < 250 && !read_text(path, now, sizeof(now)) && strcmp(now, highest)) {
			spin_ns(MS);
			ms++;
		}
		_exit(ms);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
		tap_bail("no frequency");
	tap_note("the highest frequency after %d ms", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

/* The longest of three times. Upstream gives a real-time task the highest frequency at once. */
static int longest_to_highest(void)
{
	int ms, longest = 0;

	for (int i = 0; i < 3; i++) {
		ms = time_to_highest();
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

/* A millisecond of work fills a window of that length, and hardly counts by PELT. */
static void test_frequency(void)
{
	int ms;

	/* A single one is the boot CPU, which has other work as well. */
	if (littles < 2) {
		tap_ok(true, "schedutil goes by windows # SKIP one little CPU");
		return;
	}
	only("frequency");
	set("window_us", "1000");
	set("tracking", "walt");
	ms = longest_to_highest();
	set("tracking", "pelt");
	tap_ok(2 * ms < longest_to_highest(), "schedutil goes by windows, which fill at once");
	set("tracking", "walt");
	only(NULL);
	tap_ok(2 * ms < longest_to_highest(), "not if that part is off");
	set("window_us", "20000");
}

/* Where each of the tasks is that never sleep. */
static volatile int *seats;

/* Tasks that never sleep. All begin on CPU @first, and may run on those up to @last. */
static void roam(pid_t *pids, int count, int first, int last)
{
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		if (begins)
			begins();
		pin(first);
		pin_to(first, last);
		for (;;)
			seats[i] = sched_getcpu();
	}
	clock_sleep(400 * MS);
}

/*
 * Latency-sensitive tasks are given a CPU only while the root has no flag. A flag that a new task
 * has set stays until somebody balances, so not all wake-ups tell.
 */
static bool is_root_clear(void)
{
	unsigned long before = stat_of("selected"), selected;

	woken(BY_ITSELF, mains - 1, -1);
	selected = stat_of("selected") - before;
	tap_note("%lu were selected", selected);
	return selected >= RUNS / 5;
}

static bool is_once_clear(void)
{
	for (int tries = 0; tries < 6; tries++)
		if (is_root_clear())
			return true;
	return false;
}

static bool is_root_flagged(void)
{
	return !is_root_clear() && !is_root_clear();
}

static void stop_all(pid_t *pids, int count)
{
	for (int i = 0; i < count; i++)
		stop(pids[i]);
	clock_sleep(200 * MS);
}

/*
 * While the root's flag is set, upstream balances, and a cluster by itself never does. The task
 * that was there before may have left the flag set. So each load has some tries.
 */
#define LOCAL_TRIES 5

/* Whether a cluster is balanced by itself while such tasks roam. */
static bool roam_by_cluster(pid_t *pids, int count, int last)
{
	unsigned long before, after;

	is_once_clear();
	before = stat_of("local");
	roam(pids, count, first_little, last);
	after = stat_of("local");
	for (int i = 0; i < count; i++)
		tap_note("on CPU %d", seats[i]);
	tap_note("balanced %lu times", after - before);
	return after > before;
}

/* Two tasks that never sleep have a CPU each, and the root has no flag for them. */
static bool is_balanced_alone(void)
{
	bool alone = false;
	pid_t pids[2];

	for (int tries = 0; tries < LOCAL_TRIES && !alone; tries++) {
		alone = roam_by_cluster(pids, 2, last_little) && seats[0] != seats[1] &&
			is_once_clear();
		stop_all(pids, 2);
	}
	return alone;
}

/* Three tasks that never sleep use two CPUs, and never another one. */
static void test_balance_by(int last, const char *what)
{
	bool kept = true, spread = false;
	pid_t pids[3];

	for (int tries = 0; tries < LOCAL_TRIES && kept && !spread; tries++) {
		bool local = roam_by_cluster(pids, 3, last), used[2] = {false, false};

		for (int i = 0; i < 3; i++) {
			kept &= seats[i] <= first_little + 1;
			used[seats[i] != first_little] = true;
		}
		spread = local && used[0] && used[1];
		stop_all(pids, 3);
	}
	tap_ok(kept && spread, "balance keeps to %s", what);
}

/* A cluster of which a CPU is gone is still balanced by itself, over the others. */
static void test_balance_gone(const char *file, const char *out, const char *in, const char *what)
{
	bool alone;

	put(file, out);
	clock_sleep(500 * MS);
	alone = is_balanced_alone();
	tap_ok(alone && seats[0] != last_little && seats[1] != last_little,
	       "balance knows that a CPU is %s", what);
	put(file, in);
	clock_sleep(500 * MS);
}

/* Tasks that may run on little CPUs only are never too large for them. */
static void test_balance(void)
{
	unsigned long before;
	pid_t pids[64];

	if (littles < 4 || last_little - first_little + 1 != littles) {
		tap_ok(true, "a cluster is balanced by itself # SKIP too few little CPUs");
		return;
	}
	seats = mmap(NULL, sizeof(pids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seats == MAP_FAILED)
		tap_bail("no memory: %s", strerror(errno));
	only("balance");
	set("select", "1");
	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		set("tracking", trackings[i]);
		tap_ok(is_balanced_alone(), "%s: a cluster with room is balanced by itself",
		       trackings[i]);
		roam(pids, littles + 1, first_little, last_little);
		tap_ok(is_root_flagged(), "%s: one without room is a matter of the root",
		       trackings[i]);
		stop_all(pids, littles + 1);
		roam(pids, 1, first_little, mains - 1);
		for (int tries = 0; tries < 20 && is_little[seats[0]]; tries++)
			clock_sleep(100 * MS);
		tap_note("on CPU %d", seats[0]);
		tap_ok(!is_little[seats[0]], "%s: so is a task that is too large", trackings[i]);
		stop_all(pids, 1);
	}
	test_balance_by(first_little + 1, "affinity");
	make_fewer(first_little, first_little + 1);
	begins = in_fewer;
	test_balance_by(last_little, "cpuset");
	begins = NULL;
	drop_fewer();
	test_offline_and_out(last_little, test_balance_gone);
	only("select");
	before = stat_of("local");
	roam(pids, 2, first_little, last_little);
	tap_ok(stat_of("local") == before && is_root_flagged(), "so is all if that part is off");
	stop_all(pids, 2);
}

/* As hackbench: many tasks are woken at once, and wake one that waits for all of them. */
static void messages(void)
{
	int to[RECEIVERS][2], back[2];
	char message[100] = {0};

	if (pipe(back))
		_exit(1);
	for (int i = 0; i < RECEIVERS; i++) {
		if (pipe(to[i]))
			_exit(1);
		if (fork())
			continue;
		for (int got = 0;; got++) {
			if (read(to[i][0], message, sizeof(message)) != sizeof(message))
				_exit(1);
			if (got % BATCH == BATCH - 1 && write(back[1], message, 1) != 1)
				_exit(1);
		}
	}
	for (;;) {
		for (int i = 0; i < BATCH * RECEIVERS; i++)
			if (write(to[i % RECEIVERS][1], message, sizeof(message)) < 0)
				_exit(1);
		for (int i = 0; i < RECEIVERS; i++)
			if (read(back[0], message, 1) != 1)
				_exit(1);
	}
}

static unsigned long switches(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long number = 0;
	static char *line;
	static size_t size;

	while (file && getline(&line, &size, file) > 0)
		if (sscanf(line, "ctxt %lu", &number) == 1)
			break;
	if (!number)
		tap_bail("nobody counts switches");
	fclose(file);
	return number;
}

static void test_storm(int rounds, unsigned long least)
{
	unsigned long before = switches();
	unsigned int seed = 1;
	char text[16];
	pid_t pids[4];

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			setpgid(0, 0);
			if (i == 0 && write_text(GROUP "/cgroup.procs", "0"))
				_exit(1);
			if (i % 2)
				messages();
			for (;;)
				in_turn();
		}
	}
	for (int i = 0; i < rounds || switches() - before < least; i++) {
		for (size_t part = 0; part < sizeof(parts) / sizeof(*parts); part++)
			set(parts[part], rand_r(&seed) % 2 ? "1" : "0");
		set("placement", rand_r(&seed) % 2 ? "1" : "0");
		set("inherit", rand_r(&seed) % 2 ? "1" : "0");
		set("tracking", trackings[rand_r(&seed) % 3]);
		snprintf(text, sizeof(text), "%d", 1000 + rand_r(&seed) % 99000);
		set("window_us", text);
		snprintf(text, sizeof(text), "%d", 1 + rand_r(&seed) % 1023);
		set("alpha", text);
		snprintf(text, sizeof(text), "%d", 1 + rand_r(&seed) % 100);
		set("pack_percent", text);
		set("pack_apart", rand_r(&seed) % 2 ? "1" : "0");
		put(SENSITIVE, rand_r(&seed) % 2 ? "1" : "0");
		set("enabled", rand_r(&seed) % 4 ? "1" : "0");
		snprintf(text, sizeof(text), "%c%d", rand_r(&seed) % 2 ? '+' : '-', pids[1]);
		put(SYSTEM "latency_sensitive", text);
		clock_sleep(2 * MS);
	}
	/* Each with the task that it plays with. */
	for (int i = 0; i < 4; i++) {
		kill(-pids[i], SIGKILL);
		stop(pids[i]);
	}
	tap_note("%lu switches", switches() - before);
	tap_ok(switches() - before >= least && switches() > before,
	       "tasks run on in %d rounds of changes", rounds);
}

int main(int argc, char **argv)
{
	bool plays = argc > 1 && !strcmp(argv[1], "replay");
	int rounds = argc > 1 ? atoi(argv[1]) : 40;
	unsigned long least = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long before;

	if (plays)
		return replay();
	put(SYSTEM "enabled", "0");
	find_cpus();
	find_clock();
	put(ROOT "/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	test_files();
	test_group_file();
	test_own_file();
	govern("schedutil");
	if (mains < 2 || littles == mains || !is_aware()) {
		tap_ok(true, "placement # SKIP there are no big and little CPUs here");
	} else {
		clock_sleep(500 * MS);
		put(SENSITIVE, "1");
		woken(BY_GROUP, mains - 1, -1);
		woken(NOT, last_little, last_little);
		tap_ok(!stat_of("selected") && !stat_of("packed"), "off, upstream decides");
		put(SYSTEM "enabled", "1");
		test_placement();
		test_inherit();
		set("tracking", "bes");
		test_select();
		test_pack();
		test_pack_percent();
		test_pack_apart();
		test_inversion();
		test_allowed();
		test_associate();
		test_balance();
		test_frequency();
	}
	test_storm(rounds, least);
	put(SYSTEM "enabled", "0");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		set(parts[i], "1");
	set("placement", "1");
	set("inherit", "0");
	set("tracking", "bes");
	set("window_us", "20000");
	set("alpha", "512");
	set("pack_percent", "80");
	set("pack_apart", "0");
	before = stat_of("packed");
	in_turn();
	tap_ok(stat_of("packed") == before, "off, all is upstream's again");
	/* What was stopped may not have ended yet. */
	for (int i = 0; i < 100 && rmdir(GROUP); i++)
		clock_sleep(10 * MS);
	tap_ok(access(GROUP, F_OK) != 0, "nothing keeps the group");
	govern("performance");
	return tap_finish();
}
