// SPDX-License-Identifier: BSD-3-Clause
/*
 * pseudo [TOGGLES]: pseudo CPU hotplug does what its README says, and survives TOGGLES changes
 * (500) that alternate with CPU hotplug. pseudo --stress [TOGGLES]: only the latter.
 * pseudo --brief: without the parts that keep CPUs busy, which take long on gem5.
 *
 * CPU 0 stays for those who test, but where the test is about CPU 0 itself. The CPU that is
 * taken out is another main one, "there".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "fail_each.h"
#include "idle.h"
#include "random.h"
#include "sysfs.h"
#include "tap.h"

#define SYSTEM "/sys/kernel/lull/hotplug/"
#define WAKES "/sys/kernel/debug/lull/hotplug/wakes"
#define LIST CPU_DIR "/pseudo_offline"
#define CGROUPS "/sys/fs/cgroup"
#define GROUP CGROUPS "/lull-pseudo"
#define MS 1000000ULL

/* CPUs that tasks are placed on, and the one that most tests take out. */
static struct cpulist mains;
static int there;
static cpu_set_t everywhere;

static void said(int got, int wanted, const char *text)
{
	if (!tap_ok(got == -wanted, "%s", text))
		tap_note("wanted %s, got %s", strerror(wanted), strerror(-got));
}

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(-error));
}

static void turn(const char *value)
{
	must(write_text(SYSTEM "enabled", value), "switch");
}

static int put_list(const char *list)
{
	return write_text(LIST, list);
}

static int put_cpu(int cpu, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
	return write_text(path, text);
}

static int get_cpu(int cpu, const char *file)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
	return read_text(path, text, sizeof(text)) ? -1 : atoi(text);
}

static void out(int cpu)
{
	must(put_cpu(cpu, "pseudo_online", "0"), "take a CPU out");
}

static void all_in(void)
{
	must(put_list("\n"), "bring all back");
}

static bool list_is(const char *wanted)
{
	char text[256];

	return !read_text(LIST, text, sizeof(text)) && !strcmp(text, wanted);
}

static bool list_is_cpu(int cpu)
{
	char wanted[16];

	snprintf(wanted, sizeof(wanted), "%d", cpu);
	return list_is(wanted);
}

/* A list of all main CPUs but one. */
static const char *all_but(int cpu)
{
	static char text[256];
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < CPULIST_MAX; i++)
		if (mains.has[i] && i != cpu)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d",
						 used ? "," : "", i);
	return text;
}

static bool list_has_all_but(int cpu)
{
	struct cpulist list;
	char text[256];

	if (read_text(LIST, text, sizeof(text)) || cpulist_parse(&list, text))
		return false;
	for (int i = 0; i < CPULIST_MAX; i++)
		if (list.has[i] != (mains.has[i] && i != cpu))
			return false;
	return true;
}

/* Of one CPU, or of all changes if @cpu is negative. */
static unsigned long counted(int cpu, const char *word)
{
	char text[4096], start[32], *line;

	must(read_text(SYSTEM "stats", text, sizeof(text)), "read the counts");
	snprintf(start, sizeof(start), cpu < 0 ? "changes " : "cpu%d ", cpu);
	line = strstr(text, start);
	if (line && word)
		line = strstr(line, word);
	if (!line)
		tap_bail("no count of '%s' in %s", start, text);
	return strtoul(strchr(line, ' '), NULL, 10);
}

static cpu_set_t set_of(int a, int b)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(a, &set);
	if (b >= 0)
		CPU_SET(b, &set);
	return set;
}

static int allow(pid_t thread, cpu_set_t set)
{
	return sched_setaffinity(thread, sizeof(set), &set) ? -errno : 0;
}

/* A thread that says where it is. */
struct worker {
	pthread_t thread;
	cpu_set_t first;
	uint64_t pause_ns;
	atomic_int tid, cpu;
	atomic_ulong rounds, there;
	atomic_bool stop;
};

static void *work(void *data)
{
	struct worker *worker = data;

	allow(0, worker->first);
	atomic_store(&worker->tid, gettid());
	while (!atomic_load(&worker->stop)) {
		int cpu = sched_getcpu();

		atomic_store(&worker->cpu, cpu);
		atomic_fetch_add(&worker->rounds, 1);
		if (cpu == there)
			atomic_fetch_add(&worker->there, 1);
		if (worker->pause_ns)
			clock_sleep(worker->pause_ns);
	}
	return NULL;
}

/* Begins on @first; a pause of 0 is a loop without a sleep. */
static void start(struct worker *worker, cpu_set_t first, uint64_t pause_ns)
{
	memset(worker, 0, sizeof(*worker));
	worker->first = first;
	worker->pause_ns = pause_ns;
	must(-pthread_create(&worker->thread, NULL, work, worker), "start a thread");
	while (!atomic_load(&worker->rounds))
		clock_sleep(MS);
}

