/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gem5 pseudo-operations. Valid on gem5 only: on anything else the instruction is undefined.
 * Check machine_engine() first. Delays and periods are in simulated nanoseconds.
 */
#ifndef LULL_M5_H
#define LULL_M5_H

#include <stddef.h>
#include <stdint.h>

void m5_exit(uint64_t delay_ns);
void m5_fail(uint64_t delay_ns, uint64_t code);
void m5_checkpoint(uint64_t delay_ns, uint64_t period_ns);
void m5_reset_stats(uint64_t delay_ns, uint64_t period_ns);
void m5_dump_stats(uint64_t delay_ns, uint64_t period_ns);
void m5_dump_reset_stats(uint64_t delay_ns, uint64_t period_ns);
void m5_work_begin(uint64_t id, uint64_t thread);
void m5_work_end(uint64_t id, uint64_t thread);

/* Bytes of the host's script file from offset on; 0 at its end or when there is none. */
size_t m5_read_file(void *buffer, size_t length, uint64_t offset);

/*
 * Writes into a file in gem5's output directory. Offset 0 creates or truncates it. The names
 * stdout, stderr, cout and cerr mean gem5's own streams, which may not seek: write ./stdout.
 */
size_t m5_write_file(const void *buffer, size_t length, uint64_t offset, const char *name);

#endif
