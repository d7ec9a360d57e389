/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that stays on one CPU. Both return 0 or -errno. */
#ifndef LULL_PIN_H
#define LULL_PIN_H

#include <pthread.h>

/* The caller, from now on. */
int pin_to_cpu(int cpu);
/* A new thread, from its first instruction on. */
int start_on_cpu(pthread_t *thread, int cpu, void *(*run)(void *), void *argument);

#endif
