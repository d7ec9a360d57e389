// SPDX-License-Identifier: BSD-3-Clause
/* The part `pack`: a task is packed on a CPU that is at work, until that is too full. */
#include <sched.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "system.h"
#include "tasks.h"
#include "wakeups.h"

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
	count = woken_in_beat(2 * MS, mains - 1, last_little);
	set("pack_percent", "80");
	note("%d came there, up to %s percent", count, percent);
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

void test_pack(void)
{
	unsigned long before;

	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		only("pack");
		set("tracking", trackings[i]);
		check(is_packed(last_little, last_little, RUNS * 9 / 10),
		      "%s: a task is packed on the little CPU that is at work", trackings[i]);
	}
	set("tracking", "walt");
	if (littles > 1) {
		check(is_packed_on_fuller(8 * MS, 4 * MS) && is_packed_on_fuller(4 * MS, 8 * MS),
		      "of two CPUs at work, it is the fuller one");
		at_highest(true);
		check(is_full_though_one_visits(),
		      "a task that was a real-time task takes only what it brought");
		at_highest(false);
	} else {
		check(true, "of two CPUs at work, it is the fuller one # SKIP one little CPU");
	}
	/* By itself the real-time task would fill the CPU. */
	set("pack_percent", "50");
	for (size_t i = 0; i < sizeof(trackings) / sizeof(*trackings); i++) {
		set("tracking", trackings[i]);
		check(is_packed_beside_realtime(),
		      "%s: beside a real-time task there is what it leaves", trackings[i]);
	}
	set("pack_percent", "80");
	only(NULL);
	before = stat_of("packed");
	woken(NOT, last_little, last_little);
	if (!check(stat_of("packed") == before, "not if that part is off"))
		note("%lu were packed", stat_of("packed") - before);
	only("pack");
	set("pack_percent", "1");
	before = stat_of("packed");
	woken(NOT, last_little, last_little);
	check(stat_of("packed") < before + RUNS / 2, "nor if the CPU would be too full");
	set("pack_percent", "80");
}

/* A CPU that is fuller than upstream's margin is over-utilised: a matter of its cluster here. */
void test_pack_percent(void)
{
	pid_t pid;

	if (littles < 2) {
		check(true, "a CPU may be packed above 80 percent # SKIP one little CPU");
		return;
	}
	only("pack");
	set("balance", "1");
	set("tracking", "walt");
	at_highest(true);
	pid = works(last_little, 0, 17 * MS, SCHED_OTHER);
	set("pack_percent", "98");
	check(is_packed_in_beat(18 * MS, last_little, last_little, RUNS * 8 / 10),
	      "a CPU may be packed above 80 percent");
	set("pack_percent", "80");
	check(woken_in_beat(18 * MS, last_little, last_little) <= RUNS / 10, "not if that says so");
	stop(pid);
	at_highest(false);
}

/*
 * The waker is the only task at work on a little CPU. So the task that it wakes is packed there, or
 * nowhere.
 */
void test_pack_apart(void)
{
	unsigned long before;
	int came;

	only("pack");
	set("pack_apart", "1");
	check(is_packed(last_little, last_little, RUNS * 9 / 10),
	      "packing apart, a task is packed where no latency-sensitive task runs");
	waker_is_sensitive = true;
	before = stat_of("packed");
	came = woken(NOT, last_little, last_little);
	/* EAS takes the only little CPU, too. So there the packings of all tasks tell. */
	if (littles == 1)
		came = (int)(stat_of("packed") - before);
	if (!check(came < RUNS / 10, "not where one runs"))
		note("%d %s", came, littles == 1 ? "were packed" : "came there");
	set("pack_apart", "0");
	check(is_packed(last_little, last_little, RUNS * 9 / 10),
	      "there, too, if that is off, as in the paper");
	waker_is_sensitive = false;
}
