/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sockets receive, and what is to be done about it: the kernel's family of eanem_abi.h, over
 * generic netlink. All return 0 or -errno. What was steered comes back when the handle is closed.
 */
#ifndef LULL_EANEM_H
#define LULL_EANEM_H

#include <stddef.h>
#include <stdint.h>

#include "eanem_abi.h"

#define EANEM_DIR "/sys/kernel/lull/eanem"

struct eanem {
	int fd;
	uint16_t family;
	uint32_t sequence;
};

int eanem_open(struct eanem *eanem);
void eanem_close(struct eanem *eanem);

/* At most *count records, in the kernel's order; *count is how many were kept. */
int eanem_sockets(struct eanem *eanem, struct lull_eanem_socket *sockets, size_t *count);
/*
 * All that received something in the last interval, however many there are, and perhaps others. The
 * function asks the kernel nothing meanwhile.
 */
typedef void (*eanem_each)(const struct lull_eanem_socket *socket, void *with);
int eanem_each_busy(struct eanem *eanem, eanem_each each, void *with);
int eanem_cpus(struct eanem *eanem, struct lull_eanem_cpu *cpus, size_t *count);

/* In bytes/s of payload; 0 for none. */
int eanem_target_socket(struct eanem *eanem, uint64_t id, uint64_t target);
int eanem_target_process(struct eanem *eanem, uint32_t pid, uint64_t target);

/* `cpus` is a list as "0-1,4", or "" to bring everything back. khz 0: the governor chooses. */
int eanem_steer(struct eanem *eanem, const char *cpus, uint32_t khz, const uint32_t *threads,
		size_t count);

#endif
