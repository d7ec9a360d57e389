// SPDX-License-Identifier: BSD-3-Clause
#include "machine.h"

#include <stdio.h>
#include <string.h>

#include "sysfs.h"

#define LULL_NODE "/proc/device-tree/lull/"

void machine_property(const char *property, char *value, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), LULL_NODE "%s", property);
	read_text(path, value, size);
}

enum engine machine_engine(void)
{
	char name[16];

	machine_property("engine", name, sizeof(name));
	if (strcmp(name, "gem5") == 0)
		return ENGINE_GEM5;
	if (strcmp(name, "qemu") == 0)
		return ENGINE_QEMU;
	return ENGINE_UNKNOWN;
}

enum part machine_part(void)
{
	char name[16];

	machine_property("network", name, sizeof(name));
	if (strcmp(name, "machine") == 0)
		return PART_MACHINE;
	return strcmp(name, "peer") == 0 ? PART_PEER : PART_ALONE;
}

const char *engine_name(enum engine engine)
{
	static const char *const names[] = {
		[ENGINE_UNKNOWN] = "unknown",
		[ENGINE_GEM5] = "gem5",
		[ENGINE_QEMU] = "qemu",
	};

	return names[engine];
}