static void stop(struct worker *worker)
{
	atomic_store(&worker->stop, true);
	pthread_join(worker->thread, NULL);
}

static unsigned long grows_in(uint64_t ns, atomic_ulong *which)
{
	unsigned long before = atomic_load(which);

	clock_sleep(ns);
	return atomic_load(which) - before;
}

static void test_off(void)
{
	turn("0");
	tap_ok(list_is(""), "while it is off no CPU is out");
	tap_ok(get_cpu(there, "pseudo_online") == 1, "and each says that it is not");
	said(put_cpu(there, "pseudo_online", "0"), EOPNOTSUPP, "to take one out is EOPNOTSUPP");
	said(put_list("1"), EOPNOTSUPP, "also by the list");
	said(put_cpu(there, "pseudo_online", "1"), 0, "to bring back what is not out is no error");
	said(put_list("\n"), 0, "also by the list");
	turn("1");
	tap_ok(list_is(""), "switched on, no CPU is out");
}

static void test_files(void)
{
	unsigned long changes = counted(-1, NULL);
	char online[64];

	said(put_cpu(there, "pseudo_online", "0"), 0, "a CPU is taken out");
	tap_ok(get_cpu(there, "pseudo_online") == 0, "its file says so");
	tap_ok(list_is_cpu(there), "the list says so");
	read_text(CPU_DIR "/online", online, sizeof(online));
	tap_ok(get_cpu(there, "online") != 0, "it is online for all else: %s", online);
	tap_ok(counted(-1, NULL) == changes + 1, "that is one change");
	said(put_cpu(there, "pseudo_online", "0"), 0, "to take it out again is no error");
	tap_ok(counted(-1, NULL) == changes + 1, "and no change");
	said(put_cpu(there, "pseudo_online", "1"), 0, "it comes back");
	tap_ok(get_cpu(there, "pseudo_online") == 1 && list_is(""), "both files say so");

	said(put_list(all_but(0)), 0, "a list of CPUs is taken out by one write");
	tap_ok(list_has_all_but(0), "and is read as a list");
	tap_ok(get_cpu(0, "pseudo_online") == 1 && get_cpu(there, "pseudo_online") == 0,
	       "each file agrees");
	said(put_list(all_but(there)), 0, "another list takes its place by one write");
	tap_ok(get_cpu(0, "pseudo_online") == 0 && get_cpu(there, "pseudo_online") == 1,
	       "who was in is out, and the other way round: the boot CPU too");
	all_in();
	tap_ok(list_is(""), "an empty line brings all back");
}

static void test_bad_text(void)
{
	static const char *const numbers[] = {"2",  "-1", "x",	"01x", "1 0",
					      "\n", "on", "0,", "0x",  "99999999999999999999"};
	static const char *const lists[] = {"x",   "0-",    "-1",   "1-0",	   "all",    "N",
					    "0:1", "0-1:1", "1000", "99999999999", "0\n1\n", "0 1"};
	bool good = true;

	out(there);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (put_cpu(there, "pseudo_online", numbers[i]) != -EINVAL) {
			tap_note("'%s' is not EINVAL", numbers[i]);
			good = false;
		}
	tap_ok(good, "what is not 0 or 1 is EINVAL");
	good = true;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (put_list(lists[i]) != -EINVAL) {
			tap_note("'%s' is not EINVAL", lists[i]);
			good = false;
		}
	tap_ok(good, "what is no list of possible CPUs is EINVAL");
	tap_ok(list_is_cpu(there), "and nothing has changed");
	said(write_text(SYSTEM "realtime", "go"), EINVAL,
	     "an unknown word for real time is EINVAL");
	said(write_text(SYSTEM "realtime", "stay leave"), EINVAL, "so are two words");
	said(write_text(SYSTEM "enabled", "2"), EINVAL, "the switch takes 0 and 1 only");
	said(write_text(SYSTEM "enabled", "maybe"), EINVAL, "and no text");
	tap_ok(list_is_cpu(there), "after which the CPU is still out");
	all_in();
}

static void test_last(void)
{
	said(put_list(all_but(-1)), EBUSY, "to take all out is EBUSY");
	tap_ok(list_is(""), "and takes none out");
	must(put_list(all_but(0)), "take all out but CPU 0");
	said(put_cpu(0, "pseudo_online", "0"), EBUSY, "to take the last one out is EBUSY");
	tap_ok(get_cpu(0, "pseudo_online") == 1, "and leaves it in");
	said(put_cpu(0, "online", "0"), EBUSY, "it cannot go offline either");
	all_in();
}

static int as_nobody(const char *path, int flags)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(setuid(1) ? 255 : open(path, flags) < 0 ? errno : 0);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

