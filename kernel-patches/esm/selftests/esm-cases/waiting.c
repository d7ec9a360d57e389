// SPDX-License-Identifier: BSD-3-Clause
/* esm_wait(): what an event says, the state of who waits for it, signals, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "clock.h"
#include "device.h"
#include "sysfs.h"
#include "system.h"
#include "task_state.h"
#include "waiter.h"

#define HANDLER 0x1234567890abcdefULL

#define GROUP "/sys/fs/cgroup/lull-esm-test/"

static struct device device;

static void events_say_when(int fd)
{
	uint64_t before = clock_ns(), raised = (before / 1000 - 500) * 1000, after;
	const struct input_event packet[] = {
		{.time = {.tv_sec = (time_t)(raised / 1000000000),
			  .tv_usec = (suseconds_t)(raised % 1000000000 / 1000)},
		 .type = EV_KEY,
		 .code = KEY_A,
		 .value = 1},
		{.type = EV_SYN, .code = SYN_REPORT},
	};
	struct esm_event events[2];

	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	device_send_values(&device, packet, 2);
	device_send(&device, EV_KEY, KEY_A, 0);
	after = clock_ns();
	must(take(events, 2) == 2 ? 0 : -EIO, "get two events");
	check(events[0].handler == HANDLER, "all bits of a handler come back");
	check(events[0].hardware_ns == raised, "the time is the hardware's");
	check(events[0].kernel_ns >= before && events[0].kernel_ns <= after,
	      "and the interpreter's");
	check(events[1].hardware_ns >= events[0].kernel_ns &&
		      events[1].kernel_ns >= events[1].hardware_ns && events[1].kernel_ns <= after,
	      "or the interpreter's alone if nobody knows better");
	check(events[0].source == source_number(device.name), "the source is the device");
	check(events[1].packet == events[0].packet + 1, "packets are numbered");
	device_send(&device, EV_REL, REL_X, 1);
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(events, 2) == 2 ? 0 : -EIO, "get two more");
	check(events[1].packet == events[0].packet + 1, "each packet once");
}

static void as_many_as_asked_for(int fd)
{
	const struct input_event packet[] = {
		{.type = EV_REL, .code = REL_X, .value = 3},
		{.type = EV_REL, .code = REL_Y, .value = -4},
		{.type = EV_SYN, .code = SYN_REPORT},
	};
	struct esm_event events[4];

	for (int i = 0; i < 3; i++)
		device_send(&device, EV_KEY, KEY_B, i & 1 ? 0 : 1);
	check(take(events, 2) == 2, "no more come than there is room for");
	check(take(events, 4) == 1, "and the rest the next time");
	check(events[0].value == 1, "in their order");
	device_send(&device, EV_KEY, KEY_B, 0);
	must(take(events, 4) == 1 ? 0 : -EIO, "get the release");
	must(subscribe(fd, EV_REL, ESM_ANY, HANDLER), "register for motion");
	device_send_values(&device, packet, 3);
	check(take(events, 1) == 1 && !events[0].flags, "a packet may be cut");
	check(take(events, 4) == 1 && events[0].flags == ESM_EVENT_LAST, "before its end");
	must(unsubscribe(fd, EV_REL, ESM_ANY), "take motion away");
	device_send(&device, EV_KEY, KEY_B, 1);
	check(call_wait(events, sizeof(events[0]), 4, 0) == 1,
	      "who waits gets what is there at once");
	check_nothing("and then nothing is left");
	device_send(&device, EV_KEY, KEY_B, 0);
	must(take(events, 4) == 1 ? 0 : -EIO, "get the release");
}

static void other_versions(void)
{
	struct {
		struct esm_event known;
		uint64_t unknown[2];
	} longer[2];

	memset(longer, 0xff, sizeof(longer));
	device_send(&device, EV_KEY, KEY_C, 1);
	device_send(&device, EV_KEY, KEY_C, 0);
	check(call_wait(longer, sizeof(longer[0]), 2, 0) == 2, "longer events are taken");
	check(longer[0].known.value == 1 && longer[1].known.value == 0, "at their places");
	check(!longer[0].unknown[0] && !longer[0].unknown[1] && !longer[1].unknown[0] &&
		      !longer[1].unknown[1],
	      "with 0 for what the kernel does not know");
}

static void state_is_seen(void)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	char state[64];
	uint64_t waits;

	check_waits(&waiter, "/proc/PID/stat shows who waits for an event");
	task_status(waiter.pid, "State", state, sizeof(state));
	check(strcmp(state, "E (event wait)") == 0, "and so does status: %s", state);
	waits = asleep(waiter.pid);
	device_send(&device, EV_REL, REL_X, 1);
	check(slept_on(waiter.pid, waits), "what it did not register for does not wake it");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&waiter, "what it registered for does", KEY_A);
	device_send(&device, EV_KEY, KEY_A, 0);
}

void case_waiting(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	events_say_when(fd);
	as_many_as_asked_for(fd);
	other_versions();
	state_is_seen();
	device_destroy(&device);
}

static void refused_addresses(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct esm_event *last = (struct esm_event *)(pages + 4096) - 1, event;
	int taken;

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		give_up("no page: %s", strerror(errno));
	for (int i = 0; i < 3; i++)
		device_send(&device, EV_KEY, KEY_A, i & 1 ? 0 : 1);
	check_error(call_wait(NULL, sizeof(event), 1, 0), EFAULT, "no address");
	check_error(call_wait((void *)8, sizeof(event), 1, 0), EFAULT, "a bad address");
	check_error(call_wait((void *)-4096L, sizeof(event), 1, 0), EFAULT,
		    "an address of the kernel's");
	check_error(call_wait(pages + 4096 - 16, sizeof(event), 1, 0), EFAULT,
		    "room for a third of an event");
	taken = call_wait(last, sizeof(event), 3, 0);
	check(taken == 1 || taken == -EFAULT, "room for one event of three");
	if (taken == 1)
		check(last->value == 1, "is the first's");
	check(take(&event, 1) == 1 && event.value == (taken == 1 ? 0 : 1) && take(&event, 1) == 1 &&
		      event.value == (taken == 1 ? 1 : 0),
	      "no event is lost by that");
	while (take(&event, 1) == 1)
		;
	munmap(pages, 4096);
	device_send(&device, EV_KEY, KEY_A, 0);
	must(take(&event, 1) == 1 ? 0 : -EIO, "get the last");
}

void case_refused_waits(void)
{
	struct esm_event event;
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	check_error(call_wait(&event, sizeof(event), 1, 0), ENODEV, "who registered for nothing");
	check_error(take(&event, 1), ENODEV, "even without waiting");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register");
	check_error(take(&event, 1), EAGAIN, "nothing is there");
	check_error(call_wait(&event, sizeof(event), 0, 0), EINVAL, "room for no event");
	check_error(call_wait(&event, 0, 1, 0), EINVAL, "events without a size");
	check_error(call_wait(&event, ESM_EVENT_SIZE_VER0 - 1, 1, 0), EINVAL,
		    "events that are too short");
	check_error(call_wait(&event, SIZE_MAX, 1, 0), E2BIG, "events larger than memory");
	check_error(call_wait(&event, 1UL << 32, UINT32_MAX, 0), E2BIG, "and many of them");
	check_error(call_wait(&event, sizeof(event), 1, ESM_WAIT_NONBLOCK | 4), EINVAL,
		    "a flag that is not known");
	refused_addresses();
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take it away");
	check_error(call_wait(&event, sizeof(event), 1, 0), ENODEV,
		    "who took its last registration away");
	device_destroy(&device);
}

static void signal_ends_wait(void)
{
	struct waiter waiter = waiter_start_in_foreground(
		&(struct waiter_setup){.device = &device, .handles = true});
	struct outcome outcome;

	await_state(waiter.pid, EV_WAIT);
	kill(waiter.pid, SIGUSR1);
	outcome = waiter_finish(&waiter);
	check_error(outcome.received, EINTR, "a signal ends the wait");
	check(outcome.signals == 1, "once it is handled");
}

static void wait_restarts(void)
{
	struct waiter waiter = waiter_start_in_foreground(
		&(struct waiter_setup){.device = &device, .handles = true, .restarts = true});
	uint64_t waits;

	await_state(waiter.pid, EV_WAIT);
	waits = asleep(waiter.pid);
	kill(waiter.pid, SIGUSR1);
	while (task_state(waiter.pid) && task_waits(waiter.pid) == waits)
		usleep(100);
	check_waits(&waiter, "with SA_RESTART the wait goes on");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&waiter, "and ends with an event", KEY_A);
	device_send(&device, EV_KEY, KEY_A, 0);
}

static void ignored_signal(void)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});

	await_state(waiter.pid, EV_WAIT);
	kill(waiter.pid, SIGCHLD);
	check_waits(&waiter, "a signal that is ignored does not disturb it");
	kill(waiter.pid, SIGSTOP);
	check(await_state(waiter.pid, 'T'), "it can be stopped");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(task_state(waiter.pid) == 'T', "an event does not continue it");
	kill(waiter.pid, SIGCONT);
	check_woken_by(&waiter, "but is there when it continues", KEY_A);
	device_send(&device, EV_KEY, KEY_A, 0);

	waiter = waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	await_state(waiter.pid, EV_WAIT);
	kill(waiter.pid, SIGSTOP);
	await_state(waiter.pid, 'T');
	kill(waiter.pid, SIGCONT);
	check_waits(&waiter, "continued without an event, it waits on");
	kill(waiter.pid, SIGKILL);
	check(waitpid(waiter.pid, NULL, 0) == waiter.pid, "and it can be killed");
	close(waiter.answer);
}

static void freeze(const char *value)
{
	char events[64] = "";
	char frozen[16];

	snprintf(frozen, sizeof(frozen), "frozen %s", value);
	must(write_text(GROUP "cgroup.freeze", value), "freeze or thaw");
	while (!strstr(events, frozen))
		must(read_text(GROUP "cgroup.events", events, sizeof(events)), "read events");
}

static void frozen_group(void)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	char number[16];

	snprintf(number, sizeof(number), "%d", waiter.pid);
	if (mkdir(GROUP, 0755) && errno != EEXIST)
		give_up("cannot make a control group: %s", strerror(errno));
	must(write_text(GROUP "cgroup.procs", number), "join it");
	await_state(waiter.pid, EV_WAIT);
	freeze("1");
	check(task_state(waiter.pid) != EV_WAIT, "who is frozen does not wait");
	freeze("0");
	check_waits(&waiter, "and thawed it does again");
	freeze("1");
	device_send(&device, EV_KEY, KEY_A, 1);
	check(task_state(waiter.pid) != EV_WAIT, "frozen, it is not woken by an event");
	freeze("0");
	check_woken_by(&waiter, "but has it afterwards", KEY_A);
	device_send(&device, EV_KEY, KEY_A, 0);
	rmdir(GROUP);
}

void case_signals(void)
{
	device_create(&device, "lull-esm-test");
	signal_ends_wait();
	wait_restarts();
	ignored_signal();
	frozen_group();
	device_destroy(&device);
}
