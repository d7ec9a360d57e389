// SPDX-License-Identifier: BSD-3-Clause
#include "esm.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/* So many are fetched at a time. */
#define BATCH 32

/* What the kernel has delivered, and no handler has got yet. */
static __thread struct {
	struct esm_event events[BATCH];
	unsigned int at, used;
	/* Whose they are: a child has its parent's memory, and not its events. */
	pid_t owner;
} fetched;

static __thread volatile sig_atomic_t stopped;
static __thread esm_handler overflow_handler;

long esm_sys_register(const struct esm_registration *what, size_t size, unsigned int flags)
{
	return syscall(ESM_NR_REGISTER, what, size, flags);
}

long esm_sys_wait(struct esm_event *events, size_t event_size, unsigned int count,
		  unsigned int flags, const struct __kernel_timespec *until)
{
	return syscall(ESM_NR_WAIT, events, event_size, count, flags, until);
}

int esm_fd(void)
{
	return (int)syscall(ESM_NR_FD, 0);
}

int esm_register(int fd, unsigned int type, unsigned int code, esm_handler handler)
{
	const struct esm_registration what = {
		.handler = (uintptr_t)handler,
		.fd = fd,
		.type = (uint16_t)type,
		.code = (uint16_t)code,
	};

	if (type > ESM_ANY || code > ESM_ANY || fd < 0) {
		errno = fd < 0 ? EBADF : EINVAL;
		return -1;
	}
	return (int)esm_sys_register(&what, sizeof(what), 0);
}

void esm_on_overflow(esm_handler handler)
{
	overflow_handler = handler;
}

void esm_stop(void)
{
	stopped = true;
}

static int fetch(unsigned int flags)
{
	long count = esm_sys_wait(fetched.events, sizeof(*fetched.events), BATCH, flags, NULL);

	fetched.at = 0;
	fetched.used = count > 0 ? (unsigned int)count : 0;
	return count < 0 ? -1 : 0;
}

/* The handler gets a copy: it may run this loop itself, and fetch more. */
static void handle(struct esm_event event)
{
	esm_handler handler = (esm_handler)(uintptr_t)event.handler;

	if (event.flags & ESM_EVENT_OVERFLOW)
		handler = overflow_handler;
	if (handler)
		handler(&event);
}

static int run(bool once, unsigned int flags)
{
	pid_t self = gettid();

	if (fetched.owner != self) {
		fetched.owner = self;
		fetched.at = fetched.used = 0;
	}
	while (!stopped) {
		if (fetched.at == fetched.used && fetch(flags))
			return -1;
		while (fetched.at < fetched.used && !stopped)
			handle(fetched.events[fetched.at++]);
		if (once)
			break;
	}
	stopped = false;
	return 0;
}

int esm_run(void)
{
	return run(false, 0);
}

int esm_run_once(void)
{
	return run(true, 0);
}

int esm_run_ready(void)
{
	return run(false, ESM_WAIT_NONBLOCK) && errno != EAGAIN ? -1 : 0;
}
