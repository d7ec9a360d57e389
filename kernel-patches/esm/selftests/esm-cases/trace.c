// SPDX-License-Identifier: BSD-3-Clause
/* Each hop of an event is seen in the trace; and where a real interrupt's events go. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "events.h"
#include "pin.h"
#include "sysfs.h"
#include "system.h"
#include "trace_line.h"
#include "waiter.h"

#define HANDLER 0xa0
#define INSTANCE "/sys/kernel/tracing/instances/lull-esm-test/"
#define ROUTING_DIR "/sys/kernel/lull/routing/"

static struct device device;

static void trace_set(const char *file, const char *text)
{
	char path[128];
	int error;

	snprintf(path, sizeof(path), INSTANCE "%s", file);
	error = write_text(path, text);
	if (error)
		give_up("cannot write %s: %s", path, strerror(-error));
}

/* In one line of the trace. */
static bool traced(const char *event, const char *detail)
{
	char line[512];

	return trace_line(INSTANCE "trace", event, detail, line, sizeof(line));
}

static void traced_events(int fd)
{
	struct waiter waiter =
		waiter_start_in_foreground(&(struct waiter_setup){.device = &device});
	char by_waiter[32], source[32], state[64];
	struct esm_event event;

	snprintf(by_waiter, sizeof(by_waiter), "tid=%d ", waiter.pid);
	snprintf(source, sizeof(source), "source=%u ", source_number(device.name));
	snprintf(state, sizeof(state), "prev_pid=%d ", waiter.pid);
	await_state(waiter.pid, EV_WAIT);
	asleep(waiter.pid);
	must(subscribe(fd, EV_MSC, ESM_ANY, HANDLER), "register");
	device_send(&device, EV_REL, REL_X, 1);
	device_send_serials(&device, 1, 9);
	device_send(&device, EV_KEY, KEY_A, 1);
	check_woken_by(&waiter, "one waits and is woken", KEY_A);
	while (take(&event, 1) == 1)
		;
	trace_set("tracing_on", "0");
	check(traced("esm_interpret: ", source), "a packet comes to the interpreter");
	check(traced("esm_discard: ", source), "nobody wants it");
	check(traced("esm_enqueue: ", by_waiter), "it is queued");
	check(traced("esm_hand_over: ", by_waiter), "and handed over");
	snprintf(by_waiter, sizeof(by_waiter), "tid=%d ", getpid());
	check(traced("esm_overflow: ", by_waiter), "it has no room");
	snprintf(by_waiter, sizeof(by_waiter), "tid=%d", waiter.pid);
	check(traced("esm_wait: ", by_waiter), "one waits");
	check(traced("esm_deliver: ", by_waiter), "one returns");
	check(traced(state, "prev_state=E "), "the scheduler calls the state E");
}

void case_trace(void)
{
	char before[16];
	int fd;

	if (access("/sys/kernel/tracing/events/esm", F_OK))
		give_up("there are no trace points");
	must(system_read("fifo", before, sizeof(before)), "read fifo");
	system_set("fifo", "8");
	mkdir(INSTANCE, 0755);
	trace_set("events/esm/enable", "1");
	trace_set("events/sched/sched_switch/enable", "1");
	trace_set("tracing_on", "1");
	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	traced_events(fd);
	system_set("fifo", before);
	device_destroy(&device);
	trace_set("events/enable", "0");
	rmdir(INSTANCE);
}

/* A key that is pressed and released twice, with time to fall asleep between. */
static const char schedule[] = "periodic 2000 3000 4 1 30 1\nend\n";
#define PACKETS 4
#define VALUES_IN_EACH 4
#define VALUES (PACKETS * VALUES_IN_EACH)

static void play(void)
{
	/* The one before may be about to end. */
	int error = write_text(EVENTS_DIR "enabled", "0");

	if (!error)
		error = write_text(EVENTS_DIR "schedule", schedule);
	if (!error)
		error = write_text(EVENTS_DIR "enabled", "1");
	if (error)
		give_up("cannot play a schedule: %s", strerror(-error));
}

