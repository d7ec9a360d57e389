// SPDX-License-Identifier: BSD-3-Clause
/* bursts [ROUNDS]: wake-ups of a control group are held and released at once, and none is lost. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bursts_abi.h"
#include "clock.h"
#include "sysfs.h"
#include "tap.h"
#include "tasks.h"

#define SYSTEM "/sys/kernel/lull/bursts/"
#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/lull-bursts"
#define INNER GROUP "/inner"
#define STORM ROOT "/lull-bursts-storm"
#define GONE ROOT "/lull-bursts-gone"
#define NEAR ROOT "/lull-bursts-near"
#define MS 1000000ULL
#define PERIOD_MS 40
/* So long that nothing is released meanwhile. */
#define FOREVER_US 10000000
#define WORKERS 3
/* More than are released at a time. */
#define CROWD 40
/* Tasks that are spread over CPUs, at most; and for fewer than so many CPUs there is no choice. */
#define MOST_SPREAD 64
#define LEAST_CPUS 6
/* Bursts, one of which has to find each CPU idle. */
#define SPREAD_ROUNDS 20
/* The scheduler's own numbers; those of its domains are there while `verbose` is on. */
#define SCHED "/sys/kernel/debug/sched/"
/* A CPU whose idle times are shorter on average does not look for work. */
#define SELDOM_NS 1000000000
#define PULLS 20
/* How long a bound may be missed on a slow machine. */
#define LATE_MS 500
/* Requests to tasks outside of a group while it holds its own. */
#define OUTSIDE 50
/* The deadlines of requests. */
#define DEADLINE_MS (3 * PERIOD_MS)
#define DEADLINE_US (DEADLINE_MS * 1000UL)
/* 2^64 */
#define TOO_MUCH "18446744073709551616"

/* A process that answers each byte with where and when it woke. */
struct worker {
	pid_t pid;
	int to, from;
};

struct answer {
	pid_t pid;
	int cpu;
	uint64_t ns;
};

/* Asked so, a process forks, and its child answers to the heir's pipes. */
#define FORK "f"
static struct worker heir;

/* Asked so, a process sleeps before it answers. */
#define SLEEP "s"
#define SLEEP_MS 100

/* Run so, this program asks the worker that reads from FD. */
#define ASKER "ask"

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(-error));
}

static void put(const char *file, const char *value)
{
	must(write_text(file, value), file);
}

static void put_number(const char *file, unsigned long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	put(file, text);
}

static unsigned long stat_of(const char *group, const char *word)
{
	uint64_t number = 0;
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu.bursts.stat", group);
	must(read_count(path, word, &number), path);
	return number;
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

static atomic_bool *busy;

static void stay_busy(int number)
{
	(void)number;
	while (atomic_load(busy))
		;
}

static void work(int from, int to)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction stay = {.sa_handler = stay_busy};
	struct answer answer;
	char byte;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &stay, NULL);
	for (;;) {
		ssize_t got = read(from, &byte, 1);

		if (got < 0 && errno != EINTR)
			_exit(2);
		if (!got)
			_exit(0);
		if (byte == *FORK && !fork()) {
			from = heir.to;
			to = heir.from;
		}
		if (byte == *SLEEP)
			clock_sleep(SLEEP_MS * MS);
		answer = (struct answer){getpid(), sched_getcpu(), clock_ns()};
		if (write(to, &answer, sizeof(answer)) != sizeof(answer))
			_exit(3);
	}
}

static int become(int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO};

	if (policy == SCHED_DEADLINE)
		return become_deadline_task(10 * MS, 100 * MS);
	return sched_setscheduler(0, policy, &param);
}

/* A process that moves itself, so that it has begun its first sleep as a member. */
static struct worker start(const char *group, int policy)
{
	int to[2], from[2];
	struct worker worker;
	char path[128];
	struct answer hello;

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	worker.pid = fork();
	if (!worker.pid) {
		close(to[1]);
		close(from[0]);
		snprintf(path, sizeof(path), "%s/cgroup.procs", group);
		if (write_text(path, "0") || become(policy))
			_exit(4);
		if (write(from[1], &hello, sizeof(hello)) != sizeof(hello))
			_exit(5);
		work(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	worker.to = to[1];
	worker.from = from[0];
	if (read(worker.from, &hello, sizeof(hello)) != sizeof(hello))
		tap_bail("a worker did not start");
	/* Until it has gone to sleep. */
	clock_sleep(2 * MS);
	return worker;
}

static void ask(const struct worker *worker)
{
	if (write(worker->to, "", 1) != 1)
		tap_bail("cannot ask: %s", strerror(errno));
}

static struct answer hear(const struct worker *worker)
{
	struct pollfd ready = {.fd = worker->from, .events = POLLIN};
	struct answer answer;

	if (poll(&ready, 1, 30000) != 1)
		tap_bail("a worker does not answer");
	if (read(worker->from, &answer, sizeof(answer)) != sizeof(answer))
		tap_bail("a worker has gone");
	return answer;
}

static bool answers_within(const struct worker *worker, int ms)
{
	struct pollfd ready = {.fd = worker->from, .events = POLLIN};

	return poll(&ready, 1, ms) == 1;
}

static bool has_answered(const struct worker *worker)
{
	return answers_within(worker, 0);
}

/* By a signal: to close its pipe is a wake-up that may be held. */
static void stop(struct worker *worker)
{
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, 0);
	close(worker->to);
	close(worker->from);
}

static void rules(const char *group, unsigned long period_us, unsigned long bound_us,
		  unsigned long parallel)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu.bursts.bound_us", group);
	put_number(path, bound_us);
	snprintf(path, sizeof(path), "%s/cpu.bursts.parallel", group);
	put_number(path, parallel);
	snprintf(path, sizeof(path), "%s/cpu.bursts.period_us", group);
	put_number(path, period_us);
}

