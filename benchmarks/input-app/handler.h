/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application does with an event, the same however it came; and the record of it. */
#ifndef INPUT_APP_HANDLER_H
#define INPUT_APP_HANDLER_H

#include <stdint.h>
#include <stdio.h>

/* Room for so many records, and how much work each event is. 0 or -errno. */
int handler_prepare(unsigned int events, uint64_t work, uint64_t work_kib);

/* Arithmetic in registers: 400 steps take 1 us at 2116.5 MHz. */
void spin(uint64_t steps);

/*
 * Notes when it begins, by CLOCK_MONOTONIC and by the wall clock, and works. `hardware_ns` and
 * `hardware_count` are the same clocks when the hardware raised the event; the latter may be 0,
 * not known. `serial` grows.
 */
void handle(uint64_t hardware_ns, uint32_t hardware_count, uint32_t serial, uint16_t type);

/* Events handled so far; those beyond the room are counted, not recorded. */
unsigned int handler_count(void);

/* One JSON line for each event. */
void handler_print(FILE *out);

#endif
