/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the selftest heartbeat, by file. All find the system on, and no manager. */
#ifndef HEARTBEAT_CASES_CASES_H
#define HEARTBEAT_CASES_CASES_H

/* joining.c */
void test_alone(void);
void test_users(void);
void test_nonsense(void);

/* managing.c */
void test_managed(void);
void test_puts_back(void);
void test_files(void);
void test_two_managers(void);

/* traffic.c */
void test_traffic(void);
void test_offline_core(void);

#endif
