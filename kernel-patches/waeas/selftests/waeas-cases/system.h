/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the system "waeas", and those by which a group or a task is latency-sensitive. */
#ifndef LULL_WAEAS_SYSTEM_H
#define LULL_WAEAS_SYSTEM_H

#include <sys/types.h>

#define SYSTEM "/sys/kernel/lull/waeas/"
#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/lull-waeas"
#define SENSITIVE GROUP "/cpu.uclamp.latency_sensitive"

extern const char *const parts[5];
extern const char *const trackings[3];

/* A setting of the system: "pack". */
void set(const char *part, const char *value);
/* One part alone, or none. What tasks are placed by stays `tracking`. */
void only(const char *part);
/* A counter of `stats`. */
unsigned long stat_of(const char *word);
/* Writes /proc/PID/latency_sensitive. 0 or -errno. */
int own_file(pid_t pid, const char *value);

#endif
