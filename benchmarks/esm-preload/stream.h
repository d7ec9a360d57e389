/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An evdev file whose events a thread receives by the Event Stream Model, and puts into a pipe as
 * evdev would have them read.
 */
#ifndef ESM_PRELOAD_STREAM_H
#define ESM_PRELOAD_STREAM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/types.h>

struct stream {
	/* The evdev file, and the pipe's end for writing. */
	int device, pipe;
	/* Of the times in events, as EVIOCSCLOCKID has it. */
	_Atomic clockid_t clock;
	/* Threads are the process's that made them: a child has the memory, and no thread. */
	pid_t owner;
	/* private: */
	pthread_t thread;
	sem_t ready;
	int error;
};

/* Takes both descriptors over. NULL, with errno, if the events cannot be had this way. */
struct stream *stream_start(int device, int pipe);
/* And closes both. */
void stream_end(struct stream *stream);

#endif