static void test_permission(void)
{
	said(as_nobody(LIST, O_RDONLY), 0, "everybody reads the list");
	said(as_nobody(LIST, O_WRONLY), EACCES, "only root writes it: EACCES");
	said(as_nobody(CPU_DIR "/cpu0/pseudo_online", O_RDONLY), 0, "everybody reads a CPU's file");
	said(as_nobody(CPU_DIR "/cpu0/pseudo_online", O_WRONLY), EACCES, "only root writes it");
	said(as_nobody(SYSTEM "realtime", O_RDONLY), 0, "everybody reads what real-time tasks do");
	said(as_nobody(SYSTEM "realtime", O_WRONLY), EACCES, "only root writes it");
	said(as_nobody(SYSTEM "enabled", O_WRONLY), EACCES, "only root turns the system on");
	said(as_nobody(SYSTEM "stats", O_RDONLY), EACCES, "only root reads the counts");
	said(as_nobody(WAKES, O_RDONLY), EACCES, "and the table");
	said(as_nobody(WAKES, O_WRONLY), EACCES, "and clears it");
}

static void test_running(void)
{
	unsigned long pushed = counted(there, "pushed");
	struct worker spinner;
	uint64_t begin, took;

	start(&spinner, set_of(there, -1), 0);
	allow(atomic_load(&spinner.tid), set_of(0, there));
	begin = clock_ns();
	out(there);
	while (atomic_load(&spinner.cpu) == there && clock_ns() - begin < 1000 * MS)
		clock_sleep(MS / 10);
	took = clock_ns() - begin;
	tap_ok(atomic_load(&spinner.cpu) == 0, "a task that runs there leaves");
	/* A tick is 4 ms. On the machine that has time, the stopper needs microseconds. */
	tap_ok(took < 100 * MS, "within a few ticks");
	tap_note("%llu us", (unsigned long long)took / 1000);
	tap_ok(counted(there, "pushed") > pushed, "and is counted");
	tap_ok(grows_in(50 * MS, &spinner.there) == 0, "it does not come again");
	all_in();
	stop(&spinner);
}

static void test_waking(void)
{
	struct worker sleeper;

	start(&sleeper, set_of(there, -1), MS);
	allow(atomic_load(&sleeper.tid), set_of(0, there));
	out(there);
	clock_sleep(20 * MS);
	tap_ok(grows_in(100 * MS, &sleeper.there) == 0 && grows_in(100 * MS, &sleeper.rounds) > 5,
	       "a task that sleeps there wakes elsewhere");
	all_in();
	stop(&sleeper);
}

static unsigned long table(const char *word, bool print)
{
	static char text[8192];
	unsigned long sum = 0;
	char *line, *rest = text;

	if (read_text(WAKES, text, sizeof(text)))
		tap_bail("cannot read %s", WAKES);
	/* The first line is the heading. */
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (print)
			tap_note("%s", line);
		if (!word || strstr(line, word))
			sum += strtoul(line, NULL, 10);
	}
	return sum;
}

/* A thread that sleeps once, until a time. */
struct sleeper {
	pthread_t thread;
	uint64_t until, late;
	atomic_int tid;
	int cpu;
};

static void *sleep_once(void *data)
{
	struct sleeper *sleeper = data;
	struct timespec until = clock_time(sleeper->until);

	allow(0, set_of(there, -1));
	atomic_store(&sleeper->tid, gettid());
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	sleeper->late = clock_ns() - sleeper->until;
	sleeper->cpu = sched_getcpu();
	return NULL;
}

/* A timer of each other kind that a program has, started on the CPU that leaves. */
static int start_timers(uint64_t ns, timer_t *clock)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec time = {.it_value = clock_time(ns)};
	struct itimerval interval = {.it_value.tv_usec = (suseconds_t)(ns / 1000)};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	allow(0, set_of(there, -1));
	if (fd < 0 || timerfd_settime(fd, 0, &time, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, clock) || timer_settime(*clock, 0, &time, NULL) ||
	    setitimer(ITIMER_REAL, &interval, NULL))
		tap_bail("cannot start timers: %s", strerror(errno));
	allow(0, set_of(0, -1));
	return fd;
}

