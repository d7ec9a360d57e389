/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the selftest eanem_wire, by file. All but test_edge() need a system that is on. */
#ifndef EANEM_WIRE_CASES_CASES_H
#define EANEM_WIRE_CASES_CASES_H

/* made_up.c */
void test_edge(void);

/* windows.c */
void test_taken_back(void);
void test_targets(void);
void test_syn(void);
void test_scale(const char *setting, const char *value, unsigned int scale);
void test_full_buffer(void);
void test_loss(void);

/* steps.c, between trace_begin() and trace_end() */
void test_steps(void);

/* events.c, too */
void test_socket_events(void);
void test_cpu_events(void);
void test_no_events(void);

/* files.c */
void test_files(void);
void test_long_file(void);
void test_files_off(void);

#endif
