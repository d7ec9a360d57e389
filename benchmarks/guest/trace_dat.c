// SPDX-License-Identifier: BSD-3-Clause
#include "trace_dat.h"

#include <errno.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cpulist.h"

/* Of the file format; sections and the options that point to them have the same number. */
enum {
	OPTIONS = 0,
	CPU_STATISTICS = 2,
	BUFFER = 3,
	TRACE_CLOCK = 4,
	UNAME = 5,
	CPU_COUNT = 8,
	STRINGS = 15,
	HEADER_INFO = 16,
	FTRACE_FORMATS = 17,
	EVENT_FORMATS = 18,
	SYMBOLS = 19,
	PRINTK = 20,
	COMMAND_LINES = 21,
};

#define PAGE 4096
#define SECTION_HEADER 16

struct bytes {
	char *data;
	size_t length, room;
};

/* What is known when the trace begins: the file so far, its options so far, and two lengths. */
#define HEAD "/run/lull-trace"

static struct bytes options;
static int file;
static uint64_t written, place_of_offset;

static void append(struct bytes *to, const void *data, size_t length)
{
	if (to->length + length > to->room) {
		to->room = (to->length + length) * 2;
		to->data = realloc(to->data, to->room);
		if (!to->data)
			errx(1, "no memory for the trace's formats");
	}
	memcpy(to->data + to->length, data, length);
	to->length += length;
}

static void append_number(struct bytes *to, uint64_t number, size_t size)
{
	/* The machine and the file are both little-endian. */
	append(to, &number, size);
}

static void append_text(struct bytes *to, const char *text)
{
	append(to, text, strlen(text) + 1);
}

/* Preceded by its length in so many bytes, at most eight. */
static void append_file(struct bytes *to, const char *path, size_t size)
{
	char text[PAGE];
	size_t place = to->length;
	uint64_t length = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "cannot open %s", path);
	append_number(to, 0, size);
	while ((got = read(fd, text, sizeof(text))) > 0) {
		append(to, text, (size_t)got);
		length += (uint64_t)got;
	}
	if (got < 0)
		err(1, "cannot read %s", path);
	close(fd);
	memcpy(to->data + place, &length, size);
}

static void put(const void *data, size_t length)
{
	if (write(file, data, length) != (ssize_t)length)
		err(1, "cannot write the trace");
	written += length;
}

static void put_number_at(uint64_t place, uint64_t number)
{
	if (pwrite(file, &number, sizeof(number), (off_t)place) != sizeof(number))
		err(1, "cannot write the trace");
}

static void put_section(unsigned int kind, const struct bytes *content, uint64_t length)
{
	struct bytes header = {0};

	append_number(&header, kind, 2);
	append_number(&header, 0, 2);
	append_number(&header, 0, 4);
	append_number(&header, length, 8);
	put(header.data, header.length);
	if (content)
		put(content->data, content->length);
}

static void add_option(unsigned int kind, const struct bytes *content)
{
	append_number(&options, kind, 2);
	append_number(&options, content->length, 4);
	append(&options, content->data, content->length);
}

static void put_section_with_option(unsigned int kind, const struct bytes *content)
{
	struct bytes place = {0};

	append_number(&place, written, 8);
	add_option(kind, &place);
	put_section(kind, content, content->length);
}

static void put_start(void)
{
	static const char magic[] = "\x17\x08\x44tracing7";
	struct bytes start = {0};

	append_text(&start, magic);
	append_number(&start, 0, 1);
	append_number(&start, sizeof(long), 1);
	append_number(&start, PAGE, 4);
	append_text(&start, "none");
	append_text(&start, "");
	place_of_offset = start.length;
	append_number(&start, 0, 8);
	put(start.data, start.length);
}

static void put_header_info(void)
{
	struct bytes content = {0};

	append_text(&content, "header_page");
	append_file(&content, TRACING "/events/header_page", 8);
	append_text(&content, "header_event");
	append_file(&content, TRACING "/events/header_event", 8);
	put_section_with_option(HEADER_INFO, &content);
}

/* Each event as if it were alone in its system, so that none has to be found again. */
static void put_formats(void)
{
	struct bytes own = {0}, events = {0}, content = {0};
	char line[256], path[512];
	uint32_t count = 0;
	FILE *on;

	append_number(&own, 1, 4);
	append_file(&own, TRACING "/events/ftrace/print/format", 8);
	put_section_with_option(FTRACE_FORMATS, &own);

	on = fopen(TRACING "/set_event", "re");
	if (!on)
		err(1, "cannot open " TRACING "/set_event");
	while (fgets(line, sizeof(line), on)) {
		char *event = strchr(line, ':');

		if (!event)
			continue;
		*event++ = '\0';
		event[strcspn(event, "\n")] = '\0';
		append_text(&events, line);
		append_number(&events, 1, 4);
		snprintf(path, sizeof(path), TRACING "/events/%s/%s/format", line, event);
		append_file(&events, path, 8);
		count++;
	}
	fclose(on);
	append_number(&content, count, 4);
	append(&content, events.data, events.length);
	put_section_with_option(EVENT_FORMATS, &content);
}

