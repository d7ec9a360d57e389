/* SPDX-License-Identifier: BSD-3-Clause */
/* A manager that is tested: its beginning, its end, and what it does meanwhile. */
#ifndef HEARTBEAT_CASES_DAEMON_H
#define HEARTBEAT_CASES_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sysfs.h"

/* Its socket, and the frequency of its little cluster. */
#define PLACE "/tmp/heartbeat-test.sock"
#define POLICY CPU_DIR "/cpu0/cpufreq/"
/* Milliseconds until what is waited for has happened, or never will. */
#define TRIES 2000

/* The one that manage() has begun. */
extern pid_t manager;

/* Of one of a CPU's files of cpuinfo: "min" or "max". */
unsigned int mhz_of(int cpu, const char *file);
/*
 * Two clusters of one CPU each, which every machine has room for: CPU 0 is little, and CPU 1 is
 * big. `rest`: more lines.
 */
void write_model(const char *rest);
/* The model and the log of the last manager. */
void forget_model(void);
/* Begins the manager, for the applications of these users: "root" or "all". */
void manage(const char *users);
/* The status of another manager, at another socket or the same, when it ends. */
int second_manager(const char *path);
/* The manager's status, or -1 if it was killed. */
int end_manager(int signal);
/* Whether the manager has written this in its log, or does so soon. */
bool is_said(const char *text);

/* A process that joins and beats as fast as it can, once it could join. */
pid_t application(uint64_t least, uint64_t most);
void end_application(pid_t child);

/* How many CPUs a process may use, and whether it is soon so many. */
int cpus_of(pid_t pid);
bool becomes(pid_t pid, int cpus);
/* Whether a limit of a frequency is soon so high. */
bool in_force(const char *file, unsigned int mhz);

#endif
