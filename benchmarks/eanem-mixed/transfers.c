// SPDX-License-Identifier: BSD-3-Clause
#include "transfers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "eanem.h"
#include "source.h"

/* A process looks so often whether the windows begin. */
#define LOOK_NS 200000

/* In memory that the parent and its children have in common. */
struct transfers {
	int count, go[2], done[2];
	struct transfers_hold hold;
	struct windows times;
	_Atomic uint64_t begin_ns;
	pid_t pids[TRANSFERS_MOST];
	uint64_t bytes[TRANSFERS_MOST][TRANSFERS_WINDOWS];
};

static int connect_one(const struct transfers *transfers)
{
	const struct transfers_hold *hold = &transfers->hold;
	int fd = source_open(hold->rate_kbit_s, true, 0, (uint32_t)hold->rcvbuf), error;
	struct eanem eanem;

	if (fd < 0 || !hold->target_kbit_s)
		return fd;
	error = eanem_open(&eanem);
	if (error)
		return error;
	/* The socket is watched from its first read on. */
	source_read_until(fd, clock_ns() + LOOK_NS);
	error = eanem_target_socket(&eanem, source_id(fd), hold->target_kbit_s * 125);
	eanem_close(&eanem);
	return error ? error : fd;
}

static int receive(struct transfers *transfers, int number, int fd)
{
	uint64_t until;
	int64_t bytes = 0;

	while (bytes >= 0 && !atomic_load(&transfers->begin_ns))
		bytes = source_read_until(fd, clock_ns() + LOOK_NS);
	until = transfers->begin_ns + transfers->times.settle_us * 1000;
	if (bytes >= 0)
		bytes = source_read_until(fd, until);
	for (uint64_t i = 0; i < transfers->times.windows && bytes >= 0; i++) {
		until += transfers->times.window_us * 1000;
		bytes = source_read_until(fd, until);
		transfers->bytes[number][i] = bytes > 0 ? (uint64_t)bytes : 0;
	}
	return bytes < 0 ? (int)bytes : 0;
}

static void run(struct transfers *transfers, int number)
{
	char byte = 0;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(transfers->go[0], &byte, 1) != 1)
		_exit(EPIPE);
	fd = connect_one(transfers);
	if (fd < 0)
		_exit(-fd);
	/* Once all have closed this, the parent knows of those that have not written. */
	if (write(transfers->done[1], &byte, 1) != 1 || close(transfers->done[1]))
		_exit(EPIPE);
	_exit(-receive(transfers, number, fd));
}

struct transfers *transfers_make(int count)
{
	void *memory = mmap(NULL, sizeof(struct transfers), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct transfers *transfers = memory;

	if (memory == MAP_FAILED || pipe(transfers->go) || pipe(transfers->done))
		return NULL;
	/* The child's number is its own: the parent goes on counting in their common memory. */
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return NULL;
		if (!pid)
			run(transfers, i);
		transfers->pids[i] = pid;
	}
	transfers->count = count;
	close(transfers->done[1]);
	return transfers;
}

int transfers_connect(struct transfers *transfers, const struct transfers_hold *hold)
{
	static const char bytes[TRANSFERS_MOST];
	char byte;

	transfers->hold = *hold;
	if (write(transfers->go[1], bytes, (size_t)transfers->count) != transfers->count)
		return -EPIPE;
	for (int i = 0; i < transfers->count; i++)
		if (read(transfers->done[0], &byte, 1) != 1)
			return -ECONNREFUSED;
	return 0;
}

void transfers_begin(struct transfers *transfers, const struct windows *times, uint64_t ns)
{
	transfers->times = *times;
	atomic_store(&transfers->begin_ns, ns);
}

int transfers_end(struct transfers *transfers)
{
	int error = 0, status;

	for (int i = 0; i < transfers->count; i++)
		if (waitpid(transfers->pids[i], &status, 0) < 0 || !WIFEXITED(status))
			error = -ECHILD;
		else if (WEXITSTATUS(status))
			error = -WEXITSTATUS(status);
	return error;
}

uint64_t transfers_bytes(const struct transfers *transfers, int transfer, uint64_t window)
{
	return transfers->bytes[transfer][window];
}
