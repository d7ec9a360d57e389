// SPDX-License-Identifier: BSD-3-Clause
/*
 * Nobody who registers waits for a grace period of RCU, neither for one of his own nor for
 * another's. No clock is needed to see that: calls are counted beside grace periods, which a
 * process waits for one after the other; and who waits for a lock is in state 'D'.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"
#include "task_state.h"

#define HANDLER 0xe0
#define OTHERS_HANDLER 0xe1

#define GRACE_PERIODS 5
/* Who waits for a grace period in each turn makes one turn in each at most. */
#define TURNS_EACH 3

/* Who waits for a lock that another holds for grace periods does so three times in four. */
#define BLOCKED_SHARE 3

/* A grace period takes less than this, even on a simulated machine that is idle. */
#define PROGRESS_MS 10000

static struct device device, other;

static struct shared {
	_Atomic uint64_t grace_periods, turns, calls;
} * shared;

static void count_grace_periods(void)
{
	for (;; shared->grace_periods++)
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			give_up("no grace periods: %s", strerror(errno));
}

static void with_file(void)
{
	int fd = device_open(&other, O_RDONLY);

	must(subscribe(device_open(&device, O_RDONLY), EV_REL, ESM_ANY, HANDLER), "register");
	for (;; shared->turns++) {
		must(subscribe(fd, EV_KEY, ESM_ANY, OTHERS_HANDLER), "register");
		must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	}
}

static void by_number(void)
{
	struct esm_registration what = {
		.fd = -1, .source = source_number(other.name), .type = EV_KEY, .code = ESM_ANY};

	must(subscribe(device_open(&device, O_RDONLY), EV_REL, ESM_ANY, HANDLER), "register");
	for (;; shared->turns++) {
		what.handler = OTHERS_HANDLER;
		must(call_register(&what, sizeof(what), 0), "register by number");
		what.handler = 0;
		must(call_register(&what, sizeof(what), 0), "take it away by number");
	}
}

static void in_and_out(void)
{
	int fd = device_open(&other, O_RDONLY);

	must(subscribe(fd, EV_KEY, ESM_ANY, OTHERS_HANDLER), "register");
	for (;; shared->turns++) {
		foreground(getppid(), getpid());
		foreground(getppid());
	}
}

static void registers(void)
{
	int fd = device_open(&device, O_RDONLY);

	/* It stays an application, so that no thread is made for each registration. */
	must(subscribe(fd, EV_REL, ESM_ANY, HANDLER), "register for motion");
	for (;; shared->calls += 2) {
		must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
		must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	}
}

/* It has begun when this returns. */
static pid_t start(void (*endless)(void), _Atomic uint64_t *count)
{
	pid_t child;

	*count = 0;
	child = fork_child();
	if (child == 0) {
		endless();
		_exit(1);
	}
	while (!*count) {
		if (!task_state(child) || task_state(child) == 'Z')
			give_up("a child ended");
		usleep(1000);
	}
	return child;
}

static void own_grace_periods(void)
{
	pid_t counter = start(count_grace_periods, &shared->grace_periods);
	pid_t child = start(with_file, &shared->turns);
	uint64_t turns, periods;

	shared->turns = 0;
	shared->grace_periods = 0;
	while (shared->grace_periods < GRACE_PERIODS)
		usleep(1000);
	turns = shared->turns;
	periods = shared->grace_periods;
	kill_and_reap(child);
	kill_and_reap(counter);
	check(turns >= TURNS_EACH * periods,
	      "who registers with a file, and takes that away, waits for no grace period");
	note("%llu turns in %llu grace periods", (unsigned long long)turns,
	     (unsigned long long)periods);
}

static void beside(void (*others)(void), const char *what)
{
	pid_t busy = start(others, &shared->turns);
	pid_t child = start(registers, &shared->calls);
	int samples = 20 + (int)(amount.calls * 3 / 50);
	int blocked = 0;

	shared->turns = 0;
	shared->calls = 0;
	for (int i = 0; i < samples; i++) {
		usleep(1000);
		blocked += task_state(child) == 'D';
	}
	check(blocked <= samples / BLOCKED_SHARE, "who registers does not wait while another %s",
	      what);
	/* A turn by number waits for a grace period, which may take longer than all samples. */
	for (int waited = 0; waited < PROGRESS_MS && !(shared->calls && shared->turns); waited++)
		usleep(1000);
	check(shared->calls && shared->turns, "and both go on");
	note("blocked in %d of %d samples, with %llu calls in %llu turns of the other", blocked,
	     samples, (unsigned long long)shared->calls, (unsigned long long)shared->turns);
	kill_and_reap(child);
	kill_and_reap(busy);
	foreground(getpid());
}

void case_independence(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		give_up("no memory: %s", strerror(errno));
	device_create(&device, "lull-esm-test");
	device_create(&other, "lull-esm-other");
	own_grace_periods();
	beside(by_number, "registers by number again and again");
	beside(in_and_out, "comes to the foreground and leaves it");
	device_destroy(&other);
	device_destroy(&device);
}
