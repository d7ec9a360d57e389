/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of phases: "RATE:TARGET,…", in kbit/s. */
#ifndef EANEM_PHASES_H
#define EANEM_PHASES_H

#include <stdint.h>

#define PHASES_MOST 64

struct phase {
	/* What the peer sends; 0 is as fast as it goes. */
	uint64_t rate_kbit_s;
	/* What the kernel holds the connection to; 0 is nothing. */
	uint64_t target_kbit_s;
};

/* How many there are, or -EINVAL. */
int phases_parse(const char *text, struct phase phases[PHASES_MOST]);

#endif