/*
 * Readers of the file take both for granted. The kernel's symbols are left out: to print them
 * would take the guest millions of instructions, and no event here is an address.
 */
static void put_empty_sections(void)
{
	struct bytes no_symbols = {0}, no_descriptions = {0};

	append_number(&no_symbols, 0, 4);
	put_section_with_option(SYMBOLS, &no_symbols);
	append_text(&no_descriptions, "");
	put_section(STRINGS, &no_descriptions, no_descriptions.length);
}

static void put_texts(void)
{
	struct bytes strings = {0}, clock = {0}, uname_option = {0};
	struct utsname name;
	char text[sizeof(name) + 4];

	append_file(&strings, TRACING "/printk_formats", 4);
	put_section_with_option(PRINTK, &strings);

	append_file(&clock, TRACING "/trace_clock", 0);
	append_number(&clock, 0, 1);
	add_option(TRACE_CLOCK, &clock);
	uname(&name);
	snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.nodename, name.release,
		 name.machine);
	append_text(&uname_option, text);
	add_option(UNAME, &uname_option);
}

static void put_tasks(void)
{
	struct bytes tasks = {0};

	append_file(&tasks, TRACING "/saved_cmdlines", 8);
	put_section_with_option(COMMAND_LINES, &tasks);
}

/* The number of bytes, all whole pages. */
static uint64_t put_pages(int cpu)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	char path[128];
	uint64_t before = written;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), TRACING "/per_cpu/cpu%d/trace_pipe_raw", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		err(1, "cannot open %s", path);
	while ((got = read(fd, page, sizeof(page))) > 0) {
		memset(page + got, 0, sizeof(page) - (size_t)got);
		put(page, sizeof(page));
	}
	if (got < 0 && errno != EAGAIN)
		err(1, "cannot read %s", path);
	close(fd);
	return written - before;
}

static void put_buffer(const struct cpulist *cpus)
{
	struct bytes option = {0}, count = {0};
	uint64_t section = written, length;
	static const char padding[PAGE];

	append_number(&option, section, 8);
	append_text(&option, "");
	append_text(&option, "local");
	append_number(&option, PAGE, 4);
	append_number(&option, (uint64_t)cpus->count, 4);
	append_number(&count, (uint64_t)cpus->count, 4);
	put_section(BUFFER, NULL, 0);
	put(padding, -written % PAGE);
	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		uint64_t place = written;

		if (!cpus->has[cpu])
			continue;
		append_number(&option, (uint64_t)cpu, 4);
		append_number(&option, place, 8);
		append_number(&option, put_pages(cpu), 8);
	}
	length = written - section - SECTION_HEADER;
	put_number_at(section + SECTION_HEADER - sizeof(length), length);
	add_option(CPU_COUNT, &count);
	add_option(BUFFER, &option);
}

/* After the pages were taken, when all events count as read. */
static void add_statistics(const struct cpulist *cpus)
{
	char path[128];

	for (int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		struct bytes text = {0};

		if (!cpus->has[cpu])
			continue;
		snprintf(path, sizeof(path), "CPU: %d\n", cpu);
		append(&text, path, strlen(path));
		snprintf(path, sizeof(path), TRACING "/per_cpu/cpu%d/stats", cpu);
		append_file(&text, path, 0);
		append_number(&text, 0, 1);
		add_option(CPU_STATISTICS, &text);
	}
}

static void put_options(void)
{
	uint64_t offset = written;
	struct bytes none = {0};

	append_number(&none, 0, 8);
	add_option(OPTIONS, &none);
	put_section(OPTIONS, &options, options.length);
	put_number_at(place_of_offset, offset);
}

static void create(const char *path)
{
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file < 0)
		err(1, "cannot write %s", path);
}

static void finish(const char *path)
{
	if (close(file))
		err(1, "cannot write %s", path);
}

void trace_dat_begin(void)
{
	struct bytes lengths = {0};

	create(HEAD);
	put_start();
	put_header_info();
	put_formats();
	put_empty_sections();
	put_texts();
	append_number(&lengths, options.length, 8);
	append_number(&lengths, place_of_offset, 8);
	put(options.data, options.length);
	put(lengths.data, lengths.length);
	finish(HEAD);
}

static void put_head(void)
{
	struct bytes head = {0};
	uint64_t lengths[2];

	append_file(&head, HEAD, 0);
	if (head.length < sizeof(lengths))
		errx(1, HEAD " is cut off");
	head.length -= sizeof(lengths);
	memcpy(lengths, head.data + head.length, sizeof(lengths));
	if (head.length < lengths[0])
		errx(1, HEAD " is cut off");
	head.length -= lengths[0];
	append(&options, head.data + head.length, lengths[0]);
	place_of_offset = lengths[1];
	put(head.data, head.length);
}

void trace_dat_write(const char *path)
{
	struct cpulist cpus;
	int error = cpulist_read(&cpus, "possible");

	if (error)
		errx(1, "cannot list the CPUs: %s", strerror(-error));
	create(path);
	put_head();
	put_tasks();
	put_buffer(&cpus);
	add_statistics(&cpus);
	put_options();
	finish(path);
}
