// SPDX-License-Identifier: BSD-3-Clause
/*
 * A device that is grabbed and released all the time while packets come. A reader who has no part
 * in it says what evdev took for grabbed: an application gets what that reader gets, or if it grabs
 * the device itself all; each packet once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"

#define BY_FILE 0xc0
#define BY_NUMBER 0xc1

/* Packets sent at a time: evdev has room for so many. */
#define BURST 8
#define BURSTS_AT_ONCE 4
#define VALUES_MAX (4 * BURST)

static struct device device;

/* As the process sees it that grabs. */
static struct shared {
	_Atomic uint64_t bursts, turns;
} * shared;

/* What readers and the application have had, and what they had to have. */
static struct {
	int32_t sent;
	uint64_t packets, told, grabbed;
} sum;

static void await_packets(void)
{
	const uint64_t now = shared->bursts;

	while (shared->bursts == now)
		usleep(100);
}

static pid_t start_grabbing(int fd)
{
	pid_t child;

	shared->turns = 0;
	child = fork_child();
	if (child)
		return child;
	for (;; shared->turns++) {
		must(ioctl(fd, EVIOCGRAB, 1) ? -errno : 0, "grab");
		await_packets();
		must(ioctl(fd, EVIOCGRAB, 0) ? -errno : 0, "release");
		await_packets();
	}
}

static int register_by_number(uint64_t handler, uint16_t type)
{
	const struct esm_registration what = {.handler = handler,
					      .fd = -1,
					      .source = source_number(device.name),
					      .type = type,
					      .code = ESM_ANY};

	return call_register(&what, sizeof(what), 0);
}

static void send_burst(void)
{
	struct input_event values[3 * BURST] = {0};

	for (int i = 0; i < BURST; i++) {
		values[3 * i] = (struct input_event){
			.type = EV_MSC, .code = MSC_SERIAL, .value = sum.sent + i + 1};
		values[3 * i + 1] = (struct input_event){.type = EV_REL, .code = REL_X, .value = 1};
		values[3 * i + 2] = (struct input_event){.type = EV_SYN, .code = SYN_REPORT};
	}
	device_send_values(&device, values, 3 * BURST);
	sum.sent += BURST;
	/* A grace period is shorter when there is a pause now and then, and a release is two. */
	if (++shared->bursts % BURSTS_AT_ONCE == 0)
		usleep(1000);
}

/* Which packets of the burst a reader has got. */
static void read_burst(int fd, bool has[BURST])
{
	struct input_event values[VALUES_MAX];
	ssize_t size = read(fd, values, sizeof(values));
	int count = size < 0 ? 0 : (int)((size_t)size / sizeof(values[0]));

	if (size < 0 && errno != EAGAIN)
		give_up("a reader cannot read: %s", strerror(errno));
	memset(has, 0, BURST * sizeof(has[0]));
	for (int i = 0; i < count; i++) {
		int at = values[i].value - (sum.sent - BURST) - 1;

		if (values[i].type == EV_SYN && values[i].code == SYN_DROPPED)
			give_up("a reader has lost something");
		if (values[i].type != EV_MSC)
			continue;
		if (at < 0 || at >= BURST || has[at])
			give_up("a reader gets %d twice, or late", values[i].value);
		has[at] = true;
	}
}

/* Its packets are whole, and numbered without a gap. */
static bool application_has(const struct want *want, size_t count)
{
	struct esm_event events[VALUES_MAX];
	int taken = take(events, VALUES_MAX);

	taken = taken < 0 ? 0 : taken;
	if (!events_are(events, taken, want, count))
		return false;
	for (int i = 0; i < taken; i++) {
		if (events[i].packet != sum.packets + 1) {
			note("packet %llu comes after %llu", (unsigned long long)events[i].packet,
			     (unsigned long long)sum.packets);
			return false;
		}
		sum.packets += events[i].flags & ESM_EVENT_LAST ? 1 : 0;
	}
	return true;
}

