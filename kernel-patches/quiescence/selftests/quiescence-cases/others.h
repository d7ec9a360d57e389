/* SPDX-License-Identifier: BSD-3-Clause */
/* The others, who are held while the path waits. */
#ifndef QUIESCENCE_CASES_OTHERS_H
#define QUIESCENCE_CASES_OTHERS_H

#include <stdint.h>
#include <sys/types.h>

#include "shared.h"

extern pid_t others[OTHERS];

void start_other(enum other which);
/* Returns when one of the others runs on. Ends the selftest if nobody lets it go any more. */
void must_go_on(enum other which);
/* How often one of the others ran from one moment to another. */
unsigned int ran(enum other which, uint64_t from, uint64_t to);
/* While the wait of the last action was on, from when all others had to be held. */
unsigned int ran_in_wait(enum other which);

#endif
