/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's log: a JSON line for each decision, with its reason. */
#ifndef EANEM_TELL_H
#define EANEM_TELL_H

#include <stdio.h>

#include "manager.h"

void tell_first(FILE *out, const char *why, const struct manager *manager,
		const struct traffic *traffic);
void tell_second(FILE *out, const char *why, const struct manager *manager);

#endif