/* Serials are registered with the file that grabs or with another one, motion by number. */
static bool one_burst(int grabbing, int plain, bool by_oneself)
{
	struct want want[2 * BURST];
	bool all[BURST], told[BURST];
	size_t count = 0;

	send_burst();
	read_burst(plain, told);
	read_burst(grabbing, all);
	for (int i = 0; i < BURST; i++) {
		if (all[i] == by_oneself) {
			note("who grabs is told %s of packet %d", by_oneself ? "twice" : "nothing",
			     sum.sent - BURST + i + 1);
			return false;
		}
		if (told[i] || by_oneself)
			want[count++] =
				(struct want){BY_FILE, EV_MSC, MSC_SERIAL, sum.sent - BURST + i + 1,
					      told[i] ? 0 : ESM_EVENT_LAST};
		if (told[i])
			want[count++] = (struct want){BY_NUMBER, EV_REL, REL_X, 1, ESM_EVENT_LAST};
		sum.told += told[i];
		sum.grabbed += !told[i];
	}
	return application_has(want, count);
}

static void begin(void)
{
	memset(&sum, 0, sizeof(sum));
	sum.packets = source_packets(device.name);
}

static bool goes_on(pid_t grabber)
{
	return shared->turns < amount.events / 1000 + 2 && !waitpid(grabber, NULL, WNOHANG);
}

/* Whoever is killed may have left it grabbed. */
static void end(pid_t grabber, int fd)
{
	kill_and_reap(grabber);
	ioctl(fd, EVIOCGRAB, 0);
}

static void with_files(const char *text, bool by_oneself)
{
	int registered = device_open(&device, O_RDONLY | O_NONBLOCK);
	int plain = device_open(&device, O_RDONLY | O_NONBLOCK);
	int grabbing = by_oneself ? registered : device_open(&device, O_RDONLY | O_NONBLOCK);
	bool right = true;
	pid_t grabber;

	begin();
	must(subscribe(registered, EV_MSC, ESM_ANY, BY_FILE), "register with a file");
	must(register_by_number(BY_NUMBER, EV_REL), "register by number");
	grabber = start_grabbing(grabbing);
	while (right && goes_on(grabber))
		right = one_burst(grabbing, plain, by_oneself);
	end(grabber, grabbing);
	check(right, "%s", text);
	check(right && sum.told && sum.grabbed, "of packets that were grabbed, and not");
	note("%llu of %d packets were grabbed in %llu turns", (unsigned long long)sum.grabbed,
	     sum.sent, (unsigned long long)shared->turns);
	check(source_packets(device.name) == sum.packets, "and each counts once");
	sum.grabbed = 0;
	check(!right || (one_burst(grabbing, plain, by_oneself) && !sum.grabbed),
	      "released, the device is for all");
	must(register_by_number(0, EV_REL), "take motion away");
	must(unsubscribe(registered, EV_MSC, ESM_ANY), "take serials away");
	close(registered);
	close(plain);
	if (!by_oneself)
		close(grabbing);
}

/* Any packet or none: the input core's idea of a grab is not that of evdev's readers. */
static bool each_once_at_most(int32_t *last)
{
	struct esm_event events[VALUES_MAX];
	int taken = take(events, VALUES_MAX);

	for (int i = 0; i < taken; i++) {
		if (events[i].value <= *last || events[i].packet != ++sum.packets) {
			note("serial %d comes after %d, in packet %llu", events[i].value, *last,
			     (unsigned long long)events[i].packet);
			return false;
		}
		*last = events[i].value;
	}
	return true;
}

static void by_number_alone(void)
{
	int grabbing = device_open(&device, O_RDONLY);
	bool right = true;
	int32_t last = 0;
	pid_t grabber;

	begin();
	must(register_by_number(BY_NUMBER, EV_MSC), "register by number");
	grabber = start_grabbing(grabbing);
	while (right && goes_on(grabber)) {
		send_burst();
		right = each_once_at_most(&last);
	}
	end(grabber, grabbing);
	check(right, "by number no packet comes twice");
	check(source_packets(device.name) == sum.packets, "nor counts twice");
	send_burst();
	check(each_once_at_most(&last) && last == sum.sent, "released, all come");
	must(register_by_number(0, EV_MSC), "take it away");
	close(grabbing);
}

void case_grabs(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		give_up("no memory: %s", strerror(errno));
	device_create(&device, "lull-esm-test");
	with_files("while another grabs, each packet is for all once, or for it alone", false);
	with_files("who grabs and registers gets each packet once", true);
	by_number_alone();
	device_destroy(&device);
}
