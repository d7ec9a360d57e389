// SPDX-License-Identifier: BSD-3-Clause
/* While a task of a burst waits, each CPU that runs out of work looks for it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cases.h"
#include "clock.h"
#include "cpus.h"
#include "report.h"
#include "stage.h"
#include "sysfs.h"
#include "workers.h"

/* The scheduler's own numbers; those of its domains are there while `verbose` is on. */
#define SCHED "/sys/kernel/debug/sched/"
/* A CPU whose idle times are shorter on average does not look for work. */
#define SELDOM_NS 1000000000
#define PULLS 20

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
			bail("a task ran on a CPU that was busy");
		bind_to(few->member.pid, &both);
		atomic_store(few->other_works, false);
		ended = hear_at_once(&few->other);
		/* Periodic balance may move it too, later on. */
		answers_within(&few->member, 10);
		atomic_store(few->first_works, false);
		begun = hear_at_once(&few->member);
		found += begun.cpu == to && begun.ns - ended.ns < MS;
		hear_at_once(&few->first);
		hear_at_once(&few->second);
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

void test_eager(void)
{
	int cpus[3], seldom, often;
	cpu_set_t usable, one;
	char cost_was[32], fair_was[32];
	char cost[128], fair[128];
	atomic_bool *work;
	struct few few;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		bail("cannot get the CPUs: %s", strerror(errno));
	/* Linux's energy model keeps a CPU from taking tasks of others. */
	if (!find_cpus(&usable, cpus)) {
		check(true, "eager # SKIP no three equal CPUs of a socket");
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
		bail("no memory: %s", strerror(errno));
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
	check(often > PULLS * 3 / 4,
	      "eager: a CPU without work takes a task of a burst at once, %d times of %d", often,
	      PULLS);
	check(seldom < PULLS / 2, "not eager: it does not if its idle times are short, but for %d",
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
