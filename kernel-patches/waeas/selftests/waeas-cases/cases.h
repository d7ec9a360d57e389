/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the selftest waeas, in their order: `tracking` stays as the last one left it. */
#ifndef LULL_WAEAS_CASES_H
#define LULL_WAEAS_CASES_H

void test_files(void);
void test_group_file(void);
void test_own_file(void);
void test_placement(void);
void test_inherit(void);
void test_smoothing(void);
void test_change(void);
void test_queued(void);
void test_select(void);
void test_pack(void);
void test_pack_percent(void);
void test_pack_apart(void);
void test_inversion(void);
void test_allowed(void);
void test_associate(void);
void test_balance(void);
void test_frequency(void);
/* So many rounds of changes, and on until tasks were switched so often at least. */
void test_storm(int rounds, unsigned long least);

#endif