/* The timers that tasks and programs wait for leave, too. */
static void test_timers(void)
{
	struct sleeper sleepers[10];
	uint64_t latest = 0, fired = 0;
	unsigned long woken = 0;
	sigset_t signals, pending;
	int strayed = 0, fd;
	timer_t clock;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	fd = start_timers(700 * MS, &clock);
	for (int i = 0; i < 10; i++) {
		memset(&sleepers[i], 0, sizeof(sleepers[i]));
		sleepers[i].until = clock_ns() + (300 + 40 * (unsigned int)i) * MS;
		must(-pthread_create(&sleepers[i].thread, NULL, sleep_once, &sleepers[i]),
		     "start a thread");
	}
	clock_sleep(100 * MS);
	for (int i = 0; i < 10; i++)
		allow(atomic_load(&sleepers[i].tid), set_of(0, there));
	must(write_text(WAKES, "0"), "clear the table");
	out(there);
	for (int i = 0; i < 10; i++) {
		pthread_join(sleepers[i].thread, NULL);
		strayed += sleepers[i].cpu == there;
		if (sleepers[i].late > latest)
			latest = sleepers[i].late;
	}
	clock_sleep(200 * MS);
	woken = table("hrtimer_wakeup", true) + table("timerfd_tmrproc", false) +
		table("posix_timer_fn", false) + table("it_real_fn", false);
	tap_ok(woken <= 1, "ten tasks that sleep there, and other timers, wake it once: %lu times",
	       woken);
	tap_ok(strayed == 0, "none of the tasks wakes there: %d", strayed);
	tap_ok(latest < 100 * MS, "and none is late");
	tap_note("%llu us", (unsigned long long)latest / 1000);
	sigpending(&pending);
	tap_ok(read(fd, &fired, sizeof(fired)) == sizeof(fired) && fired == 1 &&
		       sigismember(&pending, SIGUSR1) && sigismember(&pending, SIGALRM),
	       "and the other timers have fired");
	while (sigtimedwait(&signals, NULL, &(struct timespec){0}) > 0)
		;
	timer_delete(clock);
	close(fd);
	all_in();
}

static void test_bound(void)
{
	unsigned long stranded = counted(there, "stranded");
	struct worker sleeper, spinner;

	start(&sleeper, set_of(there, -1), MS);
	start(&spinner, set_of(there, -1), 0);
	out(there);
	clock_sleep(20 * MS);
	tap_ok(grows_in(100 * MS, &sleeper.there) > 5, "a task that is bound there wakes there");
	tap_ok(grows_in(50 * MS, &spinner.there) > 5, "and runs there");
	tap_ok(counted(there, "stranded") > stranded, "and is counted");
	allow(atomic_load(&sleeper.tid), set_of(0, there));
	allow(atomic_load(&spinner.tid), set_of(0, there));
	clock_sleep(50 * MS);
	tap_ok(grows_in(50 * MS, &spinner.there) == 0 && grows_in(50 * MS, &sleeper.there) == 0,
	       "given another CPU, both leave");
	allow(atomic_load(&sleeper.tid), set_of(there, -1));
	clock_sleep(20 * MS);
	tap_ok(atomic_load(&sleeper.cpu) == there, "bound there again, it comes");
	allow(atomic_load(&sleeper.tid), everywhere);
	clock_sleep(20 * MS);
	tap_ok(grows_in(50 * MS, &sleeper.there) == 0, "allowed everywhere, it leaves");
	all_in();
	stop(&sleeper);
	stop(&spinner);
}

/* Whether a new task, or one that executes a program, comes to where it should not. */
static bool child_strays(bool execute)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (execute)
			execl("/proc/self/exe", "pseudo", "--where", NULL);
		_exit(execute ? 255 : sched_getcpu());
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 255)
		tap_bail("a child did not say where it is");
	return WEXITSTATUS(status) == there;
}

/* More work than there are CPUs, so that all who balance look for one more. */
static void test_balancing(void)
{
	struct worker spinners[8];
	int forked = 0, executed = 0, moved = 0;

	out(there);
	allow(0, everywhere);
	for (int i = 0; i < 8; i++)
		start(&spinners[i], everywhere, i % 2 ? MS / 2 : 0);
	for (int i = 0; i < 100; i++) {
		forked += child_strays(false);
		executed += child_strays(true);
	}
	clock_sleep(300 * MS);
	for (int i = 0; i < 8; i++)
		moved += (int)atomic_load(&spinners[i].there);
	tap_ok(forked == 0, "no forked task comes to a CPU that is out: %d of 100", forked);
	tap_ok(executed == 0, "no task that executes a program: %d of 100", executed);
	tap_ok(moved == 0, "nor does any balancing bring one: %d", moved);
	all_in();
	clock_sleep(500 * MS);
	for (int i = 0; i < 8; i++)
		moved += (int)atomic_load(&spinners[i].there);
	tap_ok(moved > 0, "once it is back it has work again");
	for (int i = 0; i < 8; i++)
		stop(&spinners[i]);
	allow(0, set_of(0, -1));
}

