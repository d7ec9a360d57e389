// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events from several sources at once, for many applications that are signalled, stopped, killed,
 * started and sent to the background at random. Who stays has to get each event once and in its
 * order, or to be told at that place that so many are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "random.h"
#include "receiver.h"
#include "sysfs.h"
#include "system.h"

#define PROCESSES 3
#define THREADS 2
#define STEADY (PROCESSES * THREADS)
/* A signal would make up for a wake-up that is lost. The last process gets none. */
#define SIGNALLED (STEADY - THREADS)
#define FLEETING 3

/* Packets of one source that are under way at most, where none may be lost. */
#define WINDOW 64
#define ROOMY "256"
#define SCARCE "16"

#define BATCH 16

static struct shared {
	struct receiver steady[STEADY], fleeting[FLEETING];
	_Atomic uint64_t sent[SOURCES];
	_Atomic bool over;
} * shared;

static const char *const names[SOURCES] = {"lull-esm-first", "lull-esm-second", "inject"};
static struct device devices[DEVICES];
static uint32_t numbers[SOURCES];
static bool throttled;
static uint64_t packets;

static void ignore(int number)
{
	(void)number;
}

static void register_at_all(void)
{
	for (int i = 0; i < SOURCES; i++) {
		const struct esm_registration what = {.handler = (uint64_t)i + 1,
						      .fd = -1,
						      .source = numbers[i],
						      .type = EV_MSC,
						      .code = MSC_SERIAL};

		must(call_register(&what, sizeof(what), 0), "register at a source");
	}
}

static void *be_steady(void *data)
{
	struct receiver *self = data;
	int64_t untold;

	register_at_all();
	self->task = gettid();
	self->started = true;
	untold = receive(self, numbers, &shared->over, amount.seed + (uint64_t)self->task, true);
	for (int i = 0; i < SOURCES; i++)
		untold -= (int64_t)(shared->sent[i] - self->last[i]);
	if (untold)
		receiver_fail(self, "%lld events that are missing at the end are not told",
			      (long long)-untold);
	self->finished = true;
	return NULL;
}

static pid_t start_steady(int process)
{
	pthread_t threads[THREADS];
	pid_t child = fork_child();

	if (child)
		return child;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, be_steady,
				   &shared->steady[process * THREADS + i]))
			give_up("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static pid_t start_fleeting(struct receiver *self)
{
	pid_t child;

	for (int i = 0; i < SOURCES; i++)
		self->last[i] = 0;
	child = fork_child();
	if (child)
		return child;
	register_at_all();
	self->task = getpid();
	receive(self, numbers, &shared->over, amount.seed + (uint64_t)self->task, false);
	_exit(0);
}

/* How many of a source the slowest has. */
static uint64_t slowest(int source)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < STEADY; i++)
		if (shared->steady[i].last[source] < least && !shared->steady[i].failed)
			least = shared->steady[i].last[source];
	return least;
}

static void send_some(int source, unsigned int count)
{
	char text[64];
	uint64_t first = shared->sent[source] + 1;
	int error;

	/* Before they are sent: nobody may be ahead of it. */
	shared->sent[source] += count;
	if (source != INJECTED) {
		device_send_serials(&devices[source], (int32_t)first, count);
		return;
	}
	snprintf(text, sizeof(text), "%d %d 1 %u\n", EV_MSC, MSC_SERIAL, count);
	error = write_text(ESM_DEBUG_DIR "inject", text);
	if (error)
		give_up("cannot inject: %s", strerror(-error));
}

static pid_t start_sender(int source)
{
	uint64_t random = amount.seed << 8 | (uint64_t)source, end = shared->sent[source] + packets;
	pid_t child = fork_child();

	if (child)
		return child;
	while (shared->sent[source] < end) {
		unsigned int count = 1 + (unsigned int)(next_random(&random) % BATCH);

		if (count > end - shared->sent[source])
			count = (unsigned int)(end - shared->sent[source]);
		while (throttled && shared->sent[source] + count > slowest(source) + WINDOW)
			usleep(100);
		send_some(source, count);
		if (next_random(&random) % (throttled ? 8 : 2) == 0)
			usleep((useconds_t)(next_random(&random) % 1000));
	}
	_exit(0);
}

static void set_foreground(const pid_t *processes, const pid_t *fleeting, uint64_t who)
{
	pid_t all[PROCESSES + FLEETING];
	size_t count = 0;

	for (int i = 0; i < PROCESSES; i++)
		all[count++] = processes[i];
	for (int i = 0; i < FLEETING; i++)
		if (who >> i & 1)
			all[count++] = fleeting[i];
	foreground_set(all, count);
}

