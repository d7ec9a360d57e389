/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libesm: input by the Event Stream Model. A program says which function handles which event of
 * which device, and waits; the kernel brings the events in the order in which they came. esm.3
 * tells the whole of it.
 *
 * All here is the calling thread's own: what it registered, its events, and its wish to stop. What
 * can fail returns -1 and leaves the reason in errno.
 */
#ifndef LULL_ESM_H
#define LULL_ESM_H

#include <linux/time_types.h>
#include <stddef.h>
#include <stdint.h>

#include "esm_abi.h"

typedef void (*esm_handler)(const struct esm_event *event);

/*
 * From now on the handler gets these events of the evdev device that is open for reading as fd;
 * type and code as in <linux/input-event-codes.h>, or ESM_ANY. NULL takes a registration away;
 * events that came before still reach their handler.
 */
int esm_register(int fd, unsigned int type, unsigned int code, esm_handler handler);

/*
 * Calls this for each gap that a full queue left: so many events, event->value, are missing here.
 * NULL, as at first, for nothing.
 */
void esm_on_overflow(esm_handler handler);

/*
 * Waits for events, and calls their handlers, one after the other, until one calls esm_stop(): 0.
 * A signal whose handler returns without SA_RESTART ends it with EINTR; nothing is lost then, and
 * it may be called again.
 */
int esm_run(void);

/* As esm_run(), but comes back once it has called at least one handler: 0. */
int esm_run_once(void);

/* As esm_run(), but does not wait: it comes back when no event is left: 0. */
int esm_run_ready(void);

/*
 * A file for poll() and epoll: readable while the kernel has events for this thread, hung up once
 * the thread has no registration left. Call esm_run_ready() then. It is closed on exec.
 */
int esm_fd(void);

/*
 * esm_run() comes back when the handler that calls this does. Events that are there already wait
 * for the next esm_run(). In a signal handler it counts from the next look at it on, and esm_run()
 * may have begun to wait.
 */
void esm_stop(void);

/* The system calls as they are, for programs with loops of their own. */
long esm_sys_register(const struct esm_registration *what, size_t size, unsigned int flags);
/* How many events there are now in `events`. */
long esm_sys_wait(struct esm_event *events, size_t event_size, unsigned int count,
		  unsigned int flags, const struct __kernel_timespec *until);

#endif