static void test_realtime(void)
{
	struct sched_param priority = {.sched_priority = 10};
	struct worker audio;
	char text[16];

	read_text(SYSTEM "realtime", text, sizeof(text));
	tap_ok(!strcmp(text, "stay"), "real-time tasks stay, unless told otherwise");
	start(&audio, set_of(there, -1), MS);
	if (sched_setscheduler(atomic_load(&audio.tid), SCHED_FIFO, &priority))
		tap_bail("no real-time task: %s", strerror(errno));
	allow(atomic_load(&audio.tid), set_of(0, there));
	out(there);
	clock_sleep(20 * MS);
	tap_ok(grows_in(100 * MS, &audio.there) > 5, "a real-time task stays");
	must(write_text(SYSTEM "realtime", "leave"), "have them leave");
	clock_sleep(20 * MS);
	tap_ok(grows_in(100 * MS, &audio.there) == 0, "told to leave, it leaves");
	allow(atomic_load(&audio.tid), set_of(there, -1));
	clock_sleep(20 * MS);
	tap_ok(grows_in(100 * MS, &audio.there) > 5, "bound there, it runs there");
	must(write_text(SYSTEM "realtime", "stay"), "have them stay");
	all_in();
	stop(&audio);
}

static int irq_text(int irq, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/irq/%d/%s", irq, file);
	return read_text(path, text, size);
}

static int irq_put(int irq, const char *list)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
	return write_text(path, list);
}

static bool irq_is(int irq, const char *file, const char *wanted)
{
	char text[64];

	return !irq_text(irq, file, text, sizeof(text)) && !strcmp(text, wanted);
}

/* An interrupt that can be moved to a CPU, and the affinity that it had. */
static int movable_irq(const char *number, char *before, size_t size)
{
	char text[64];

	for (int irq = 0; irq < 256; irq++) {
		if (irq_text(irq, "effective_affinity_list", text, sizeof(text)) || !text[0] ||
		    irq_text(irq, "smp_affinity_list", before, size) || irq_put(irq, number))
			continue;
		if (irq_is(irq, "effective_affinity_list", number))
			return irq;
		irq_put(irq, before);
	}
	return -1;
}

static void test_interrupts(void)
{
	char both[32], number[16], before[64];
	int irq;

	snprintf(number, sizeof(number), "%d", there);
	snprintf(both, sizeof(both), there == 1 ? "0-%d" : "0,%d", there);
	irq = movable_irq(number, before, sizeof(before));
	if (irq < 0) {
		tap_ok(true, "an interrupt moves # SKIP this machine has none that can");
		return;
	}
	must(irq_put(irq, both), "give an interrupt two CPUs");
	tap_ok(irq_is(irq, "effective_affinity_list", "0"),
	       "an interrupt of two CPUs goes to CPU 0");
	out(0);
	tap_ok(irq_is(irq, "effective_affinity_list", number),
	       "and to the other when CPU 0 is out");
	tap_ok(irq_is(irq, "smp_affinity_list", both), "its affinity stays what the user wrote");
	all_in();
	tap_ok(irq_is(irq, "effective_affinity_list", "0"), "it comes back with CPU 0");

	out(0);
	must(irq_put(irq, both), "write an affinity");
	tap_ok(irq_is(irq, "effective_affinity_list", number),
	       "written while CPU 0 is out, it is heeded");
	must(irq_put(irq, "0"), "write an affinity");
	tap_ok(irq_is(irq, "effective_affinity_list", "0"),
	       "with no other CPU it goes there all the same");
	all_in();
	must(irq_put(irq, number), "write an affinity");
	out(there);
	tap_ok(irq_is(irq, "effective_affinity_list", number), "so does one whose only CPU leaves");
	must(irq_put(irq, both), "write an affinity");
	all_in();
	tap_ok(irq_is(irq, "effective_affinity_list", "0") &&
		       irq_is(irq, "smp_affinity_list", both),
	       "a CPU that comes back takes none that it did not have");
	must(irq_put(irq, before), "give an interrupt its affinity back");
}

static void test_hotplug(void)
{
	struct worker sleeper;

	start(&sleeper, everywhere, MS);
	out(there);
	if (put_cpu(there, "online", "0")) {
		tap_ok(true, "a CPU that is out goes offline # SKIP this one cannot");
		all_in();
		stop(&sleeper);
		return;
	}
	tap_ok(list_is_cpu(there), "a CPU that is out goes offline, and is out all the same");
	said(put_cpu(there, "pseudo_online", "0"), 0, "to take it out again is no error");
	must(put_cpu(there, "online", "1"), "bring it online");
	tap_ok(get_cpu(there, "pseudo_online") == 0, "online again, it is still out");
	tap_ok(grows_in(50 * MS, &sleeper.there) == 0, "and has no task");
	must(put_cpu(there, "online", "0"), "take it offline");
	said(put_cpu(there, "pseudo_online", "1"), 0, "one that is offline is brought back");
	said(put_cpu(there, "pseudo_online", "0"), ENODEV, "and to take it out is ENODEV");
	said(put_list(all_but(0)), ENODEV, "also in a list");
	tap_ok(list_is(""), "of which nothing is done");
	must(put_cpu(there, "online", "1"), "bring it online");
	allow(atomic_load(&sleeper.tid), set_of(there, -1));
	tap_ok(grows_in(50 * MS, &sleeper.there) > 0, "and it works");
	stop(&sleeper);
}