static void disturb(uint64_t *random, const pid_t *processes, pid_t *fleeting)
{
	struct receiver *someone = &shared->steady[next_random(random) % SIGNALLED];
	uint64_t who = next_random(random) % FLEETING;

	switch (next_random(random) % 32) {
	case 0:
		kill_and_reap(fleeting[who]);
		fleeting[who] = start_fleeting(&shared->fleeting[who]);
		set_foreground(processes, fleeting, ~0ULL);
		break;
	case 1:
		set_foreground(processes, fleeting, next_random(random));
		break;
	case 2:
		kill(fleeting[who], SIGSTOP);
		break;
	case 3:
		kill(fleeting[who], SIGCONT);
		break;
	default:
		tgkill(processes[(someone - shared->steady) / THREADS], someone->task, SIGUSR1);
	}
	usleep((useconds_t)(next_random(random) % 1000));
}

static void await_all(_Atomic bool *(*of)(struct receiver *), const pid_t *processes, int nudge)
{
	for (int i = 0; i < STEADY; i++) {
		struct receiver *self = &shared->steady[i];

		while (!*of(self) && !self->failed) {
			if (nudge)
				tgkill(processes[i / THREADS], self->task, nudge);
			usleep(500);
		}
	}
}

static _Atomic bool *started(struct receiver *self)
{
	return &self->started;
}

static _Atomic bool *finished(struct receiver *self)
{
	return &self->finished;
}

static void report(const char *text)
{
	uint64_t received = 0, overflows = 0, lost = 0, signals = 0, failed = 0;

	for (int i = 0; i < STEADY; i++) {
		struct receiver *self = &shared->steady[i];

		received += self->received;
		overflows += self->overflows;
		lost += self->lost;
		signals += self->signals;
		failed += self->failed;
		if (self->failed)
			note("application %d: %s", i, self->failure);
	}
	check(!failed, "%s", text);
	note("%llu events of %llu to each of %d applications, %llu lost in %llu overflows, %llu "
	     "signals",
	     (unsigned long long)received, (unsigned long long)packets * SOURCES, STEADY,
	     (unsigned long long)lost, (unsigned long long)overflows, (unsigned long long)signals);
	check(received + lost == (packets * SOURCES) * STEADY, "and the sum is right");
	check(throttled ? lost == 0 : lost > 0, throttled ? "with room for all, none is lost"
							  : "with too little room, some are lost");
	failed = 0;
	for (int i = 0; i < FLEETING; i++) {
		failed += shared->fleeting[i].failed;
		if (shared->fleeting[i].failed)
			note("fleeting application %d: %s", i, shared->fleeting[i].failure);
	}
	check(!failed, "those that came and went saw each event once, in order");
}

static void stress(const char *text)
{
	pid_t processes[PROCESSES], fleeting[FLEETING], senders[SOURCES];
	uint64_t random = amount.seed;

	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < DEVICES; i++)
		device_create(&devices[i], names[i]);
	for (int i = 0; i < SOURCES; i++) {
		numbers[i] = source_number(names[i]);
		shared->sent[i] = source_packets(names[i]);
		for (int j = 0; j < STEADY; j++)
			shared->steady[j].last[i] = shared->sent[i];
	}
	for (int i = 0; i < PROCESSES; i++)
		processes[i] = start_steady(i);
	for (int i = 0; i < FLEETING; i++)
		fleeting[i] = start_fleeting(&shared->fleeting[i]);
	await_all(started, processes, 0);
	set_foreground(processes, fleeting, ~0ULL);
	for (int i = 0; i < SOURCES; i++)
		senders[i] = start_sender(i);
	for (int left = SOURCES; left;) {
		disturb(&random, processes, fleeting);
		for (int i = 0; i < SOURCES; i++)
			if (senders[i] && waitpid(senders[i], NULL, WNOHANG) == senders[i]) {
				senders[i] = 0;
				left--;
			}
	}
	for (int i = 0; i < SOURCES; i++)
		while (source_packets(names[i]) < shared->sent[i])
			usleep(500);
	shared->over = true;
	await_all(finished, processes, SIGUSR1);
	for (int i = 0; i < FLEETING; i++)
		kill_and_reap(fleeting[i]);
	for (int i = 0; i < PROCESSES; i++)
		waitpid(processes[i], NULL, 0);
	for (int i = 0; i < DEVICES; i++)
		device_destroy(&devices[i]);
	report(text);
}

void case_stress(void)
{
	struct sigaction action = {.sa_handler = ignore};
	char before[16];

	sigaction(SIGUSR1, &action, NULL);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		give_up("no memory: %s", strerror(errno));
	must(system_read("fifo", before, sizeof(before)), "read fifo");
	packets = amount.events / (2 * SOURCES) + 1;
	system_set("fifo", ROOMY);
	throttled = true;
	stress("each event came once and in order");
	system_set("fifo", SCARCE);
	throttled = false;
	stress("each event came once and in order, or its loss was told");
	system_set("fifo", before);
}
