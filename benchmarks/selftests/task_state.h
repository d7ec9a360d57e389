/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_TASK_STATE_H
#define LULL_TASK_STATE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "clock.h"
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

/* Returns when a task runs no more: it sleeps, or has ended. False if it runs on and on. */
__attribute__((unused)) static bool task_rests(pid_t task)
{
	for (int i = 0; i < 30000; i++) {
		if (task_state(task) != 'R')
			return true;
		clock_sleep(200000);
	}
	return false;
}

#endif