static int set_deadline(unsigned long us)
{
	return prctl(PR_SET_BURST_DEADLINE, us, 0UL, 0UL, 0UL) ? -errno : 0;
}

/* Whom this program wakes from now on has a deadline, or none. */
static void deadline(unsigned long us)
{
	must(set_deadline(us), "set a deadline");
}

static void test_files(void)
{
	static const char *const times[] = {"999", "10000001", "-1", "x", "1 2"};
	static const char *const counts[] = {"0", "1025", "-1", "x"};
	static const char *const switches[] = {"2x", "-1", "\n"};
	bool refused = true;
	char text[32];
	pid_t pid;
	int status;

	tap_ok(!read_text(GROUP "/cpu.bursts.period_us", text, sizeof(text)) &&
		       !strcmp(text, "0") &&
		       !read_text(GROUP "/cpu.bursts.bound_us", text, sizeof(text)) &&
		       !strcmp(text, "0") &&
		       !read_text(GROUP "/cpu.bursts.deadline_us", text, sizeof(text)) &&
		       !strcmp(text, "0") &&
		       !read_text(GROUP "/cpu.bursts.parallel", text, sizeof(text)) &&
		       !strcmp(text, "1"),
	       "a new group holds nothing, and heeds no deadline");
	tap_ok(access(ROOT "/cpu.bursts.period_us", F_OK) != 0, "the root group has no stage");

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		refused &= write_text(GROUP "/cpu.bursts.period_us", times[i]) == -EINVAL &&
			   write_text(GROUP "/cpu.bursts.bound_us", times[i]) == -EINVAL &&
			   write_text(GROUP "/cpu.bursts.deadline_us", times[i]) == -EINVAL;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		refused &= write_text(GROUP "/cpu.bursts.parallel", counts[i]) == -EINVAL;
	tap_ok(refused,
	       "EINVAL: times below 1 ms or above 10 s, fewer than 1 or more than 1024 tasks");
	tap_ok(write_text(GROUP "/cpu.bursts.period_us", TOO_MUCH) == -ERANGE &&
		       write_text(GROUP "/cpu.bursts.bound_us", TOO_MUCH) == -ERANGE &&
		       write_text(GROUP "/cpu.bursts.deadline_us", TOO_MUCH) == -ERANGE &&
		       write_text(GROUP "/cpu.bursts.parallel", TOO_MUCH) == -ERANGE,
	       "ERANGE: numbers of 2^64 or more");
	tap_ok(write_text(GROUP "/cpu.bursts.stat", "0") == -EINVAL,
	       "EINVAL: nobody writes counts, not even root");

	refused = true;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		refused &= write_text(SYSTEM "enabled", switches[i]) == -EINVAL &&
			   write_text(SYSTEM "spread", switches[i]) == -EINVAL &&
			   write_text(SYSTEM "eager", switches[i]) == -EINVAL;
	tap_ok(refused, "EINVAL: switches take 0 and 1");

	if (chown(GROUP "/cpu.bursts.bound_us", 1000, 1000))
		tap_bail("cannot give a file away: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (setuid(1000))
			_exit(2);
		_exit(!(write_text(SYSTEM "enabled", "0") == -EACCES &&
			write_text(SYSTEM "spread", "0") == -EACCES &&
			write_text(SYSTEM "eager", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.period_us", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.parallel", "1") == -EACCES &&
			write_text(GROUP "/cpu.bursts.deadline_us", "0") == -EACCES &&
			write_text(GROUP "/cpu.bursts.stat", "0") == -EACCES &&
			set_deadline(1) == 0 &&
			write_text(GROUP "/cpu.bursts.bound_us", "0") == 0));
	}
	tap_ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	       "EACCES: only root, or whom a file was given to; a deadline is anybody's");

	tap_ok(set_deadline(BURST_DEADLINE_MOST_US + 1) == -EINVAL &&
		       set_deadline((unsigned long)-1) == -EINVAL,
	       "EINVAL: deadlines above 10 s");
	refused = true;
	for (size_t i = 0; i < 3; i++)
		refused &= prctl(PR_SET_BURST_DEADLINE, 1000UL, i == 0 ? 1UL : 0UL,
				 i == 1 ? 1UL : 0UL, i == 2 ? 1UL : 0UL) == -1 &&
			   errno == EINVAL;
	tap_ok(refused, "EINVAL: an argument that has to be 0");
	/* While the system is off, too. */
	tap_ok(!set_deadline(BURST_DEADLINE_MOST_US) && !set_deadline(1) && !set_deadline(0),
	       "a thread may have any other deadline, or none");
}

