// SPDX-License-Identifier: BSD-3-Clause
/* The trace has what the monitor counts of sockets and CPUs, and nothing unless it is asked to. */
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "datagrams.h"
#include "eanem.h"
#include "pin.h"
#include "report.h"
#include "text.h"
#include "trace.h"

void test_socket_events(void)
{
	enum { PACKETS = 100 };
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	uint64_t packets = 0, bytes = 0, sent, interval = 0, id = cookie(to);
	unsigned int count = 0, wrong = 0;
	struct lull_eanem_socket now;
	struct event event;
	const char *place;
	char *trace;

	trace_empty();
	trace_enable("lull_eanem_socket", true);
	sent = send_datagrams(from, to, &at, PACKETS);
	/* An interval's event comes when the socket is next read. */
	next_interval(&eanem, id, &now);
	trace_enable("lull_eanem_socket", false);
	place = trace = read_all(TRACING "trace");
	while (next_event(&place, "lull_eanem_socket", &event)) {
		if (field(&event, "id") != id)
			continue;
		count++;
		wrong += field(&event, "interval") <= interval;
		interval = field(&event, "interval");
		packets += field(&event, "packets");
		bytes += field(&event, "bytes");
	}
	free(trace);
	check(packets == PACKETS && bytes == sent,
	      "%llu datagrams are traced, with %llu of %llu bytes", (unsigned long long)packets,
	      (unsigned long long)bytes, (unsigned long long)sent);
	check(count > 5 && !wrong && interval <= now.interval, "in %u intervals, one after another",
	      count);
	close(to);
	close(from);
}

/*
 * A CPU has an event in each interval in which the network stack worked on it, as netlink says it.
 * In other intervals it has none: a CPU that sleeps is not worth an event.
 */
static void traces_cpu(int cpu)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	uint64_t interval = 0, first = 0;
	struct lull_eanem_cpu cpus[64];
	unsigned int gaps = 0, same = 0, empty = 0;
	size_t count = 64;
	struct event event;
	const char *place;
	char *trace;

	must(pin_to_cpu(cpu), "go to a CPU");
	trace_empty();
	trace_enable("lull_eanem_cpu", true);
	send_datagrams(from, to, &at, 60);
	must(eanem_cpus(&eanem, cpus, &count), "list CPUs");
	trace_enable("lull_eanem_cpu", false);
	place = trace = read_all(TRACING "trace");
	while (next_event(&place, "lull_eanem_cpu", &event)) {
		empty += !field(&event, "net_rx_ns") && !field(&event, "net_tx_ns");
		if (field(&event, "which") != (uint64_t)cpu)
			continue;
		gaps += first && field(&event, "interval") != interval + 1;
		interval = field(&event, "interval");
		first = first ?: interval;
		for (size_t i = 0; i < count; i++)
			same += cpus[i].cpu == (uint32_t)cpu && cpus[i].interval == interval &&
				cpus[i].net_rx_ns == field(&event, "net_rx_ns") &&
				cpus[i].net_tx_ns == field(&event, "net_tx_ns") &&
				cpus[i].ksoftirqd_ns == field(&event, "ksoftirqd_ns");
	}
	free(trace);
	check(first && interval >= first + 5 && !gaps, "CPU %d is traced in each of %llu intervals",
	      cpu, (unsigned long long)(interval - first + 1));
	check(same == 1 && !empty, "with the times that netlink says, and never with none");
	close(to);
	close(from);
}

void test_cpu_events(void)
{
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before))
			traces_cpu(cpu);
	sched_setaffinity(0, sizeof(before), &before);
}

/* Whatever the three events are about, in 100 ms. How many there were. */
static unsigned int traced_meanwhile(bool controlled)
{
	struct sockaddr_in at, unused;
	int to = socket_at(SOCK_DGRAM, &at), from = socket_at(SOCK_DGRAM, &unused);
	unsigned int count;
	uint64_t bytes;
	char *trace;
	pid_t child;
	int fd = connection(&child);

	trace_empty();
	if (controlled)
		must(eanem_target_socket(&eanem, cookie(fd), 1000000), "set a target");
	send_datagrams(from, to, &at, 10);
	read_for(&fd, 1, 100 * MS, &bytes);
	end(child);
	trace = read_all(TRACING "trace");
	count = events_of(trace, "lull_eanem_window") + events_of(trace, "lull_eanem_socket") +
		events_of(trace, "lull_eanem_cpu");
	free(trace);
	close(fd);
	close(to);
	close(from);
	return count;
}

void test_no_events(void)
{
	static const char *const events[] = {"lull_eanem_window", "lull_eanem_socket",
					     "lull_eanem_cpu"};

	check(traced_meanwhile(true) == 0, "events that are not enabled do not come");
	for (size_t i = 0; i < 3; i++)
		trace_enable(events[i], true);
	check(traced_meanwhile(true) > 10, "those that are do");
	turn("0");
	check(traced_meanwhile(false) == 0, "but not while the system is off");
	turn("1");
	for (size_t i = 0; i < 3; i++)
		trace_enable(events[i], false);
}
