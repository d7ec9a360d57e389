// SPDX-License-Identifier: BSD-3-Clause
/*
 * Linked with sched-bench on the host, for which sched-bench.c itself is not changed. The program
 * ends when all messages are there, and not after a time:
 *
 *   LULL_WRITES   so often each task writes; then the task waits to be killed
 *   LULL_BYTES    so much is read by all tasks until the program ends
 *
 * WAEAS and gem5 are not there on a host.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "m5.h"
#include "placement.h"

#define MOST_MS 60000

static _Atomic uint64_t *bytes_read;

ssize_t __real_read(int from, void *bytes, size_t size);
ssize_t __wrap_read(int from, void *bytes, size_t size);
ssize_t __real_write(int to, const void *bytes, size_t size);
ssize_t __wrap_write(int to, const void *bytes, size_t size);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left);

static uint64_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void prepare(void)
{
	bytes_read = mmap(NULL, sizeof(*bytes_read), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bytes_read == MAP_FAILED)
		abort();
}

ssize_t __wrap_write(int to, const void *bytes, size_t size)
{
	static _Thread_local uint64_t written;

	if (written == number_of("LULL_WRITES"))
		for (;;)
			pause();
	written++;
	return __real_write(to, bytes, size);
}

ssize_t __wrap_read(int from, void *bytes, size_t size)
{
	ssize_t got = __real_read(from, bytes, size);

	if (got > 0)
		atomic_fetch_add(bytes_read, (uint64_t)got);
	return got;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left)
{
	(void)clock;
	(void)flags;
	(void)until;
	(void)left;
	/* After a minute the program ends, too. Then the test counts what came. */
	for (int ms = 0; ms < MOST_MS && atomic_load(bytes_read) < number_of("LULL_BYTES"); ms++)
		usleep(1000);
	return 0;
}

int placement_set(const char *way)
{
	(void)way;
	return 0;
}

void m5_dump_reset_stats(uint64_t delay_ns, uint64_t period_ns)
{
	(void)delay_ns;
	(void)period_ns;
	abort();
}
