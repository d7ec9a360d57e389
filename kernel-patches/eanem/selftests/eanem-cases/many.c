// SPDX-License-Identifier: BSD-3-Clause
/* Thousands of silent sockets, which must cost nothing. */
#include <linux/netlink.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "measure.h"
#include "netlink.h"
#include "pin.h"
#include "report.h"

/* How many sockets root sees, however many there are. */
static int list_all(size_t *count)
{
	int records, error;

	ask(&eanem, LULL_EANEM_COMMAND_SOCKETS, NLM_F_DUMP, NULL, 0);
	error = answer(&eanem, &records);
	*count = (size_t)records;
	return error;
}

/* What this CPU does in some time. */
static uint64_t loops_in(uint64_t ns)
{
	uint64_t end = clock_ns() + ns, loops = 0;

	while (clock_ns() < end)
		loops++;
	return loops;
}

/*
 * Very many sockets that are silent take no time of a CPU that does something else, however short
 * the interval is. They are listed one by one all the same.
 */
void test_many(void)
{
	enum { MANY_SILENT = 6000 };
	struct rlimit limit = {2 * MANY_SILENT, 2 * MANY_SILENT};
	uint64_t without, with;
	int pipes[2], count = slow ? MANY : MANY_SILENT;
	size_t before = 0, listed = 0;
	cpu_set_t cpus;
	pid_t child;
	char byte;

	allowed(&cpus);
	must(pin_to_cpu(0), "go to a CPU");
	begin_anew("1000");
	if (pipe(pipes))
		bail("no pipe");
	must(list_all(&before), "list sockets");
	without = loops_in(100 * MS);
	child = fork();
	if (!child) {
		if (setrlimit(RLIMIT_NOFILE, &limit) || setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		for (int i = 0; i < count; i++)
			if (socket(AF_INET, SOCK_DGRAM, 0) < 0)
				_exit(2);
		if (write(pipes[1], "", 1) != 1)
			_exit(3);
		pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		bail("no %d sockets", count);
	with = loops_in(100 * MS);
	must(list_all(&listed), "list sockets");
	check(within(1000 * with / without, 900, 1100),
	      "%d sockets of another user leave %llu of 1000 parts of a CPU", count,
	      (unsigned long long)(1000 * with / without));
	check(listed == before + (size_t)count, "each of them is listed once: %zu", listed);
	end(child);
	close(pipes[0]);
	for (int i = 0; i < PATIENCE_MS && listed > before; i++) {
		clock_sleep(MS);
		must(list_all(&listed), "list sockets");
	}
	begin_anew(INTERVAL_US);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}
