// SPDX-License-Identifier: BSD-3-Clause
/*
 * A watch: sensors interrupt, and three processes that wake each other handle each sample. The
 * first collects samples from the driver, the second filters and stores them, the third computes
 * what is shown, and shows it. Says when each sample came, and when it was shown.
 *
 * The sensor `transfer` is a large file on its way to a server, at the pace of a radio: the first
 * process reads a piece from the disk, the second computes its sum, the third sends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "counter.h"
#include "events.h"
#include "jsonl.h"
#include "options.h"
#include "placement.h"
#include "sysfs.h"
#include "windows.h"

#define MOST_SAMPLES 20000
#define STORE_BYTES (256 * 1024)
#define SAMPLE_BYTES 512
/* Sensors do not begin at the same time. */
#define APART_US 1700

#define DISK "/dev/lull-ssd"
/* Of the disk, which is read again from its start. */
#define DISK_BYTES (16 << 20)
#define PIECE (64 * 1024)
/* What fits into a frame of the radio. */
#define DATAGRAM 1400

static const char usage[] =
	"usage: wearable --way " PLACEMENT_WAYS "\n"
	"                --sensors gps|barometer|thermo|heart|all|transfer [--filter N] [--show N] "
	"[--settle-us N] [--window-us N] [--windows N]\n"
	"                [--kib-per-second N]\n"
	"                [--out FILE] [--totals FILE]\n"
	"  --filter, --show: steps of arithmetic for each sample; 400 are about a microsecond of a "
	"fast core\n";

static const char *way, *sensors = "all", *out = "/out/samples.jsonl",
			*totals = "/out/windows.jsonl";
static uint64_t filter_steps = 80000, show_steps = 200000, settle_us = 100000, window_us = 250000,
		windows = 8, kib_per_second = 5000;

static const struct option_to options[] = {
	{.name = "way", .text = &way},
	{.name = "sensors", .text = &sensors},
	{.name = "filter", .number = &filter_steps, .most = 100000000},
	{.name = "show", .number = &show_steps, .most = 100000000},
	{.name = "settle-us", .number = &settle_us, .least = 1, .most = 100000000},
	{.name = "window-us", .number = &window_us, .least = 20, .most = 100000000},
	{.name = "windows", .number = &windows, .least = 1, .most = 1000},
	{.name = "kib-per-second", .number = &kib_per_second, .least = 64, .most = 1000000},
	{.name = "out", .text = &out},
	{.name = "totals", .text = &totals},
	{0},
};

/* The paper's table 3. */
static const struct sensor {
	const char *name;
	unsigned int hz;
} kinds[] = {{"gps", 1}, {"barometer", 5}, {"thermo", 20}, {"heart", 40}};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct sample {
	uint64_t came_ns, shown_ns;
	int32_t sensor;
};

struct shared {
	_Atomic uint32_t shown;
	struct sample samples[MOST_SAMPLES];
};

static struct shared *shared;

static int fail(const char *what, int error)
{
	fprintf(stderr, "wearable: %s: %s\n", what, strerror(-error));
	return 1;
}

static uint64_t value = 88172645463325252;

static void spin(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
	}
}

static bool is_transfer(void)
{
	return !strcmp(sensors, "transfer");
}

static bool is_on(const struct sensor *sensor)
{
	return !strcmp(sensors, "all") || !strcmp(sensors, sensor->name);
}

/* What the event timer plays: a packet for each sample, whose value is the sensor. */
static int load(void)
{
	uint64_t length_us = settle_us + windows * window_us;
	char text[512];
	size_t used = 0;

	for (size_t i = 0; i < KINDS; i++) {
		uint64_t period_us = 1000000 / kinds[i].hz, first_us = (i + 1) * APART_US;

		if (!is_on(&kinds[i]) || first_us >= length_us)
			continue;
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "periodic %llu %llu %llu %d %d %d\n",
			(unsigned long long)first_us, (unsigned long long)period_us,
			(unsigned long long)((length_us - first_us) / period_us + 1), EV_REL, REL_X,
			(int)i + 1);
	}
	if (!used)
		return -EINVAL;
	snprintf(text + used, sizeof(text) - used, "end\n");
	return write_text(EVENTS_DIR "schedule", text);
}

static void pass_on(int to, const struct sample *sample)
{
	if (write(to, sample, sizeof(*sample)) != sizeof(*sample))
		exit(fail("passing a sample on", -errno));
}

static bool take(int from, struct sample *sample)
{
	return read(from, sample, sizeof(*sample)) == sizeof(*sample);
}

static void collect(struct events *events, int to)
{
	struct pollfd ready = {.fd = events->fd, .events = POLLIN};
	struct event event;
	int got;

	for (;;) {
		poll(&ready, 1, -1);
		while ((got = events_next(events, &event)) > 0)
			if (event.type == EV_REL)
				pass_on(to, &(struct sample){event.time_ns, 0, event.value});
		if (got < 0)
			exit(fail("reading samples", got));
	}
}

/* A piece of the file with what is known of it, as it goes from process to process. */
struct piece {
	struct sample sample;
	uint64_t sum;
	_Alignas(4096) uint64_t words[PIECE / 8];
};

static struct piece piece;

static void move(ssize_t (*how)(int, void *, size_t), int fd, void *data, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = how(fd, (char *)data + done, length - done);

		if (got <= 0)
			exit(fail("moving a piece", got ? -errno : -EPIPE));
		done += (size_t)got;
	}
}

static ssize_t put(int fd, void *data, size_t length)
{
	return write(fd, data, length);
}