static void test_removed(void)
{
	int file;

	if (mkdir(GONE, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	file = open(GONE "/cpu.bursts.period_us", O_WRONLY);
	if (file < 0 || rmdir(GONE))
		tap_bail("cannot remove a group: %s", strerror(errno));
	tap_ok(write(file, "0", 1) < 0 && errno == ENODEV, "ENODEV: the group has gone");
	close(file);
}

static void test_off(void)
{
	struct worker worker = start(GROUP, SCHED_OTHER);

	rules(GROUP, FOREVER_US, 0, 1);
	ask(&worker);
	hear(&worker);
	tap_ok(!stat_of(GROUP, "wakes"), "off: a stage holds nothing");
	stop(&worker);
	rules(GROUP, 0, 0, 1);
}

static void test_period(void)
{
	struct worker worker = start(GROUP, SCHED_OTHER);
	bool right = true;

	rules(GROUP, PERIOD_MS * 1000, 0, 1);
	for (int i = 0; i < 5; i++) {
		uint64_t asked, period = PERIOD_MS * MS;
		struct answer answer;

		clock_sleep(7 * MS);
		asked = clock_ns();
		ask(&worker);
		answer = hear(&worker);
		right &= answer.ns >= (asked / period + 1) * period;
	}
	tap_ok(right, "a wake-up from outside waits for the next multiple of the period");
	tap_ok(stat_of(GROUP, "wakes") == 5 && stat_of(GROUP, "bursts") == 5 &&
		       stat_of(GROUP, "held_most_us") <= 10 * PERIOD_MS * 1000,
	       "and is counted");

	/* Far from the next burst of the longer period, which begins at its multiples. */
	while (clock_ns() / 1000 % FOREVER_US > FOREVER_US - 40 * PERIOD_MS * 1000)
		clock_sleep(PERIOD_MS * MS);
	rules(GROUP, 8 * PERIOD_MS * 1000, 0, 1);
	ask(&worker);
	rules(GROUP, FOREVER_US, 0, 1);
	hear(&worker);
	clock_sleep(2 * MS);
	ask(&worker);
	tap_ok(!answers_within(&worker, 10 * PERIOD_MS),
	       "a longer period holds from when it is written");
	rules(GROUP, 0, 0, 1);
	hear(&worker);
	stop(&worker);
}

static void test_bound_and_parallel(void)
{
	struct worker workers[WORKERS];
	struct answer answer;
	unsigned long bursts, early;
	uint64_t asked;
	bool alone = true;
	int cpus[WORKERS];
	cpu_set_t usable;

	for (int i = 0; i < WORKERS; i++)
		workers[i] = start(GROUP, SCHED_OTHER);
	rules(GROUP, PERIOD_MS * 1000, 5 * PERIOD_MS * 1000, WORKERS);

	early = stat_of(GROUP, "early");
	asked = clock_ns();
	ask(&workers[0]);
	answer = hear(&workers[0]);
	tap_ok(answer.ns - asked >= 5 * PERIOD_MS * MS && stat_of(GROUP, "early") == early + 1,
	       "too few tasks wait until the bound ends");

	/* Far from the bound, so that a slow host cannot reach it meanwhile. */
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, WORKERS);
	bursts = stat_of(GROUP, "bursts");
	for (int i = 0; i < WORKERS; i++) {
		tap_ok(stat_of(GROUP, "held") == (unsigned long)i, "%d wait", i);
		ask(&workers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		cpus[i] = hear(&workers[i]).cpu;
	tap_ok(stat_of(GROUP, "bursts") == bursts + 1 && stat_of(GROUP, "early") == early + 1,
	       "enough of them leave in one burst");
	for (int i = 1; i < WORKERS; i++)
		for (int k = 0; k < i; k++)
			alone &= cpus[i] != cpus[k];
	/* Isolated CPUs are none. */
	if (sched_getaffinity(0, sizeof(usable), &usable) || CPU_COUNT(&usable) < WORKERS)
		tap_ok(true, "each to a CPU of its own # SKIP fewer CPUs than tasks");
	else
		tap_ok(alone, "each to a CPU of its own");
	for (int i = 0; i < WORKERS; i++)
		stop(&workers[i]);
}

static void test_crowd(void)
{
	struct worker workers[CROWD];
	unsigned long bursts;

	for (int i = 0; i < CROWD; i++)
		workers[i] = start(GROUP, SCHED_OTHER);
	/* One that is not asleep yet is not held. Then the others wait until the bound ends. */
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, CROWD);
	bursts = stat_of(GROUP, "bursts");
	for (int i = 0; i < CROWD; i++)
		ask(&workers[i]);
	for (int i = 0; i < CROWD; i++)
		hear(&workers[i]);
	tap_ok(stat_of(GROUP, "bursts") == bursts + 1 && !stat_of(GROUP, "held"),
	       "more tasks than are released at a time are one burst");
	rules(GROUP, 0, 0, 1);
	for (int i = 0; i < CROWD; i++)
		stop(&workers[i]);
}

static void bind_to(pid_t pid, const cpu_set_t *cpus)
{
	if (sched_setaffinity(pid, sizeof(*cpus), cpus))
		tap_bail("cannot bind a task to CPUs: %s", strerror(errno));
}

static cpu_set_t only(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return one;
}

static unsigned long of_cpu(int cpu, const char *file)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	must(read_text(path, text, sizeof(text)), path);
	return strtoul(text, NULL, 10);
}

/* All have last run on @first, and leave in one burst. Returns the CPUs on which they woke. */
static cpu_set_t woken_on(struct worker *workers, int count, int first, const cpu_set_t *usable)
{
	cpu_set_t one = only(first), found;

	rules(GROUP, 0, 0, 1);
	for (int i = 0; i < count; i++) {
		bind_to(workers[i].pid, &one);
		ask(&workers[i]);
		hear(&workers[i]);
		bind_to(workers[i].pid, usable);
	}
	/* Until the last one has gone to sleep. */
	clock_sleep(5 * MS);
	rules(GROUP, PERIOD_MS * 1000, FOREVER_US, (unsigned long)count);
	for (int i = 0; i < count; i++)
		ask(&workers[i]);
	CPU_ZERO(&found);
	for (int i = 0; i < count; i++)
		CPU_SET((size_t)hear(&workers[i]).cpu, &found);
	return found;
}

/* As many tasks as CPUs but one, where this program may still run when the burst begins. */
static void test_spread(void)
{
	struct worker workers[MOST_SPREAD];
	cpu_set_t usable, found, one;
	int first = -1, count;
	bool alike = true, inside = true, apart = false;

	/* Isolated CPUs are none of them. */
	if (sched_getaffinity(0, sizeof(usable), &usable))
		tap_bail("cannot get the CPUs: %s", strerror(errno));
	count = CPU_COUNT(&usable) - 1;
	if (count < LEAST_CPUS - 1 || count > MOST_SPREAD) {
		tap_ok(true, "spread # SKIP fewer than %d CPUs, or more than %d", LEAST_CPUS,
		       MOST_SPREAD);
		return;
	}
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET((size_t)cpu, &usable))
			first = cpu;
	one = only(first);
	bind_to(0, &one);
	for (int i = 0; i < count; i++)
		workers[i] = start(GROUP, SCHED_OTHER);

	/* A CPU that does other work when the burst begins takes none of the tasks. */
	for (int round = 0; round < SPREAD_ROUNDS; round++) {
		found = woken_on(workers, count, first, &usable);
		if (CPU_COUNT(&found) == count)
			break;
	}
	tap_ok(CPU_COUNT(&found) == count, "spread: %d tasks of one CPU wake on %d CPUs", count,
	       CPU_COUNT(&found));

	put(SYSTEM "spread", "0");
	found = woken_on(workers, count, first, &usable);
	put(SYSTEM "spread", "1");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		bool near;

		if (!CPU_ISSET((size_t)cpu, &usable))
			continue;
		near = of_cpu(cpu, "topology/physical_package_id") ==
		       of_cpu(first, "topology/physical_package_id");
		alike &= of_cpu(cpu, "cpu_capacity") == of_cpu(first, "cpu_capacity");
		apart |= !near;
		inside &= near || !CPU_ISSET((size_t)cpu, &found);
	}
	/* Where CPUs differ or share one cache, the scheduler may choose any. */
	if (!alike || !apart)
		tap_ok(true, "no spread # SKIP no two sockets of equal CPUs");
	else
		tap_ok(inside, "no spread: the scheduler wakes each near the CPU where it has run");
	for (int i = 0; i < count; i++)
		stop(&workers[i]);
	rules(GROUP, 0, 0, 1);
	bind_to(0, &usable);
}

