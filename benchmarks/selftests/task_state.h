/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_TASK_STATE_H
#define LULL_TASK_STATE_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "sysfs.h"

/* The letter of /proc/TID/stat; 0 if there is no such task. */
__attribute__((unused)) static char task_state(pid_t task)
{
	char path[64], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	if (read_text(path, text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

#endif