static void times_are_the_hardwares(int fd)
{
	struct esm_event events[VALUES];
	bool right = true;
	int taken = 0;

	must(subscribe(fd, EV_MSC, ESM_ANY, HANDLER), "register for what tells the time");
	must(subscribe(fd, EV_KEY, ESM_ANY, HANDLER), "register for keys");
	play();
	while (taken < VALUES) {
		int more = call_wait(events + taken, sizeof(*events),
				     (unsigned int)(VALUES - taken), 0);

		must(more, "wait");
		taken += more;
	}
	for (int i = 0; i < VALUES; i++) {
		const uint16_t codes[] = {MSC_SERIAL, MSC_RAW, MSC_TIMESTAMP, 30};

		right &= events[i].code == codes[i % VALUES_IN_EACH] &&
			 events[i].packet == events[0].packet + (uint64_t)(i / VALUES_IN_EACH);
		if (events[i].code == MSC_RAW)
			right &= (uint32_t)events[i].value == (uint32_t)events[i].hardware_ns;
		if (events[i].code == MSC_SERIAL && events[i].type == EV_MSC)
			right &= events[i].value == i / VALUES_IN_EACH + 1;
		right &= events[i].kernel_ns >= events[i].hardware_ns;
	}
	check(right, "events of an interrupt have its time to the nanosecond");
	must(unsubscribe(fd, EV_MSC, ESM_ANY), "take the times away");
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take the keys away");
}

/* The consumer that routing knows for the event timer's interrupt, -1 for none. */
static int consumer(void)
{
	char line[256], number[16] = "";
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned int linux_number, gic_number;
	char named[16] = "none";

	while (file && !*number && fgets(line, sizeof(line), file))
		if (strstr(line, "lull-event"))
			snprintf(number, sizeof(number), "%d", atoi(line));
	if (file)
		fclose(file);
	file = fopen(ROUTING_DIR "interrupts", "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %u %15s", &linux_number, &gic_number, named) == 3 &&
		    linux_number == (unsigned int)atoi(number))
			break;
	if (file)
		fclose(file);
	return *named >= '0' && *named <= '9' ? atoi(named) : -1;
}

static int begin_on_cpu_1(int fd)
{
	int result = subscribe(fd, EV_KEY, ESM_ANY, WAITER_HANDLER);

	return result ? result : pin_to_cpu(1);
}

static int begin_on_cpu_0(int fd)
{
	int result = subscribe(fd, EV_KEY, ESM_ANY, WAITER_HANDLER);

	return result ? result : pin_to_cpu(0);
}

/* Before an event has let it wait once more. */
static void interrupt_is_for_who_comes_forward(void)
{
	struct waiter waiter =
		waiter_start(&(struct waiter_setup){.device = &device, .begin = begin_on_cpu_1});

	await_state(waiter.pid, EV_WAIT);
	check(consumer() == -1, "the interrupt is for nobody who waits in the background");
	foreground(getpid(), waiter.pid);
	check(consumer() == 1, "but once he is in the foreground, for him on CPU 1");
	foreground(getpid());
	check(consumer() == -1, "and no longer");
	waiter_kill(&waiter);
}

static void interrupt_is_for(int (*begin)(int), int cpu)
{
	struct waiter waiter = waiter_start_in_foreground(
		&(struct waiter_setup){.device = &device, .begin = begin, .count = 1});

	await_state(waiter.pid, EV_WAIT);
	check(consumer() == cpu, "who waits on CPU %d is whom the interrupt is for", cpu);
	play();
	check_woken_by(&waiter, "and it comes", 30);
}

void case_interrupt(void)
{
	struct events events;
	char link[32];

	if (events_open(&events))
		give_up("there is no event timer");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", events.fd);
	if (readlink(link, device.path, sizeof(device.path) - 1) < 0)
		give_up("nobody knows the event timer's path");
	times_are_the_hardwares(events.fd);
	if (access(ROUTING_DIR "interrupts", F_OK) == 0) {
		interrupt_is_for_who_comes_forward();
		interrupt_is_for(begin_on_cpu_1, 1);
		interrupt_is_for(begin_on_cpu_0, 0);
	}
	write_text(EVENTS_DIR "enabled", "0");
	events_close(&events);
}
