// SPDX-License-Identifier: BSD-3-Clause
/* What waits for an application: in order, bounded, and what had no room is told. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"

#define HANDLER 0x40
#define ROOM 8

static struct device device;

static void send_serials(int first, int last)
{
	device_send_serials(&device, first, (unsigned int)(last - first + 1));
}

/* These, and then so many lost if there are any. */
static bool check_serials(const char *text, int first, int last, int lost)
{
	struct want want[64];
	size_t count = 0;

	for (int serial = first; serial <= last; serial++)
		want[count++] = (struct want){HANDLER, EV_MSC, MSC_SERIAL, serial, ESM_EVENT_LAST};
	if (lost)
		want[count++] = (struct want){0, 0, 0, lost, ESM_EVENT_OVERFLOW};
	return check_received(text, want, count);
}

static void overflow_is_told(void)
{
	uint64_t overflowed = statistic("overflowed");
	struct esm_event events[ROOM];

	send_serials(1, ROOM);
	check_serials("as many events as there is room for", 1, ROOM, 0);
	send_serials(1, ROOM + 1);
	check_serials("one more is lost, and told at its place", 1, ROOM, 1);
	check_nothing("once");
	send_serials(1, 1000);
	check_serials("many are counted", 1, ROOM, 1000 - ROOM);
	check(statistic("overflowed") == overflowed + 1 + 1000 - ROOM, "and so do the statistics");
	send_serials(5, 5);
	check_serials("then they come again", 5, 5, 0);

	send_serials(1, ROOM + 3);
	must(take(events, 4) == 4 ? 0 : -EIO, "get half");
	send_serials(100, 101);
	check(take(events, ROOM) == 7 && events[3].value == ROOM &&
		      events[4].flags == ESM_EVENT_OVERFLOW && events[4].value == 3 &&
		      events[5].value == 100 && events[6].value == 101,
	      "what is lost between others is told between them");
	check(!events[4].source && !events[4].packet &&
		      events[4].hardware_ns >= events[3].hardware_ns &&
		      events[4].kernel_ns >= events[3].kernel_ns &&
		      events[4].kernel_ns <= events[5].kernel_ns,
	      "with the time of the first");
	check_nothing("and these are all");
}

static void packets_are_lost_whole(int fd)
{
	const struct input_event packet[] = {
		{.type = EV_REL, .code = REL_X, .value = 3},
		{.type = EV_REL, .code = REL_Y, .value = -4},
		{.type = EV_SYN, .code = SYN_REPORT},
	};

	must(subscribe(fd, EV_REL, ESM_ANY, HANDLER), "register for motion");
	send_serials(1, ROOM - 1);
	device_send_values(&device, packet, 3);
	check_serials("half a packet is none", 1, ROOM - 1, 2);
	device_send_values(&device, packet, 3);
	check_events("a packet with room is whole", {HANDLER, EV_REL, REL_X, 3, 0},
		     {HANDLER, EV_REL, REL_Y, -4, ESM_EVENT_LAST});
}

static void room_is_of_the_beginning(int fd)
{
	system_set("fifo", "16");
	send_serials(1, ROOM + 1);
	check_serials("more room is for those who come then", 1, ROOM, 1);
	must(unsubscribe(fd, EV_REL, ESM_ANY), "take motion away");
}

static void refused_rooms(void)
{
	char before[16], now[16];

	must(system_read("fifo", before, sizeof(before)), "read fifo");
	for (const char *const *bad =
		     (const char *const[]){"7", "65537", "-1", "0", "many", "8 8", NULL};
	     *bad; bad++)
		check(system_write("fifo", *bad) != 0 && !system_read("fifo", now, sizeof(now)) &&
			      strcmp(now, before) == 0,
		      "room for '%s' events is refused", *bad);
	check(system_write("fifo", "65536") == 0, "the most is taken");
	check(system_write("fifo", "8") == 0, "and the least");
	system_set("fifo", before);
}

void case_queue(void)
{
	char before[16];
	int fd;

	must(system_read("fifo", before, sizeof(before)), "read fifo");
	system_set("fifo", "8");
	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	must(subscribe(fd, EV_MSC, ESM_ANY, HANDLER), "register");
	overflow_is_told();
	packets_are_lost_whole(fd);
	room_is_of_the_beginning(fd);
	system_set("fifo", before);
	refused_rooms();
	device_destroy(&device);
}
