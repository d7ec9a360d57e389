// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plays a schedule of events, reads them as a program that waits for a user would, and says in
 * JSON what came and how long it took. Latency is from the hardware's event to this program.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "jsonl.h"
#include "sysfs.h"

struct received {
	struct event event;
	uint64_t latency_ns;
};

static struct received *all;
static unsigned int planned, received, lost_order;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	fputs("lull-events: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

static void get(const char *file, char *text, size_t size)
{
	char path[128];
	int error;

	snprintf(path, sizeof(path), EVENTS_DIR "%s", file);
	error = read_text(path, text, size);
	if (error)
		fail("cannot read %s: %s", path, strerror(-error));
}

static unsigned int get_number(const char *file)
{
	char text[32];

	get(file, text, sizeof(text));
	return (unsigned int)strtoul(text, NULL, 10);
}

/* sysfs takes a page at a time, and the last piece of a schedule decides. */
static void load(const char *name)
{
	int from = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	int to = open(EVENTS_DIR "schedule", O_WRONLY | O_CLOEXEC);
	char piece[4096], why[128];

	if (from < 0)
		fail("cannot open %s: %s", name, strerror(errno));
	if (to < 0)
		fail("cannot open " EVENTS_DIR "schedule: %s", strerror(errno));
	for (;;) {
		ssize_t size = read(from, piece, sizeof(piece));

		if (size < 0)
			fail("cannot read %s: %s", name, strerror(errno));
		if (size == 0)
			break;
		for (ssize_t at = 0; at < size;) {
			ssize_t done = write(to, piece + at, (size_t)(size - at));

			if (done < 0 && errno == EBUSY)
				fail("a schedule is played already; echo 0 >" EVENTS_DIR "enabled");
			if (done < 0 && errno == EINVAL) {
				get("error", why, sizeof(why));
				fail("%s: refused: %s", name, why);
			}
			if (done < 0)
				fail("cannot load %s: %s", name, strerror(errno));
			at += done;
		}
	}
	close(to);
	if (from != STDIN_FILENO)
		close(from);
	get("state", why, sizeof(why));
	if (strcmp(why, "ready") != 0)
		fail("%s: it has no line that says end", name);
}

static void switch_to(const char *value)
{
	int error = write_text(EVENTS_DIR "enabled", value);

	if (error)
		fail("cannot write %s to " EVENTS_DIR "enabled: %s", value, strerror(-error));
}

static void take_all(struct events *events)
{
	struct event event;
	int got;

	while ((got = events_next(events, &event)) > 0) {
		uint64_t now = clock_ns();

		if (event.serial == 0)
			continue;
		if (received == planned)
			fail("more events than the schedule has");
		if (received && event.serial <= all[received - 1].event.serial)
			lost_order++;
		all[received].event = event;
		all[received++].latency_ns = now - event.time_ns;
	}
	if (got < 0)
		fail("cannot read events: %s", strerror(-got));
}

/* Sleeps until an event comes, or until nothing more will come. */
static void receive(struct events *events)
{
	struct pollfd waits[] = {
		{.fd = events->fd, .events = POLLIN},
		{.fd = open(EVENTS_DIR "state", O_RDONLY | O_CLOEXEC), .events = POLLPRI},
	};
	char state[32];

	if (waits[1].fd < 0)
		fail("cannot open " EVENTS_DIR "state: %s", strerror(errno));
	do {
		ssize_t size = pread(waits[1].fd, state, sizeof(state) - 1, 0);

		if (size < 0)
			fail("cannot read " EVENTS_DIR "state: %s", strerror(errno));
		state[size] = '\0';
		/* In this order: once it does not play, all events are there. */
		take_all(events);
		if (strcmp(state, "playing\n") == 0 && received < planned)
			while (poll(waits, 2, -1) < 0 && errno == EINTR)
				;
	} while (strcmp(state, "playing\n") == 0);
	close(waits[1].fd);
}

static void print_events(void)
{
	for (unsigned int i = 0; i < received; i++) {
		struct jsonl line;

		jsonl_begin(&line, stdout);
		jsonl_int(&line, "serial", all[i].event.serial);
		jsonl_int(&line, "time_ns", (int64_t)all[i].event.time_ns);
		jsonl_int(&line, "count", all[i].event.count);
		jsonl_int(&line, "type", all[i].event.type);
		jsonl_int(&line, "code", all[i].event.code);
		jsonl_int(&line, "value", all[i].event.value);
		jsonl_int(&line, "latency_ns", (int64_t)all[i].latency_ns);
		jsonl_end(&line);
	}
}

static int shorter(const void *a, const void *b)
{
	const struct received *first = a, *second = b;

	return (first->latency_ns > second->latency_ns) - (first->latency_ns < second->latency_ns);
}

static void print_summary(const struct events *events)
{
	struct jsonl line;
	double sum = 0;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "events", planned);
	jsonl_int(&line, "played", get_number("played"));
	jsonl_int(&line, "received", received);
	jsonl_int(&line, "out_of_order", lost_order);
	jsonl_int(&line, "late", get_number("late"));
	jsonl_int(&line, "overflows", events->overflows);
	if (!received) {
		jsonl_null(&line, "latency_ns");
		jsonl_end(&line);
		return;
	}
	qsort(all, received, sizeof(*all), shorter);
	for (unsigned int i = 0; i < received; i++)
		sum += (double)all[i].latency_ns;
	jsonl_object(&line, "latency_ns");
	jsonl_int(&line, "min", (int64_t)all[0].latency_ns);
	jsonl_real(&line, "mean", sum / received);
	jsonl_int(&line, "p50", (int64_t)all[(received - 1) / 2].latency_ns);
	jsonl_int(&line, "p99", (int64_t)all[(received * 99ull + 99) / 100 - 1].latency_ns);
	jsonl_int(&line, "max", (int64_t)all[received - 1].latency_ns);
	jsonl_close(&line);
	jsonl_end(&line);
}

int main(int argc, char **argv)
{
	struct events events;
	bool each = argc > 1 && strcmp(argv[1], "-e") == 0;
	int error;

	if (argc != 2 + each) {
		fputs("usage: lull-events [-e] FILE\n"
		      "Plays the schedule FILE (- is standard input) and prints a summary;\n"
		      "-e prints each event before.\n",
		      stderr);
		return 2;
	}
	if (access(EVENTS_DIR, F_OK))
		fail("this machine has no event timer");
	load(argv[1 + each]);
	planned = get_number("count");
	all = calloc(planned, sizeof(*all));
	if (!all)
		fail("no memory for %u events", planned);
	error = events_open(&events);
	if (error)
		fail("cannot open the input device lull-event: %s", strerror(-error));

	switch_to("1");
	receive(&events);
	switch_to("0");

	if (each)
		print_events();
	print_summary(&events);
	return fflush(stdout) || ferror(stdout);
}