/* A control group of one CPU: its tasks have no other. */
static void test_cpuset(void)
{
	struct worker sleeper;
	char number[16], tid[16];
	bool mounted;

	mounted = !mount("none", CGROUPS, "cgroup2", 0, NULL);
	snprintf(number, sizeof(number), "%d", there);
	if (write_text(CGROUPS "/cgroup.subtree_control", "+cpuset") || mkdir(GROUP, 0755) ||
	    write_text(GROUP "/cpuset.cpus", number)) {
		tap_ok(true, "a cpuset # SKIP this kernel has none");
		rmdir(GROUP);
		return;
	}
	must(write_text(GROUP "/cgroup.type", "threaded"), "have threads in a group");
	start(&sleeper, everywhere, MS);
	out(there);
	snprintf(tid, sizeof(tid), "%d", atomic_load(&sleeper.tid));
	must(write_text(GROUP "/cgroup.threads", tid), "move a thread into a group");
	clock_sleep(20 * MS);
	tap_ok(grows_in(50 * MS, &sleeper.there) > 2,
	       "a task whose cpuset has only that CPU runs there");
	must(write_text(CGROUPS "/cgroup.threads", tid), "move a thread out of a group");
	clock_sleep(20 * MS);
	tap_ok(grows_in(50 * MS, &sleeper.there) == 0, "and leaves with its cpuset");
	stop(&sleeper);
	rmdir(GROUP);

	if (mkdir(GROUP, 0755) || write_text(GROUP "/cpuset.cpus", number) ||
	    write_text(GROUP "/cpuset.cpus.partition", "isolated")) {
		tap_ok(true, "an isolated partition # SKIP this kernel has none");
	} else {
		tap_ok(list_is_cpu(there), "a CPU that is out becomes an isolated partition");
		all_in();
		out(there);
		must(write_text(GROUP "/cpuset.cpus.partition", "member"), "end the partition");
		tap_ok(list_is_cpu(there), "and is out when it ends");
	}
	all_in();
	rmdir(GROUP);
	if (mounted)
		umount(CGROUPS);
}

static void test_suspend(void)
{
	char text[64];
	uint64_t begin;

	if (read_text("/sys/power/state", text, sizeof(text)) || !strstr(text, "freeze") ||
	    write_text("/sys/class/rtc/rtc0/wakealarm", "0") ||
	    write_text("/sys/class/rtc/rtc0/wakealarm", "+2")) {
		tap_ok(true, "suspend to idle # SKIP this kernel or machine has none");
		return;
	}
	out(there);
	begin = clock_ns();
	said(write_text("/sys/power/state", "freeze"), 0,
	     "the machine suspends to idle with a CPU out");
	tap_note("%llu ms", (unsigned long long)((clock_ns() - begin) / MS));
	tap_ok(list_is_cpu(there), "which is out when it resumes");
	all_in();
}

static void *change_soon(void *cpu)
{
	clock_sleep(20 * MS);
	put_cpu(*(int *)cpu, "pseudo_online", "0");
	return NULL;
}

static int opened(const char *path)
{
	int fd = open(path, O_RDONLY);
	char text[64];

	if (fd < 0 || read(fd, text, sizeof(text)) < 0)
		tap_bail("cannot read %s: %s", path, strerror(errno));
	return fd;
}

static void test_poll(void)
{
	char path[64];
	struct pollfd files[3];
	pthread_t changer;

	/* Who waits is told a moment after a change. */
	clock_sleep(50 * MS);
	files[0].fd = opened(LIST);
	files[1].fd = opened(CPU_DIR "/cpu0/pseudo_online");
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/pseudo_online", there);
	files[2].fd = opened(path);
	for (int i = 0; i < 3; i++)
		files[i].events = POLLPRI;
	tap_ok(poll(files, 3, 0) == 0, "poll() has nothing to say before a change");
	pthread_create(&changer, NULL, change_soon, &there);
	tap_ok(poll(&files[2], 1, 2000) == 1 && files[2].revents & POLLPRI,
	       "poll() on the file of a CPU returns when it leaves");
	pthread_join(changer, NULL);
	tap_ok(poll(files, 1, 2000) == 1 && files[0].revents & POLLPRI, "and on the list");
	tap_ok(poll(&files[1], 1, 100) == 0, "but not on the file of another CPU");
	for (int i = 0; i < 3; i++)
		close(files[i].fd);
	all_in();
}

/* How often a CPU has entered each state, and the time in its deepest. */
static int entries(int cpu, uint64_t usage[IDLE_MAX_STATES], uint64_t *deepest_us)
{
	struct idle_states states;
	int deepest = 0;

	if (idle_read(cpu, &states) || !states.count)
		return -1;
	for (int state = 0; state < states.count; state++) {
		if (idle_number(cpu, state, "usage", &usage[state]))
			return -1;
		if (!states.disabled[state])
			deepest = state;
	}
	return idle_number(cpu, deepest, "time", deepest_us) ? -1 : deepest;
}

