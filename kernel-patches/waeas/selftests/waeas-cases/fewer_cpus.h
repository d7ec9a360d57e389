/* SPDX-License-Identifier: BSD-3-Clause */
/* CPUs that a task may not use: those outside its cpuset, and those that are offline or out. */
#ifndef LULL_WAEAS_FEWER_CPUS_H
#define LULL_WAEAS_FEWER_CPUS_H

/* A control group whose tasks may run on these CPUs only. */
void make_fewer(int first, int last);
void drop_fewer(void);
/* The caller goes there, and to the root again. */
void in_fewer(void);
void leaves_fewer(void);

/*
 * Runs a test while @cpu is offline, and again while it is out. @out, written to @file, takes the
 * CPU away, and @in brings it back. @what is what the CPU is meanwhile.
 */
void test_offline_and_out(int cpu, void (*test)(const char *file, const char *out, const char *in,
						const char *what));

#endif
