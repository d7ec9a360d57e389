// SPDX-License-Identifier: BSD-3-Clause
/* The trace has each step of the control, as it is on the wire. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "clock.h"
#include "eanem.h"
#include "report.h"
#include "sysfs.h"
#include "text.h"
#include "trace.h"
#include "wire.h"

/* Windows are so large that a segment more or less is little beside them. */
#define LONG_PERIOD_US "20000"
#define LONG_PERIOD_NS (20 * MS)
#define STEPS 256

/* A step of the control, by its event. */
struct step {
	uint64_t at_ns, target, bandwidth, window;
};

/* The steps of one socket; *others says how many events belong to others. */
static size_t steps_of(const char *trace, uint64_t id, struct step *steps, unsigned int *others)
{
	struct event event;
	size_t count = 0;

	*others = 0;
	while (next_event(&trace, "lull_eanem_window", &event)) {
		if (field(&event, "id") != id) {
			++*others;
			continue;
		}
		if (count == STEPS)
			bail("there are more than %d steps", STEPS);
		steps[count++] = (struct step){
			.at_ns = event.at_ns,
			.target = field(&event, "target"),
			.bandwidth = field(&event, "bandwidth"),
			.window = field(&event, "window"),
		};
	}
	return count;
}

/* The largest window that the wire had between two moments; 0 if there was none. */
static uint32_t widest(const struct wire *wire, uint64_t from, uint64_t until)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < wire->segments && i < LOG; i++)
		if (wire->log[i].at_ns >= from && wire->log[i].at_ns < until &&
		    wire->log[i].window > most)
			most = wire->log[i].window;
	return most;
}

/* What the first segment after a moment acknowledges; 0 if there is none. */
static uint32_t acknowledged(const struct wire *wire, uint64_t at_ns)
{
	for (unsigned int i = 0; i < wire->segments && i < LOG; i++)
		if (wire->log[i].at_ns >= at_ns)
			return wire->log[i].ack;
	return 0;
}

/*
 * The bandwidth of a step is what came since the step before. A step is made when an ACK is about
 * to be sent, so both ends of that time are on the wire. After a step without a bandwidth, the time
 * begins later: when what was offered before is used up.
 */
static void bandwidth_is_on_the_wire(const struct wire *wire, const struct step *steps,
				     size_t count)
{
	unsigned int seen = 0, wrong = 0;

	for (size_t i = 1; i < count; i++) {
		/* Of the trace's microsecond, and of the two clocks. */
		const uint64_t slack = 2000;
		uint32_t from = acknowledged(wire, steps[i - 1].at_ns - slack);
		uint32_t until = acknowledged(wire, steps[i].at_ns - slack);
		double ns = (double)(steps[i].at_ns - steps[i - 1].at_ns), bandwidth;

		if (!steps[i].bandwidth || !steps[i - 1].bandwidth)
			continue;
		seen++;
		bandwidth = (double)(until - from) * 1e9 / ns;
		if (within((uint64_t)(bandwidth * 1000 / (double)steps[i].bandwidth), 990, 1010))
			continue;
		if (!wrong++)
			note("%llu in the trace, %.0f on the wire",
			     (unsigned long long)steps[i].bandwidth, bandwidth);
	}
	check((slow || seen >= 6) && !wrong, "so is its bandwidth: %u of %u", seen - wrong, seen);
}

/*
 * A step's window is what the wire has when the edge is next raised, a period later at most. There
 * it is a multiple of the scale's unit, and perhaps larger: what would make no whole segment is
 * added to the next window.
 */
static void window_is_on_the_wire(const struct wire *wire, const struct step *steps, size_t count)
{
	uint64_t unit = 1ULL << wire->edge.scale, window;
	unsigned int seen = 0, wrong = 0;
	uint32_t most;

	for (size_t i = 0; i + 1 < count; i++) {
		window = steps[i].window;
		most = widest(wire, steps[i].at_ns + 3 * LONG_PERIOD_NS / 2, steps[i + 1].at_ns);
		if (!most)
			continue;
		seen++;
		/* A slow program leaves less room in its buffer than the step allows. */
		if ((slow || most + unit > window) && most < window + MTU + unit)
			continue;
		if (!wrong++)
			note("%llu in the trace, %u on the wire", (unsigned long long)window, most);
	}
	check((slow || seen >= 6) && !wrong,
	      "its window is what the wire has then: %u of %u windows", seen - wrong, seen);
}

void test_steps(void)
{
	static const uint64_t targets[] = {1000000, 2000000, 500000};
	static struct step steps[STEPS];
	char period_us[32], *trace;
	uint64_t bytes, changed[3];
	struct lull_eanem_socket now = {0};
	unsigned int others;
	struct wire wire;
	size_t count, at = 0;
	pid_t child;
	int fd;

	must(read_text(EANEM_DIR "/period_us", period_us, sizeof(period_us)), "read a setting");
	put(EANEM_DIR "/period_us", LONG_PERIOD_US);
	trace_empty();
	trace_enable("lull_eanem_window", true);
	fd = watched_connection(&wire, &child);
	wire.log = calloc(LOG, sizeof(*wire.log));
	if (!wire.log)
		bail("no memory");
	for (size_t i = 0; i < 3; i++) {
		changed[i] = clock_ns();
		must(eanem_target_socket(&eanem, cookie(fd), targets[i]), "set a target");
		watch_for(&wire, fd, 800, &bytes);
	}
	end(child);
	find(&eanem, cookie(fd), &now);
	trace_enable("lull_eanem_window", false);
	wire_read(&wire);
	trace = read_all(TRACING "trace");
	count = steps_of(trace, cookie(fd), steps, &others);
	free(trace);
	check(count > 0 && count < STEPS && !others,
	      "%zu steps of the control are traced, all of this socket", count);
	for (size_t i = 0; i < 3; i++) {
		/* A step that was under way has the target before. */
		while (at < count &&
		       (steps[at].at_ns < changed[i] || (i && steps[at].target == targets[i - 1])))
			at++;
		check(at < count && steps[at].target == targets[i] &&
			      (slow || steps[at].at_ns < changed[i] + 200 * MS),
		      "a new target, %llu kB/s, is in the trace %llu us later",
		      (unsigned long long)targets[i] / 1000,
		      at < count ? (unsigned long long)(steps[at].at_ns - changed[i]) / 1000 : 0);
	}
	check(count > 0 && now.target == steps[count - 1].target &&
		      now.window == steps[count - 1].window,
	      "the last one is what netlink says: %llu", now.window);
	window_is_on_the_wire(&wire, steps, count);
	bandwidth_is_on_the_wire(&wire, steps, count);
	never_back(&wire, "windows of many segments");
	wire_close(&wire);
	close(fd);
	put(EANEM_DIR "/period_us", period_us);
}