static void nudge(int cpu)
{
	struct worker visitor;

	start(&visitor, set_of(cpu, -1), MS);
	stop(&visitor);
}

/* All CPUs but one are out, so that whole clusters are. */
static void test_idle(void)
{
	uint64_t before[CPULIST_MAX][IDLE_MAX_STATES], after[IDLE_MAX_STATES];
	uint64_t time[CPULIST_MAX], now, lasted, begin;
	int deepest[CPULIST_MAX], light = 0;
	double least = 1;

	must(put_list(all_but(0)), "take all out but CPU 0");
	clock_sleep(500 * MS);
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu]) {
			nudge(cpu);
			deepest[cpu] = entries(cpu, before[cpu], &time[cpu]);
		}
	begin = clock_ns();
	clock_sleep(1000 * MS);
	lasted = clock_ns() - begin;
	/* A sleep is counted when it ends. */
	for (int cpu = 1; cpu < CPULIST_MAX; cpu++) {
		if (!mains.has[cpu] || deepest[cpu] < 0)
			continue;
		nudge(cpu);
		if (entries(cpu, after, &now) != deepest[cpu])
			tap_bail("CPU %d has other states", cpu);
		for (int state = 0; state < deepest[cpu]; state++)
			light += (int)(after[state] - before[cpu][state]);
		if ((double)(now - time[cpu]) * 1000 / (double)lasted < least)
			least = (double)(now - time[cpu]) * 1000 / (double)lasted;
	}
	tap_ok(light == 0, "a CPU that is out enters no state but the deepest: %d times", light);
	tap_ok(least > 0.95, "and is in it for more than 95 %% of the time");
	tap_note("%.2f %% at least", least * 100);
	all_in();
}

static void test_wakes(void)
{
	struct worker sleeper, others[4];
	unsigned long wakes;

	must(put_list(all_but(0)), "take all out but CPU 0");
	start(&sleeper, set_of(there, -1), 10 * MS);
	clock_sleep(100 * MS);
	tap_ok(table("pseudo", false) > 0, "the table names a task that woke a CPU");
	stop(&sleeper);
	for (int i = 0; i < 4; i++)
		start(&others[i], everywhere, 2 * MS);
	clock_sleep(500 * MS);
	must(write_text(WAKES, "0"), "clear the table");
	tap_ok(table(NULL, false) == 0, "a write clears it");
	clock_sleep(2000 * MS);
	wakes = table(NULL, true);
	tap_ok(wakes <= 4 * (unsigned int)(mains.count - 1),
	       "with work elsewhere hardly anything wakes them: %lu times in 2 s", wakes);
	all_in();
	for (int i = 0; i < 4; i++)
		stop(&others[i]);
}

static void test_switch(void)
{
	must(put_list(all_but(0)), "take all out but CPU 0");
	turn("0");
	tap_ok(list_is(""), "switching off brings all back");
	tap_ok(get_cpu(there, "pseudo_online") == 1, "and each file says so");
	nudge(there);
	turn("1");
	tap_ok(list_is(""), "and all stay when it is on again");
}

static atomic_bool over;
static atomic_int wrong;

/* Another writer, of single CPUs. Errors that the README names are fine. */
static void *writes(void *seed)
{
	uint64_t random = (uintptr_t)seed;

	while (!atomic_load(&over)) {
		int cpu = (int)(next_random(&random) % CPULIST_MAX);
		int error;

		if (!mains.has[cpu])
			continue;
		error = put_cpu(cpu, "pseudo_online", next_random(&random) % 2 ? "0" : "1");
		if (error && error != -EBUSY && error != -ENODEV && error != -EOPNOTSUPP) {
			tap_note("concurrent writer: %s", strerror(-error));
			atomic_fetch_add(&wrong, 1);
		}
		clock_sleep(next_random(&random) % (3 * MS));
	}
	return NULL;
}

/* A list never names all. */
static void *reads(void *unused)
{
	struct cpulist list;
	char text[256];

	while (!atomic_load(&over)) {
		int in = 0;

		memset(&list, 0, sizeof(list));
		if (read_text(LIST, text, sizeof(text)) || (text[0] && cpulist_parse(&list, text)))
			atomic_fetch_add(&wrong, 1);
		for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
			in += mains.has[cpu] && !list.has[cpu];
		if (!in) {
			tap_note("all are out: %s", text);
			atomic_fetch_add(&wrong, 1);
		}
		clock_sleep(MS);
	}
	return unused;
}

