// SPDX-License-Identifier: BSD-3-Clause
#include "windows.h"

#include <errno.h>
#include <stdio.h>

#include "jsonl.h"
#include "m5.h"
#include "machine.h"

void windows_order(const struct windows *times)
{
	if (machine_engine() != ENGINE_GEM5)
		return;
	for (uint64_t window = 0; window <= times->windows; window++)
		m5_dump_reset_stats((times->settle_us + window * times->window_us) * 1000, 0);
}

int windows_save(const char *path, const struct windows *times, uint64_t ordered)
{
	FILE *file = fopen(path, "w");
	struct jsonl line;

	if (!file)
		return -errno;
	for (uint64_t i = 0; i < times->windows; i++) {
		jsonl_begin(&line, file);
		jsonl_int(&line, "window", (int64_t)i);
		jsonl_int(&line, "ordered", (int64_t)ordered);
		jsonl_int(&line, "settle_us", (int64_t)(times->settle_us + i * times->window_us));
		jsonl_int(&line, "window_us", (int64_t)times->window_us);
		jsonl_end(&line);
	}
	return jsonl_finish(file);
}
