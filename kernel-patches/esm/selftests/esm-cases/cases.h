/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the selftest esm. Each runs in a process of its own, which is the foreground, is
 * no application yet, and whose end takes back whatever it did.
 */
#ifndef ESM_CASES_CASES_H
#define ESM_CASES_CASES_H

#include <stdint.h>

/* How long the long cases are. */
struct amount {
	uint64_t events, calls, seed;
};

extern struct amount amount;

void case_registering(void);
void case_refused_registrations(void);
void case_waiting(void);
void case_refused_waits(void);
void case_signals(void);
void case_timeouts(void);
void case_polling(void);
void case_queue(void);
void case_foreground(void);
void case_lifecycle(void);
void case_devices(void);
void case_evdev(void);
void case_grabs(void);
void case_switch(void);
void case_security(void);
void case_limits(void);
void case_memory(void);
void case_names(void);
void case_independence(void);
void case_calls_at_random(void);
void case_trace(void);
void case_interrupt(void);
void case_stress(void);

#endif
