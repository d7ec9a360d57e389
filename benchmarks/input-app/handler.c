// SPDX-License-Identifier: BSD-3-Clause
#include "handler.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "jsonl.h"

#define LINE_BYTES 64

struct record {
	uint64_t hardware_ns, handler_ns;
	uint32_t hardware_count, handler_count, serial;
	uint16_t type;
};

static struct record *records;
static unsigned int room, handled;
static uint64_t steps, memory_bytes;
static volatile uint8_t *memory;
static int wall_clock;

static void *pages(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
}

int handler_prepare(unsigned int events, uint64_t work, uint64_t work_kib)
{
	room = events;
	steps = work;
	memory_bytes = work_kib * 1024;
	records = pages((room + 1) * sizeof(*records));
	memory = pages(memory_bytes + 1);
	if (records == MAP_FAILED || memory == MAP_FAILED)
		return -errno;
	wall_clock = open("/dev/lull-clock", O_RDONLY | O_CLOEXEC);
	return wall_clock < 0 ? -errno : 0;
}

static uint64_t value = 88172645463325252;

void spin(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
	}
}

/* Arithmetic in registers, then a pass over memory, as drawing a key or moving a pointer is. */
static void work(void)
{
	spin(steps);
	for (uint64_t at = 0; at < memory_bytes; at += LINE_BYTES)
		memory[at] = (uint8_t)(memory[at] + value);
}

void handle(uint64_t hardware_ns, uint32_t hardware_count, uint32_t serial, uint16_t type)
{
	uint64_t now = clock_ns(), count = 0;

	if (read(wall_clock, &count, sizeof(count)) < 0)
		count = 0;
	if (handled < room)
		records[handled] = (struct record){
			.hardware_ns = hardware_ns,
			.handler_ns = now,
			.hardware_count = hardware_count,
			.handler_count = (uint32_t)count,
			.serial = serial,
			.type = type,
		};
	handled++;
	work();
}

unsigned int handler_count(void)
{
	return handled;
}

void handler_print(FILE *out)
{
	unsigned int recorded = handled < room ? handled : room;

	for (const struct record *record = records; record < records + recorded; record++) {
		struct jsonl line;

		jsonl_begin(&line, out);
		jsonl_int(&line, "serial", record->serial);
		jsonl_int(&line, "type", record->type);
		jsonl_int(&line, "hardware_ns", (int64_t)record->hardware_ns);
		jsonl_int(&line, "handler_ns", (int64_t)record->handler_ns);
		if (record->hardware_count)
			jsonl_int(&line, "hardware_count", record->hardware_count);
		else
			jsonl_null(&line, "hardware_count");
		jsonl_int(&line, "handler_count", record->handler_count);
		jsonl_end(&line);
	}
}
