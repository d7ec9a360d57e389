// SPDX-License-Identifier: BSD-3-Clause
/* governor: pseudo CPU hotplug's governor takes CPUs out while there is little to do, and brings
 * them back. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cpulist.h"
#include "fail_each.h"
#include "sysfs.h"
#include "tap.h"

#define SYSTEM "/sys/kernel/lull/hotplug/"
#define GOVERNOR SYSTEM "governor/"
#define LIST CPU_DIR "/pseudo_offline"
#define MS 1000000ULL
#define LATENCY_MS 20

/* CPUs that tasks are placed on. */
static struct cpulist mains;

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(-error));
}

static void put(const char *file, const char *value)
{
	must(write_text(file, value), file);
}

/* How many CPUs are out, of those that tasks are placed on. */
static int out(void)
{
	struct cpulist list;
	char text[256];
	int count = 0;

	must(read_text(LIST, text, sizeof(text)), "read the list");
	if (!text[0])
		return 0;
	if (cpulist_parse(&list, text))
		tap_bail("no list: %s", text);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		count += list.has[cpu] && mains.has[cpu];
	return count;
}

/* Whether so many CPUs are out before long. */
static bool comes_to(int least, int most)
{
	for (int i = 0; i < 200; i++) {
		int now = out();

		if (now >= least && now <= most)
			return true;
		clock_sleep(20 * MS);
	}
	tap_note("%d are out", out());
	return false;
}

static unsigned long counted(const char *word)
{
	char text[128], *found;

	must(read_text(GOVERNOR "stats", text, sizeof(text)), "read the counts");
	found = strstr(text, word);
	if (!found)
		tap_bail("no count of '%s' in %s", word, text);
	return strtoul(found + strlen(word), NULL, 10);
}

static atomic_bool stop;
static atomic_uint_least64_t began, left;

/* Spins, and says when it was first on another CPU than that of the start. */
static void *spin(void *unused)
{
	int first = sched_getcpu();

	atomic_store(&began, clock_ns());
	while (!atomic_load(&stop))
		if (!atomic_load(&left) && sched_getcpu() != first)
			atomic_store(&left, clock_ns());
	return unused;
}

static void test_files(void)
{
	static const char *const numbers[] = {"latency_us", "load", "hysteresis", "hold_us",
					      "enabled"};
	static const char *const bad[] = {"x", "", "-1", "1000001", "1.5", "0x", "99999999999"};
	char path[96], before[16], after[16];
	bool refused = true, same = true;
	pid_t pid;
	int status;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		snprintf(path, sizeof(path), GOVERNOR "%s", numbers[i]);
		must(read_text(path, before, sizeof(before)), path);
		for (size_t j = 0; j < sizeof(bad) / sizeof(*bad); j++)
			if (write_text(path, bad[j][0] ? bad[j] : "\n") != -EINVAL) {
				tap_note("'%s' into %s is not EINVAL", bad[j], numbers[i]);
				refused = false;
			}
		must(read_text(path, after, sizeof(after)), path);
		same &= !strcmp(before, after);
	}
	tap_ok(refused, "text, and numbers out of range, are EINVAL");
	tap_ok(same, "and change nothing");
	tap_ok(write_text(GOVERNOR "latency_us", "199") == -EINVAL &&
		       write_text(GOVERNOR "load", "0") == -EINVAL &&
		       write_text(GOVERNOR "load", "101") == -EINVAL &&
		       write_text(GOVERNOR "hysteresis", "101") == -EINVAL &&
		       write_text(GOVERNOR "enabled", "2") == -EINVAL,
	       "so are numbers just beyond the range");
	tap_ok(write_text(GOVERNOR "stats", "0") == -EACCES ||
		       write_text(GOVERNOR "stats", "0") == -EIO,
	       "nobody writes the counts");
	pid = fork();
	if (pid == 0)
		_exit(setuid(1)					  ? 1
		      : open(GOVERNOR "enabled", O_WRONLY) >= 0	  ? 2
		      : errno != EACCES				  ? 3
		      : open(GOVERNOR "stats", O_RDONLY) >= 0	  ? 4
		      : errno != EACCES				  ? 5
		      : open(GOVERNOR "latency_us", O_RDONLY) < 0 ? 6
								  : 0);
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "who is not root reads numbers, and gets EACCES for the rest: %d",
	       WEXITSTATUS(status));
}

static void test_memory(void)
{
	put(SYSTEM "enabled", "1");
	fail_check(tap_ok, fail_each_switch(GOVERNOR "enabled"), "no memory to turn it on");
	put(SYSTEM "enabled", "0");
}

