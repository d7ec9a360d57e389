/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the selftest pseudo, by file. Each begins and ends with the system turned on and no
 * CPU out, and with this program on CPU 0.
 */
#ifndef PSEUDO_CASES_CASES_H
#define PSEUDO_CASES_CASES_H

/* Run so, this program returns the CPU where it is. */
#define WHERE "--where"

/* switch.c */
void test_off(void);
void test_switch(void);

/* files.c */
void test_files(void);
void test_bad_text(void);
void test_last(void);
void test_permission(void);

/* tasks.c */
void test_running(void);
void test_waking(void);
void test_bound(void);
void test_balancing(void);
void test_realtime(void);

/* timers.c */
void test_timers(void);

/* interrupts.c */
void test_interrupts(void);

/* offline.c */
void test_hotplug(void);
void test_suspend(void);

/* cpusets.c */
void test_cpuset(void);

/* poll.c */
void test_poll(void);

/* idle.c */
void test_idle(void);
void test_wakes(void);

/* stress.c */
void test_stress(int toggles);

#endif
