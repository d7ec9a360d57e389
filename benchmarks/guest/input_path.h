/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that go from the input core to a program that waits in read(). What goes wrong ends the
 * program with a sentence.
 */
#ifndef INPUT_PATH_H
#define INPUT_PATH_H

#include <stdint.h>
#include <sys/types.h>

/* The event timer's evdev file: blocking, for reading and writing. */
int input_open(void);
/* A child that reads so many events, and goes before the caller wherever both can run. */
pid_t input_start_reader(int fd, uint64_t count);
/* The numbers of events are 1, 2 and so on. */
void input_send(int fd, uint64_t serial);
void input_wait_for_reader(pid_t reader);

#endif
