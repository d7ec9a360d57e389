/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the system "esm", and what /proc says of a task that waits for events. */
#ifndef ESM_CASES_SYSTEM_H
#define ESM_CASES_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ESM_DIR "/sys/kernel/lull/esm/"
#define ESM_DEBUG_DIR "/sys/kernel/debug/lull/esm/"

/* Both give 0 or -errno. */
int system_read(const char *file, char *text, size_t size);
int system_write(const char *file, const char *text);
/* Or the case ends. */
void system_set(const char *file, const char *text);

/* A child that dies with the case, which ends if there is none. */
pid_t fork_child(void);
void kill_and_reap(pid_t child);
/* In a child that has made a namespace, CLONE_NEW...; noted where the kernel has none such. */
void check_in_namespace(int kind, const char *name, bool (*right)(void), const char *text);

int foreground_write(const pid_t *pids, size_t count);
/* These and nobody else are in the foreground, or the case ends. */
void foreground_set(const pid_t *pids, size_t count);
#define foreground(...)                              \
	foreground_set((const pid_t[]){__VA_ARGS__}, \
		       sizeof((const pid_t[]){__VA_ARGS__}) / sizeof(pid_t))
void foreground_nobody(void);

/* A counter of the statistics; the case ends if it is not there. */
uint64_t statistic(const char *name);
/* The number of the source of that name, 0 if there is none. */
uint32_t source_number(const char *name);
/* How many packets came from it. The case ends if it is not there. */
uint64_t source_packets(const char *name);
/* Whether a task is an application, with anything to it. */
bool is_application(pid_t task);

/* False if it is another for so long that it will not become this one. */
bool await_state(pid_t task, char state);
/* How often a task gave up its CPU because it had to wait. */
uint64_t task_waits(pid_t task);
/* The same of a task that waits, once it really sleeps; and that nothing woke it since then. */
uint64_t asleep(pid_t task);
bool slept_on(pid_t task, uint64_t waits);
/* A line of /proc/TID/status: "State". */
void task_status(pid_t task, const char *key, char *value, size_t size);

#define EV_WAIT 'E'

#endif