/* Those who take part in test_eager(). */
struct few {
	/* A member of the group, which waits behind others. */
	struct worker member;
	/* On one CPU: a task that nobody interrupts, and another one that waits for it. */
	struct worker first, second;
	/* On the other CPU: a task that goes to sleep while the member waits. */
	struct worker other;
	/* While these are true, `first` and `other` work. */
	atomic_bool *first_works, *other_works;
};

static void begin_work(const struct worker *worker, atomic_bool *works)
{
	atomic_store(works, true);
	kill(worker->pid, SIGUSR2);
}

/* How often CPU @to, when it runs out of work, takes the member at once that waits for @from. */
static int pulls(const struct few *few, int from, int to)
{
	cpu_set_t here = only(from), both = only(from);
	int found = 0;

	CPU_SET((size_t)to, &both);
	for (int i = 0; i < PULLS; i++) {
		struct answer ended, begun;

		bind_to(few->member.pid, &here);
		begin_work(&few->first, few->first_works);
		begin_work(&few->other, few->other_works);
		clock_sleep(MS);
		ask(&few->second);
		ask(&few->member);
		/* Until its burst. */
		clock_sleep(3 * MS);
		if (has_answered(&few->member))
			tap_bail("a task ran on a CPU that was busy");
		bind_to(few->member.pid, &both);
		atomic_store(few->other_works, false);
		ended = hear(&few->other);
		/* Periodic balance may move it too, later on. */
		answers_within(&few->member, 10);
		atomic_store(few->first_works, false);
		begun = hear(&few->member);
		found += begun.cpu == to && begun.ns - ended.ns < MS;
		hear(&few->first);
		hear(&few->second);
	}
	return found;
}

/* Two CPUs near each other, and a third one for this program. */
static bool find_cpus(const cpu_set_t *usable, int cpus[3])
{
	int found = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && found < 3; cpu++) {
		if (!CPU_ISSET((size_t)cpu, usable))
			continue;
		if (of_cpu(cpu, "cpu_capacity") != 1024)
			return false;
		if (found && of_cpu(cpu, "topology/physical_package_id") !=
				     of_cpu(cpus[0], "topology/physical_package_id"))
			return false;
		cpus[found++] = cpu;
	}
	return found == 3;
}

static struct worker start_on(int cpu, int policy, atomic_bool *works)
{
	cpu_set_t one = only(cpu);
	struct worker worker;

	busy = works;
	worker = start(ROOT, policy);
	bind_to(worker.pid, &one);
	return worker;
}