static void stress(int toggles)
{
	struct worker workers[6];
	pthread_t others[2];
	uint64_t random = 42;
	int done = 0, refused = 0, hotplugs = 0, lost = 0, cpu;

	for (int i = 0; i < 6; i++)
		start(&workers[i], everywhere, i < 5 ? (uint64_t)(i + 1) * MS / 2 : 0);
	pthread_create(&others[0], NULL, writes, (void *)7);
	pthread_create(&others[1], NULL, reads, NULL);

	while (done < toggles) {
		char list[256] = "\n";
		size_t used = 0;
		int error;

		for (cpu = 0; cpu < CPULIST_MAX; cpu++)
			if (mains.has[cpu] && next_random(&random) % 2)
				used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d",
							 used ? "," : "", cpu);
		error = put_list(list);
		if (error == -EBUSY || error == -ENODEV)
			refused++;
		else if (error)
			atomic_fetch_add(&wrong, 1);
		done++;
		if (done % 50 == 0) {
			hotplugs += !put_cpu(there, "online", "0");
			put_list("\n");
			put_cpu(there, "online", "1");
		}
		if (done % 16 == 0) {
			cpu = (int)(next_random(&random) % 6);
			allow(atomic_load(&workers[cpu].tid),
			      next_random(&random) % 2 ? everywhere : set_of(0, there));
		}
		if (done % 512 == 0) {
			turn("0");
			turn("1");
		}
		if (next_random(&random) % 4 == 0)
			clock_sleep(next_random(&random) % MS);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	/* All CPUs out but one, and every task still runs. */
	must(put_list(all_but(0)), "take all out but CPU 0");
	for (int i = 0; i < 6; i++)
		lost += grows_in(100 * MS, &workers[i].rounds) == 0;
	tap_ok(lost == 0, "after %d changes no task is lost: %d of 6", done, lost);
	lost = 0;
	for (int i = 0; i < 6; i++)
		lost += (int)grows_in(10 * MS, &workers[i].there);
	tap_ok(lost == 0, "and none is on a CPU that is out");
	tap_ok(atomic_load(&wrong) == 0, "concurrent writers and readers see what the README says");
	tap_note("%d changes refused, %d times offline and online", refused, hotplugs);
	all_in();
	for (int i = 0; i < 6; i++)
		stop(&workers[i]);
	lost = 0;
	for (cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu])
			nudge(cpu);
	tap_ok(true, "every CPU works");
}

static void test_memory(void)
{
	turn("0");
	fail_check(tap_ok, fail_each_switch(SYSTEM "enabled"), "no memory to turn it on");
	turn("1");
	said(put_cpu(there, "pseudo_online", "0"), 0, "with memory a CPU can be taken out");
	all_in();
}

static void test_all(bool brief)
{
	test_off();
	test_memory();
	test_files();
	test_bad_text();
	test_last();
	test_permission();
	test_running();
	test_waking();
	test_timers();
	if (!brief) {
		test_bound();
		test_balancing();
		test_realtime();
	}
	test_interrupts();
	test_hotplug();
	test_cpuset();
	test_suspend();
	test_poll();
	test_idle();
	test_wakes();
	test_switch();
}

/* Main CPUs: online, and not isolated at boot. */
static void find_cpus(void)
{
	struct cpulist isolated;
	char text[64];

	if (cpulist_read(&mains, "online"))
		tap_bail("cannot read which CPUs are online");
	memset(&isolated, 0, sizeof(isolated));
	if (!read_text(CPU_DIR "/isolated", text, sizeof(text)) && text[0])
		cpulist_parse(&isolated, text);
	CPU_ZERO(&everywhere);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		if (mains.has[cpu] && isolated.has[cpu]) {
			mains.has[cpu] = false;
			mains.count--;
		}
		if (mains.has[cpu]) {
			there = cpu;
			CPU_SET(cpu, &everywhere);
		}
	}
}

int main(int argc, char **argv)
{
	bool stress_only = argc > 1 && !strcmp(argv[1], "--stress");
	bool brief = argc > 1 && !strcmp(argv[1], "--brief");
	int toggles = 500, first = 1 + stress_only;
	char before[8];

	if (argc > 1 && !strcmp(argv[1], "--where"))
		return sched_getcpu();
	if (argc > first)
		toggles = atoi(argv[first]);
	if (read_text(SYSTEM "enabled", before, sizeof(before))) {
		printf("1..0 # SKIP this kernel has no pseudo CPU hotplug\n");
		return 0;
	}
	find_cpus();
	if (mains.count < 2 || !mains.has[0]) {
		printf("1..0 # SKIP this machine has one CPU\n");
		return 0;
	}
	prctl(PR_SET_TIMERSLACK, 1);
	if (system("lull-policy idle.deepest=C3"))
		tap_bail("cannot allow C3");
	allow(0, set_of(0, -1));

	turn("1");
	if (!stress_only)
		test_all(brief);
	if (!brief)
		stress(toggles);

	if (system("lull-policy idle.deepest=C1"))
		tap_note("idle states are left as the test set them");
	turn(before);
	return tap_finish();
}
