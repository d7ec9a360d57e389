/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that the user presses, for each of which the consumer does something. */
#ifndef QUIESCENCE_CASES_ACTIONS_H
#define QUIESCENCE_CASES_ACTIONS_H

#include <stdbool.h>

#include "shared.h"

void press(enum act act);
/* The same, and returns when others are held for the consumer, or should have been. */
bool press_and_hold(enum act act);
/* Returns when the consumer has done it, and waits for the next key. */
void finish(void);
/* Both. */
void do_all(enum act act);

#endif