static void test_eager(void)
{
	int cpus[3], seldom, often;
	cpu_set_t usable, one;
	char cost_was[32], fair_was[32];
	char cost[128], fair[128];
	atomic_bool *work;
	struct few few;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		tap_bail("cannot get the CPUs: %s", strerror(errno));
	/* Linux's energy model keeps a CPU from taking tasks of others. */
	if (!find_cpus(&usable, cpus)) {
		tap_ok(true, "eager # SKIP no three equal CPUs of a socket");
		return;
	}
	put(SCHED "verbose", "1");
	snprintf(cost, sizeof(cost), SCHED "domains/cpu%d/domain0/max_newidle_lb_cost", cpus[1]);
	must(read_text(cost, cost_was, sizeof(cost_was)), cost);
	put_number(cost, SELDOM_NS);
	/* Else tasks could run for 5 % of a second in which a real-time task works. */
	snprintf(fair, sizeof(fair), SCHED "fair_server/cpu%d/runtime", cpus[0]);
	must(read_text(fair, fair_was, sizeof(fair_was)), fair);
	put(fair, "0");

	work = mmap(NULL, 2 * sizeof(*work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (work == MAP_FAILED)
		tap_bail("no memory: %s", strerror(errno));
	few.first_works = &work[0];
	few.other_works = &work[1];
	few.first = start_on(cpus[0], SCHED_FIFO, few.first_works);
	few.second = start_on(cpus[0], SCHED_OTHER, NULL);
	few.other = start_on(cpus[1], SCHED_OTHER, few.other_works);
	few.member = start(GROUP, SCHED_OTHER);
	one = only(cpus[2]);
	bind_to(0, &one);
	rules(GROUP, 1000, 0, 1);

	often = pulls(&few, cpus[0], cpus[1]);
	put(SYSTEM "eager", "0");
	seldom = pulls(&few, cpus[0], cpus[1]);
	put(SYSTEM "eager", "1");
	tap_ok(often > PULLS * 3 / 4,
	       "eager: a CPU without work takes a task of a burst at once, %d times of %d", often,
	       PULLS);
	tap_ok(seldom < PULLS / 2, "not eager: it does not if its idle times are short, but for %d",
	       seldom);

	put(fair, fair_was);
	put(cost, cost_was);
	put(SCHED "verbose", "0");
	bind_to(0, &usable);
	stop(&few.first);
	stop(&few.second);
	stop(&few.other);
	stop(&few.member);
	munmap(work, 2 * sizeof(*work));
	rules(GROUP, 0, 0, 1);
}

/* Two members who wake each other. */
static void test_inside(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	int status;
	pid_t pid = fork();

	if (!pid) {
		int to[2], from[2];
		char byte = 0;

		if (write_text(GROUP "/cgroup.procs", "0") || pipe(to) || pipe(from))
			_exit(2);
		if (!fork()) {
			while (read(to[0], &byte, 1) == 1)
				if (write(from[1], &byte, 1) != 1 || byte)
					_exit(0);
			_exit(1);
		}
		for (int i = 0; i < 100; i++) {
			byte = i == 99;
			if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
				_exit(3);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	/* Its child's end wakes nobody of the stage; its own wakes us, who are no member. */
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status) && stat_of(GROUP, "wakes") == wakes,
	       "what members do to each other is not held");
}

/* Until its wake-up is held. */
static void wait_for_held(const char *group, unsigned long tasks)
{
	for (int i = 0; i < 5000 && stat_of(group, "held") != tasks; i++)
		clock_sleep(MS);
	if (stat_of(group, "held") != tasks)
		tap_bail("%lu tasks are held", stat_of(group, "held"));
}

/* A stage slows down nobody but its own tasks. */
static void test_outside(void)
{
	struct worker member = start(GROUP, SCHED_OTHER), outside = start(ROOT, SCHED_OTHER), near;
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct answer last = {0};
	bool held = true;

	if (mkdir(NEAR, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	near = start(NEAR, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 2);
	ask(&member);
	wait_for_held(GROUP, 1);
	for (int i = 0; i < OUTSIDE; i++) {
		ask(&outside);
		hear(&outside);
		ask(&near);
		last = hear(&near);
		held &= stat_of(GROUP, "held") == 1 && !has_answered(&member);
	}
	tap_ok(held && stat_of(GROUP, "wakes") == wakes + 1,
	       "tasks of no group and of another one answer %d times while a member is held",
	       2 * OUTSIDE);
	rules(GROUP, 0, 0, 1);
	tap_ok(hear(&member).ns > last.ns, "which answers after them, in its burst");
	stop(&member);
	stop(&outside);
	stop(&near);
	tap_ok(!rmdir(NEAR), "nothing keeps the other group");
}

static void test_never(void)
{
	struct worker fifo = start(GROUP, SCHED_FIFO), worker = start(GROUP, SCHED_OTHER);
	struct worker due = start(GROUP, SCHED_DEADLINE);
	unsigned long wakes;
	uint64_t frozen = 0;

	rules(GROUP, FOREVER_US, 0, 1);
	wakes = stat_of(GROUP, "wakes");
	ask(&fifo);
	hear(&fifo);
	tap_ok(stat_of(GROUP, "wakes") == wakes, "a real-time task is not held");
	ask(&due);
	hear(&due);
	tap_ok(stat_of(GROUP, "wakes") == wakes, "nor is a deadline task");
	stop(&due);

	put(GROUP "/cgroup.freeze", "1");
	for (int i = 0; !frozen && i < 1000; i++) {
		clock_sleep(MS);
		must(read_count(GROUP "/cgroup.events", "frozen", &frozen), "read cgroup.events");
	}
	put(GROUP "/cgroup.freeze", "0");
	clock_sleep(5 * MS);
	tap_ok(frozen && stat_of(GROUP, "wakes") == wakes, "a frozen one that thaws is not");

	ask(&worker);
	clock_sleep(5 * MS);
	tap_ok(!has_answered(&worker) && stat_of(GROUP, "held") == 1, "another one is");
	kill(worker.pid, SIGUSR1);
	hear(&worker);
	tap_ok(stat_of(GROUP, "held") == 1, "a signal goes through");

	ask(&worker);
	clock_sleep(5 * MS);
	kill(worker.pid, SIGKILL);
	tap_ok(waitpid(worker.pid, NULL, 0) == worker.pid, "so does the one that kills");
	rules(GROUP, 0, 0, 1);
	tap_ok(!stat_of(GROUP, "held"), "a stage that ends holds nothing, be it dead");
	close(worker.to);
	close(worker.from);
	stop(&fifo);
}

/* A thread of the kernel that sleeps as programs do. */
static void test_kernel_thread(void)
{
	pid_t thread = find_device_thread();
	unsigned long wakes;

	if (!thread)
		tap_bail("there is no " DEVICE_THREAD);
	put_number(GROUP "/cgroup.procs", (unsigned long)thread);
	rules(GROUP, FOREVER_US, 0, 2);
	wakes = stat_of(GROUP, "wakes");
	must(use_device_thread(), "make a device");
	tap_ok(stat_of(GROUP, "wakes") == wakes, "a thread of the kernel is not held");
	put_number(ROOT "/cgroup.procs", (unsigned long)thread);
	rules(GROUP, 0, 0, 1);
}

/* Waits in state D until its child ends, which is no member. */
static void wait_for_child(int from, int to)
{
	static const struct answer hello;
	char byte;

	if (!vfork()) {
		/* From here on both have the same memory. */
		if (write_text(ROOT "/cgroup.procs", "0") ||
		    write(to, &hello, sizeof(hello)) != sizeof(hello) || read(from, &byte, 1) != 1)
			_exit(2);
		_exit(0);
	}
	_exit(write(to, &hello, sizeof(hello)) != sizeof(hello));
}

static void test_uninterruptible(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct worker worker = {0};
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	worker = (struct worker){.pid = fork(), .to = to[1], .from = from[0]};
	if (!worker.pid) {
		if (write_text(GROUP "/cgroup.procs", "0"))
			_exit(2);
		wait_for_child(to[0], from[1]);
	}
	hear(&worker);
	rules(GROUP, FOREVER_US, 0, 2);
	ask(&worker);
	tap_ok(answers_within(&worker, 5000) && stat_of(GROUP, "wakes") == wakes,
	       "who sleeps uninterruptibly is not held");
	rules(GROUP, 0, 0, 1);
	stop(&worker);
	close(to[0]);
	close(from[1]);
}

static int lock_or_unlock(_Atomic uint32_t *lock, int operation)
{
	return syscall(SYS_futex, lock, operation, 0, NULL) ? -errno : 0;
}

/* A member waits for a futex with priority inheritance, whose owner is no member. */
static void test_inheritance(void)
{
	unsigned long wakes = stat_of(GROUP, "wakes");
	struct worker worker = {0};
	_Atomic uint32_t *lock;
	int from[2];

	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lock == MAP_FAILED || pipe(from))
		tap_bail("no memory: %s", strerror(errno));
	must(lock_or_unlock(lock, FUTEX_LOCK_PI), "take a futex");
	worker = (struct worker){.pid = fork(), .from = from[0]};
	if (!worker.pid) {
		struct answer answer = {0};

		if (write_text(GROUP "/cgroup.procs", "0") || lock_or_unlock(lock, FUTEX_LOCK_PI) ||
		    write(from[1], &answer, sizeof(answer)) != sizeof(answer))
			_exit(2);
		_exit(0);
	}
	for (int i = 0; i < 5000 && !(atomic_load(lock) & FUTEX_WAITERS); i++)
		clock_sleep(MS);
	/* Until it has gone to sleep. */
	clock_sleep(2 * MS);
	rules(GROUP, FOREVER_US, 0, 2);
	must(lock_or_unlock(lock, FUTEX_UNLOCK_PI), "leave a futex");
	tap_ok(answers_within(&worker, 5000) && stat_of(GROUP, "wakes") == wakes,
	       "who waits for a futex with priority inheritance is not held");
	rules(GROUP, 0, 0, 1);
	kill(worker.pid, SIGKILL);
	waitpid(worker.pid, NULL, 0);
	close(from[0]);
	close(from[1]);
	munmap(lock, sizeof(*lock));
}

static pid_t read_next(int log)
{
	pid_t pid = fork();
	char record[1024];

	if (!pid)
		_exit(read(log, record, sizeof(record)) < 0);
	/* Until it has gone to sleep. */
	clock_sleep(10 * MS);
	return pid;
}

/* Who waits for the kernel's next message has the file's mutex, for which a member waits. */
static void test_mutex(void)
{
	static const char message[] = "<7>lull-selftest bursts: one message\n";
	int log = open("/dev/kmsg", O_RDWR);
	pid_t outsider, member;
	unsigned long wakes;

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		tap_bail("cannot read the kernel's messages: %s", strerror(errno));
	rules(GROUP, FOREVER_US, 0, 1);
	outsider = read_next(log);
	member = read_next(log);
	put_number(GROUP "/cgroup.procs", (unsigned long)member);
	wakes = stat_of(GROUP, "wakes");
	if (write(log, message, strlen(message)) < 0)
		tap_bail("cannot write a message: %s", strerror(errno));
	waitpid(outsider, NULL, 0);
	clock_sleep(2 * MS);
	tap_ok(stat_of(GROUP, "wakes") == wakes, "who waits for a mutex is not held");
	kill(member, SIGKILL);
	waitpid(member, NULL, 0);
	close(log);
	rules(GROUP, 0, 0, 1);
}

/* A signal wakes a held task, which then has a child. */
static void test_fork(void)
{
	struct worker parent, child;
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	heir = (struct worker){.to = to[0], .from = from[1]};
	child = (struct worker){.to = to[1], .from = from[0]};
	parent = start(GROUP, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 1);
	if (write(parent.to, FORK, 1) != 1)
		tap_bail("cannot ask: %s", strerror(errno));
	clock_sleep(5 * MS);
	kill(parent.pid, SIGUSR1);
	hear(&parent);
	child.pid = hear(&child).pid;
	/* Until it has gone to sleep. */
	clock_sleep(2 * MS);
	tap_ok(stat_of(GROUP, "held") == 1, "a held task that a signal has woken has a child");
	rules(GROUP, PERIOD_MS * 1000, 0, 1);
	ask(&child);
	tap_ok(answers_within(&child, 5000), "whose wake-ups are released as any other's");
	stop(&parent);
	stop(&child);
	close(heir.to);
	close(heir.from);
	rules(GROUP, 0, 0, 1);
}

/* Whom a signal has woken needs no release, and has none left for the next burst. */
static void test_vain_release(void)
{
	struct worker worker;

	busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (busy == MAP_FAILED)
		tap_bail("no memory: %s", strerror(errno));
	worker = start(GROUP, SCHED_OTHER);
	rules(GROUP, FOREVER_US, 0, 1);
	ask(&worker);
	clock_sleep(5 * MS);
	atomic_store(busy, true);
	kill(worker.pid, SIGUSR2);
	clock_sleep(5 * MS);
	rules(GROUP, FOREVER_US, 0, 1);
	atomic_store(busy, false);
	hear(&worker);
	/* Until it has gone to sleep. */
	clock_sleep(2 * MS);
	tap_ok(!stat_of(GROUP, "held"), "who has been woken by a signal is released in vain");
	ask(&worker);
	clock_sleep(5 * MS);
	tap_ok(!has_answered(&worker) && stat_of(GROUP, "held") == 1, "and is held the next time");
	stop(&worker);
	munmap(busy, sizeof(*busy));
	rules(GROUP, 0, 0, 1);
}

/* As long as no bound and no period ends, a burst begins because a deadline ends, or a rule is new.
 */
static void test_deadline(void)
{
	struct worker first = start(GROUP, SCHED_OTHER), second = start(GROUP, SCHED_OTHER);
	unsigned long early, bursts, counted;
	struct answer answer;
	uint64_t asked;

	/* So many that they would wait until a bound ends. */
	rules(GROUP, FOREVER_US, FOREVER_US, 3);
	early = stat_of(GROUP, "early");
	counted = stat_of(GROUP, "deadlines");
	deadline(DEADLINE_US);
	ask(&first);
	tap_ok(!answers_within(&first, 2 * DEADLINE_MS) && stat_of(GROUP, "deadlines") == counted,
	       "a stage heeds no deadline unless its file says so");
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	tap_ok(answers_within(&first, 5000) && stat_of(GROUP, "early") == early,
	       "a write to this file releases whom the stage holds");
	hear(&first);
	clock_sleep(2 * MS);

	/* A task without a deadline goes along. */
	bursts = stat_of(GROUP, "bursts");
	deadline(0);
	ask(&second);
	tap_ok(!answers_within(&second, 2 * DEADLINE_MS), "a request without a deadline waits");
	deadline(DEADLINE_US);
	asked = clock_ns();
	ask(&first);
	answer = hear(&first);
	hear(&second);
	tap_ok(answer.ns - asked >= DEADLINE_MS * MS, "until the deadline of another one ends");
	tap_ok(stat_of(GROUP, "bursts") == bursts + 1 && stat_of(GROUP, "early") == early + 1 &&
		       stat_of(GROUP, "deadlines") == counted + 1,
	       "they leave in one burst, which is counted, and so is the deadline");
	clock_sleep(2 * MS);

	put_number(GROUP "/cpu.bursts.deadline_us", DEADLINE_US);
	deadline(1);
	asked = clock_ns();
	ask(&first);
	answer = hear(&first);
	tap_ok(answer.ns - asked >= DEADLINE_MS * MS && stat_of(GROUP, "early") == early + 2,
	       "a shorter deadline than the stage's least is the least");

	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	put_number(GROUP "/cpu.bursts.bound_us", DEADLINE_US);
	deadline(BURST_DEADLINE_MOST_US);
	ask(&first);
	tap_ok(answers_within(&first, 5000) && stat_of(GROUP, "early") == early + 3,
	       "a longer deadline than the bound puts nothing off");
	hear(&first);

	deadline(0);
	stop(&first);
	stop(&second);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	rules(GROUP, 0, 0, 1);
}

/* Whether this program runs on a CPU while a timer of the same CPU wakes a member. */
static void test_deadline_of_nobody(void)
{
	struct worker worker;
	cpu_set_t usable, one;
	char number[16];
	uint64_t end;
	pid_t pid;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		tap_bail("cannot get the CPUs: %s", strerror(errno));
	one = only(sched_getcpu());
	bind_to(0, &one);
	/* It inherits the CPU. */
	worker = start(GROUP, SCHED_OTHER);
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	if (write(worker.to, SLEEP, 1) != 1)
		tap_bail("cannot ask: %s", strerror(errno));
	clock_sleep(SLEEP_MS / 10 * MS);
	rules(GROUP, FOREVER_US, 0, 2);
	deadline(1000);
	for (end = clock_ns() + 2 * SLEEP_MS * MS; clock_ns() < end;)
		;
	deadline(0);
	tap_ok(!answers_within(&worker, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	       "an interrupt has no deadline, whomever it comes upon");
	rules(GROUP, 0, 0, 1);
	hear(&worker);
	bind_to(0, &usable);
	bind_to(worker.pid, &usable);
	clock_sleep(2 * MS);

	rules(GROUP, FOREVER_US, 0, 2);
	deadline(1000);
	pid = fork();
	if (!pid) {
		ask(&worker);
		_exit(0);
	}
	deadline(0);
	waitpid(pid, NULL, 0);
	tap_ok(!answers_within(&worker, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	       "a child does not inherit its parent's");
	rules(GROUP, FOREVER_US, 0, 2);
	hear(&worker);
	clock_sleep(2 * MS);

	snprintf(number, sizeof(number), "%d", worker.to);
	pid = fork();
	if (!pid) {
		deadline(1000);
		execl("/proc/self/exe", "bursts", ASKER, number, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	tap_ok(answers_within(&worker, 5000), "a program that a thread executes does");
	hear(&worker);
	stop(&worker);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	rules(GROUP, 0, 0, 1);
}

/* A member that waits for two pipes, of which each wakes it. */
static void test_deadline_comes_later(void)
{
	struct worker worker = {0};
	int to[2], also[2], from[2];

	if (pipe(to) || pipe(also) || pipe(from))
		tap_bail("no pipe: %s", strerror(errno));
	worker.pid = fork();
	if (!worker.pid) {
		struct pollfd both[] = {{.fd = to[0], .events = POLLIN},
					{.fd = also[0], .events = POLLIN}};
		struct answer answer = {0};

		if (write_text(GROUP "/cgroup.procs", "0") ||
		    write(from[1], &answer, sizeof(answer)) != sizeof(answer) ||
		    poll(both, 2, -1) < 1)
			_exit(2);
		_exit(write(from[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	worker.from = from[0];
	hear(&worker);
	/* Until it has gone to sleep. */
	clock_sleep(2 * MS);
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	rules(GROUP, FOREVER_US, FOREVER_US, 2);
	worker.to = to[1];
	ask(&worker);
	wait_for_held(GROUP, 1);
	deadline(1000);
	worker.to = also[1];
	ask(&worker);
	deadline(0);
	tap_ok(answers_within(&worker, 5000),
	       "a held task takes the deadline of who wakes it once more");
	rules(GROUP, 0, 0, 1);
	hear(&worker);
	stop(&worker);
	close(to[0]);
	close(to[1]);
	close(also[0]);
	close(from[1]);
	put(GROUP "/cpu.bursts.deadline_us", "0");
}

static void test_inner(void)
{
	struct worker outer, inner;
	uint64_t asked;
	struct answer answer;

	put(GROUP "/cgroup.subtree_control", "+cpu");
	if (mkdir(INNER, 0755) || mkdir(GROUP "/other", 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	outer = start(GROUP "/other", SCHED_OTHER);
	inner = start(INNER, SCHED_OTHER);
	rules(INNER, 0, PERIOD_MS * 1000, 1);
	rules(GROUP, FOREVER_US, 0, 2);

	asked = clock_ns();
	ask(&inner);
	answer = hear(&inner);
	tap_ok(answer.ns - asked >= PERIOD_MS * MS && !stat_of(GROUP, "held"),
	       "a group inside belongs to the stage, by its own bound");
	ask(&outer);
	ask(&inner);
	hear(&inner);
	hear(&outer);
	tap_ok(!stat_of(GROUP, "held") && !stat_of(INNER, "wakes"),
	       "and takes the others of the stage along");

	/* Alone it waits for the bound, which is far away. */
	rules(INNER, 0, 0, 1);
	put_number(INNER "/cpu.bursts.deadline_us", 1000);
	deadline(1000);
	ask(&inner);
	tap_ok(!answers_within(&inner, PERIOD_MS) && stat_of(GROUP, "held") == 1,
	       "a group inside cannot say that deadlines are heeded");
	put_number(GROUP "/cpu.bursts.deadline_us", 1000);
	hear(&inner);
	clock_sleep(2 * MS);
	ask(&inner);
	tap_ok(answers_within(&inner, 5000), "the stage can");
	hear(&inner);
	clock_sleep(2 * MS);
	deadline(0);
	put(GROUP "/cpu.bursts.deadline_us", "0");
	ask(&inner);
	clock_sleep(5 * MS);
	put_number(INNER "/cpu.bursts.parallel", 1);
	tap_ok(answers_within(&inner, 5000) && !stat_of(GROUP, "held"),
	       "a write to its files releases whom the stage holds");
	hear(&inner);

	ask(&outer);
	clock_sleep(5 * MS);
	put(SYSTEM "enabled", "0");
	hear(&outer);
	tap_ok(true, "turning it off releases all");
	put(SYSTEM "enabled", "1");
	stop(&inner);
	stop(&outer);
	tap_ok(!rmdir(INNER) && !rmdir(GROUP "/other"), "a group can be removed");
	rules(GROUP, 0, 0, 1);
	put(GROUP "/cgroup.subtree_control", "-cpu");
}

/* Rules and switches change while tasks are held and released. */
static void test_storm(int rounds)
{
	struct worker workers[WORKERS];
	unsigned int seed = 1;
	pid_t storm;

	/* A group of its own: in the other one some were held for longer. */
	if (mkdir(STORM, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));
	for (int i = 0; i < WORKERS; i++)
		workers[i] = start(STORM, SCHED_OTHER);
	storm = fork();
	if (!storm) {
		for (;;) {
			rules(STORM, 1000 * (1 + rand_r(&seed) % 5), 1000 * (1 + rand_r(&seed) % 9),
			      1 + rand_r(&seed) % 4);
			if (rand_r(&seed) % 4 == 0)
				put(SYSTEM "enabled", rand_r(&seed) % 2 ? "1" : "0");
			put_number(STORM "/cpu.bursts.deadline_us", 1000 * (rand_r(&seed) % 4));
			put(SYSTEM "spread", rand_r(&seed) % 2 ? "1" : "0");
			put(SYSTEM "eager", rand_r(&seed) % 2 ? "1" : "0");
		}
	}
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < WORKERS; i++) {
			deadline(1000 * (unsigned long)((round + i) % 5));
			ask(&workers[i]);
		}
		for (int i = 0; i < WORKERS; i++)
			hear(&workers[i]);
	}
	deadline(0);
	kill(storm, SIGKILL);
	waitpid(storm, NULL, 0);
	put(SYSTEM "spread", "1");
	put(SYSTEM "eager", "1");
	put(SYSTEM "enabled", "1");
	tap_ok(true, "no wake-up is lost in %d rounds of changes", rounds);
	/* The longest bound is 9 ms. */
	tap_ok(stat_of(STORM, "held_most_us") <= (9 + LATE_MS) * 1000,
	       "and none was held for longer than the longest bound: %lu us",
	       stat_of(STORM, "held_most_us"));
	for (int i = 0; i < WORKERS; i++)
		stop(&workers[i]);
	tap_ok(!rmdir(STORM), "nothing keeps its group");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	char was[8];

	if (argc == 3 && !strcmp(argv[1], ASKER))
		return write(atoi(argv[2]), "", 1) != 1;
	must(read_text(SYSTEM "enabled", was, sizeof(was)), "read the switch");
	put(SYSTEM "enabled", "0");
	put(ROOT "/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755))
		tap_bail("cannot make a group: %s", strerror(errno));

	test_files();
	test_removed();
	test_off();
	put(SYSTEM "enabled", "1");
	test_period();
	test_bound_and_parallel();
	test_crowd();
	test_spread();
	test_eager();
	test_inside();
	test_outside();
	test_never();
	test_kernel_thread();
	test_uninterruptible();
	test_inheritance();
	test_mutex();
	test_fork();
	test_vain_release();
	test_deadline();
	test_deadline_of_nobody();
	test_deadline_comes_later();
	test_inner();
	test_storm(rounds);

	put(SYSTEM "enabled", "0");
	tap_ok(!rmdir(GROUP), "nothing keeps the group");
	put(SYSTEM "enabled", was);
	return tap_finish();
}