static void test_off(void)
{
	put(SYSTEM "enabled", "0");
	put(GOVERNOR "enabled", "1");
	clock_sleep(200 * MS);
	tap_ok(out() == 0, "while the system is off, no CPU is out");
	put(GOVERNOR "enabled", "0");
	put(SYSTEM "enabled", "1");
	clock_sleep(200 * MS);
	tap_ok(out() == 0, "nor while the governor is off");
}

static void test_load(void)
{
	unsigned long before, samples;
	pthread_t threads[2];

	put(GOVERNOR "enabled", "1");
	tap_ok(comes_to(mains.count - 1, mains.count - 1), "with nothing to do, all but one leave");
	clock_sleep(500 * MS);
	samples = counted("samples ");
	clock_sleep(1000 * MS);
	samples = counted("samples ") - samples;
	tap_ok(samples < 100, "and the governor sleeps, too: it looked %lu times in a second",
	       samples);

	before = counted("in ");
	for (int i = 0; i < 2; i++)
		must(-pthread_create(&threads[i], NULL, spin, NULL), "start a thread");
	tap_ok(comes_to(0, mains.count - 2), "two tasks that do not sleep bring one back");
	tap_ok(counted("in ") > before, "which is counted");
	for (int i = 0; i < 500 && !atomic_load(&left); i++)
		clock_sleep(10 * MS);
	tap_ok(atomic_load(&left) != 0, "and one of the tasks is there before long");
	tap_note("%lld us after the second one began",
		 (long long)(atomic_load(&left) - atomic_load(&began)) / 1000);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	tap_ok(comes_to(mains.count - 1, mains.count - 1), "once they are gone, it leaves again");
}

/* Others may change the same mask, and CPUs may go offline. */
static void test_others(void)
{
	char path[64];
	int there = 0, done = 0;

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu])
			there = cpu;
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", there);
	put(LIST, "\n");
	tap_ok(comes_to(mains.count - 1, mains.count - 1),
	       "CPUs that others bring back leave again");
	put(LIST, "0");
	tap_ok(comes_to(mains.count - 1, mains.count - 1) && write_text(LIST, "\n") == 0 &&
		       comes_to(mains.count - 1, mains.count - 1),
	       "so it is when its own CPU is taken out");
	for (int i = 0; i < 5; i++) {
		done += !write_text(path, "0");
		clock_sleep(30 * MS);
		done += !write_text(path, "1");
		clock_sleep(30 * MS);
	}
	tap_ok(done == 10, "CPUs go offline and come online meanwhile");
	tap_ok(comes_to(mains.count - 1, mains.count - 1), "and are governed then");
	for (int i = 0; i < 20; i++) {
		put(GOVERNOR "enabled", i % 2 ? "1" : "0");
		put(SYSTEM "enabled", i % 3 ? "1" : "0");
	}
	put(SYSTEM "enabled", "1");
	put(GOVERNOR "enabled", "1");
	tap_ok(comes_to(mains.count - 1, mains.count - 1), "both switches may be used at any time");
	put(SYSTEM "enabled", "0");
	tap_ok(out() == 0, "the system's switch brings all back");
	put(SYSTEM "enabled", "1");
	tap_ok(comes_to(mains.count - 1, mains.count - 1), "and the governor is on again with it");
	put(GOVERNOR "enabled", "0");
	tap_ok(out() == 0, "the governor's switch brings all back");
}

int main(void)
{
	static const char *const files[] = {SYSTEM "enabled", GOVERNOR "latency_us",
					    GOVERNOR "hold_us"};
	char before[3][16], text[64];
	struct cpulist isolated;

	if (access(GOVERNOR "enabled", F_OK)) {
		printf("1..0 # SKIP this kernel has no governor of pseudo CPU hotplug\n");
		return 0;
	}
	if (cpulist_read(&mains, "online"))
		tap_bail("cannot read which CPUs are online");
	memset(&isolated, 0, sizeof(isolated));
	if (!read_text(CPU_DIR "/isolated", text, sizeof(text)) && text[0])
		cpulist_parse(&isolated, text);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++)
		if (mains.has[cpu] && isolated.has[cpu]) {
			mains.has[cpu] = false;
			mains.count--;
		}
	if (mains.count < 2) {
		printf("1..0 # SKIP this machine has one CPU\n");
		return 0;
	}
	for (int i = 0; i < 3; i++)
		must(read_text(files[i], before[i], sizeof(before[i])), files[i]);

	test_files();
	snprintf(text, sizeof(text), "%d", LATENCY_MS * 1000);
	put(GOVERNOR "latency_us", text);
	put(GOVERNOR "hold_us", "100000");
	test_memory();
	test_off();
	test_load();
	test_others();

	for (int i = 2; i >= 0; i--)
		put(files[i], before[i]);
	return tap_finish();
}