static void read_file(int to)
{
	uint64_t period_ns = PIECE * 1000000ULL / 1024 * 1000 / kib_per_second;
	uint64_t next_ns = clock_ns() + APART_US * 1000, at = 0;
	int fd = open(DISK, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		exit(fail(DISK, -errno));
	for (;; next_ns += period_ns, at = (at + PIECE) % DISK_BYTES) {
		clock_sleep_until(next_ns);
		piece.sample = (struct sample){next_ns, 0, KINDS + 1};
		if (pread(fd, piece.words, PIECE, (off_t)at) != PIECE)
			exit(fail("reading the file", errno ? -errno : -EIO));
		move(put, to, &piece, sizeof(piece));
	}
}

static void sum_up(int from, int to)
{
	for (;;) {
		move(read, from, &piece, sizeof(piece));
		piece.sum = 14695981039346656037ULL;
		for (size_t i = 0; i < PIECE / 8; i++)
			piece.sum = (piece.sum ^ piece.words[i]) * 1099511628211ULL;
		move(put, to, &piece, sizeof(piece));
	}
}

/* To a port of the machine itself that nobody reads, in place of the radio. */
static int open_radio(struct sockaddr_in *radio)
{
	int sink = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd, least = 1;
	socklen_t length = sizeof(*radio);

	*radio = (struct sockaddr_in){.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (sink < 0 || bind(sink, (struct sockaddr *)radio, sizeof(*radio)) ||
	    getsockname(sink, (struct sockaddr *)radio, &length) ||
	    setsockopt(sink, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)))
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static void send_file(int from)
{
	struct sockaddr_in radio;
	int fd = open_radio(&radio);

	if (fd < 0)
		exit(fail("a socket", fd));
	for (;;) {
		uint32_t number = atomic_load(&shared->shown);

		move(read, from, &piece, sizeof(piece));
		for (size_t at = 0; at < PIECE; at += DATAGRAM) {
			size_t length = PIECE - at < DATAGRAM ? PIECE - at : DATAGRAM;

			if (sendto(fd, (char *)piece.words + at, length, 0,
				   (struct sockaddr *)&radio, sizeof(radio)) != (ssize_t)length)
				exit(fail("sending", -errno));
		}
		piece.sample.shown_ns = clock_ns();
		if (number < MOST_SAMPLES)
			shared->samples[number] = piece.sample;
		atomic_store(&shared->shown, number + 1);
	}
}

static void filter(int from, int to)
{
	static uint8_t store[STORE_BYTES];
	struct sample sample;
	size_t at = 0;

	while (take(from, &sample)) {
		spin(filter_steps);
		memset(store + at, (int)value, SAMPLE_BYTES);
		at = (at + SAMPLE_BYTES) % STORE_BYTES;
		pass_on(to, &sample);
	}
	exit(1);
}

static void show(int from)
{
	struct sample sample;

	while (take(from, &sample)) {
		uint32_t number = atomic_load(&shared->shown);

		spin(show_steps);
		sample.shown_ns = clock_ns();
		if (number < MOST_SAMPLES)
			shared->samples[number] = sample;
		atomic_store(&shared->shown, number + 1);
	}
	exit(1);
}

static int save(const struct windows *times, uint64_t start, uint64_t ordered)
{
	uint32_t count = atomic_load(&shared->shown);
	FILE *file = fopen(out, "w");
	struct jsonl line;
	int error;

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < count && i < MOST_SAMPLES; i++) {
		const struct sample *sample = &shared->samples[i];

		jsonl_begin(&line, file);
		jsonl_string(&line, "sensor",
			     is_transfer() ? sensors : kinds[sample->sensor - 1].name);
		jsonl_int(&line, "came_ns", (int64_t)(sample->came_ns - start));
		jsonl_int(&line, "shown_ns", (int64_t)(sample->shown_ns - start));
		jsonl_end(&line);
	}
	error = jsonl_finish(file);
	if (error)
		return error;

	return windows_save(totals, times, ordered);
}

static int run(pid_t pids[3])
{
	struct events events;
	int first[2], second[2], error = is_transfer() ? 0 : events_open(&events);

	if (error)
		return error;
	if (pipe(first) || pipe(second))
		return -errno;
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return -errno;
		if (pids[i])
			continue;
		if (i == 0)
			is_transfer() ? read_file(first[1]) : collect(&events, first[1]);
		else if (i == 1)
			is_transfer() ? sum_up(first[0], second[1]) : filter(first[0], second[1]);
		else
			is_transfer() ? send_file(second[0]) : show(second[0]);
	}
	/* Nobody waits for a piece of a file. */
	if (is_transfer())
		return 0;
	events_close(&events);
	/* The user waits for what is shown. */
	return placement_sensitive(pids[2]);
}

int main(int argc, char **argv)
{
	struct windows times;
	uint64_t start = 0, ordered = 0;
	pid_t pids[3] = {0};
	int error;

	(void)argc;
	options_parse(argv, options, usage);
	if (!way) {
		fputs(usage, stderr);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return fail("memory", -errno);
	error = placement_set(way);
	if (error)
		return fail(way, error);
	error = is_transfer() ? 0 : load();
	if (error)
		return fail(sensors, error);
	times = (struct windows){settle_us, window_us, windows};
	error = run(pids);
	if (!error) {
		ordered = counter_now();
		start = clock_ns();
		windows_order(&times);
		if (!is_transfer())
			error = write_text(EVENTS_DIR "enabled", "1");
	}
	if (!error)
		clock_sleep_until(start + (settle_us + windows * window_us) * 1000);
	for (int i = 0; i < 3; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	if (!is_transfer())
		write_text(EVENTS_DIR "enabled", "0");
	if (!error)
		error = save(&times, start, ordered);
	return error ? fail("the run", error) : 0;
}
