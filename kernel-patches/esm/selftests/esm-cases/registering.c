// SPDX-License-Identifier: BSD-3-Clause
/* esm_register(): who gets what, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "cases.h"
#include "device.h"
#include "system.h"

#define ANY_HANDLER 0x10
#define KEYS_HANDLER 0x20
#define A_HANDLER 0x30

#define REGISTRATIONS_MAX 64

static struct device device;

static void narrowest_counts(int fd)
{
	must(subscribe(fd, EV_KEY, KEY_A, A_HANDLER), "register for A");
	device_send(&device, EV_KEY, KEY_A, 1);
	device_send(&device, EV_KEY, KEY_B, 1);
	device_send(&device, EV_REL, REL_X, 5);
	check_events("who registered for A gets A alone",
		     {A_HANDLER, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});

	must(subscribe(fd, EV_KEY, ESM_ANY, KEYS_HANDLER), "register for keys");
	must(subscribe(fd, EV_REL, ESM_ANY, ANY_HANDLER), "register for motion");
	device_send(&device, EV_KEY, KEY_A, 0);
	device_send(&device, EV_KEY, KEY_B, 0);
	device_send(&device, EV_REL, REL_X, 5);
	device_send(&device, EV_MSC, MSC_SERIAL, 1);
	check_events("the narrowest registration counts, and each event comes once",
		     {A_HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST},
		     {KEYS_HANDLER, EV_KEY, KEY_B, 0, ESM_EVENT_LAST},
		     {ANY_HANDLER, EV_REL, REL_X, 5, ESM_EVENT_LAST});

	must(subscribe(fd, EV_KEY, KEY_A, A_HANDLER + 1), "register for A again");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_events("registering again replaces the handler",
		     {A_HANDLER + 1, EV_KEY, KEY_A, 1, ESM_EVENT_LAST});

	must(unsubscribe(fd, EV_KEY, KEY_A), "take A away");
	device_send(&device, EV_KEY, KEY_A, 0);
	check_events("then the wider registration counts",
		     {KEYS_HANDLER, EV_KEY, KEY_A, 0, ESM_EVENT_LAST});

	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take keys away");
	device_send(&device, EV_KEY, KEY_A, 1);
	check_nothing("without any nothing comes");
	must(unsubscribe(fd, EV_REL, ESM_ANY), "take motion away");
}

static void packets_are_whole(int fd)
{
	const struct input_event packet[] = {
		{.type = EV_KEY, .code = KEY_C, .value = 1},
		{.type = EV_REL, .code = REL_X, .value = 3},
		{.type = EV_REL, .code = REL_Y, .value = -4},
		{.type = EV_SYN, .code = SYN_REPORT},
	};

	must(subscribe(fd, EV_REL, ESM_ANY, ANY_HANDLER), "register for motion");
	must(subscribe(fd, EV_KEY, ESM_ANY, KEYS_HANDLER), "register for keys");
	device_send_values(&device, packet, 4);
	check_events("the last of a packet is marked", {KEYS_HANDLER, EV_KEY, KEY_C, 1, 0},
		     {ANY_HANDLER, EV_REL, REL_X, 3, 0},
		     {ANY_HANDLER, EV_REL, REL_Y, -4, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_REL, REL_Y) == -ENOENT ? 0 : -EINVAL, "take what is not there");
	must(unsubscribe(fd, EV_REL, ESM_ANY), "take motion away");
	device_send(&device, EV_KEY, KEY_C, 0);
	device_send_values(&device, packet, 4);
	check_events("and so is the last that one gets",
		     {KEYS_HANDLER, EV_KEY, KEY_C, 0, ESM_EVENT_LAST},
		     {KEYS_HANDLER, EV_KEY, KEY_C, 1, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_KEY, ESM_ANY), "take keys away");
}

static void two_devices(int fd)
{
	struct device other;
	uint32_t number;
	int other_fd;

	device_create(&other, "lull-esm-other");
	number = source_number(other.name);
	device_destroy(&other);
	device_create(&other, "lull-esm-other");
	check(source_number(other.name) > number, "no source has the number of one before");
	other_fd = device_open(&other, O_RDONLY);
	must(subscribe(fd, EV_MSC, ESM_ANY, A_HANDLER), "register at one");
	must(subscribe(other_fd, EV_MSC, ESM_ANY, KEYS_HANDLER), "register at another");
	for (int i = 0; i < 3; i++) {
		device_send(&other, EV_MSC, MSC_SERIAL, 2 * i);
		device_send(&device, EV_MSC, MSC_SERIAL, 2 * i + 1);
	}
	check_events("events of two devices come in the order of arrival",
		     {KEYS_HANDLER, EV_MSC, MSC_SERIAL, 0, ESM_EVENT_LAST},
		     {A_HANDLER, EV_MSC, MSC_SERIAL, 1, ESM_EVENT_LAST},
		     {KEYS_HANDLER, EV_MSC, MSC_SERIAL, 2, ESM_EVENT_LAST},
		     {A_HANDLER, EV_MSC, MSC_SERIAL, 3, ESM_EVENT_LAST},
		     {KEYS_HANDLER, EV_MSC, MSC_SERIAL, 4, ESM_EVENT_LAST},
		     {A_HANDLER, EV_MSC, MSC_SERIAL, 5, ESM_EVENT_LAST});
	must(unsubscribe(other_fd, EV_MSC, ESM_ANY), "take one away");
	device_send(&other, EV_MSC, MSC_SERIAL, 6);
	device_send(&device, EV_MSC, MSC_SERIAL, 7);
	check_events("and each has registrations of its own",
		     {A_HANDLER, EV_MSC, MSC_SERIAL, 7, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_MSC, ESM_ANY), "take the other away");
	close(other_fd);
	device_destroy(&other);
}

static void by_number(void)
{
	struct esm_registration what = {.handler = A_HANDLER,
					.fd = -1,
					.source = source_number(device.name),
					.type = EV_KEY,
					.code = KEY_D};

	check(what.source > 0, "the device is listed with its number");
	must(call_register(&what, sizeof(what), 0), "register by number");
	device_send(&device, EV_KEY, KEY_D, 1);
	device_send(&device, EV_KEY, KEY_D, 0);
	check_events("root registers by number", {A_HANDLER, EV_KEY, KEY_D, 1, ESM_EVENT_LAST},
		     {A_HANDLER, EV_KEY, KEY_D, 0, ESM_EVENT_LAST});
	what.handler = 0;
	must(call_register(&what, sizeof(what), 0), "take it away by number");
}

static void as_many_as_allowed(int fd)
{
	int registered = 0;

	while (registered < REGISTRATIONS_MAX &&
	       subscribe(fd, EV_KEY, (uint16_t)(1 + registered), A_HANDLER) == 0)
		registered++;
	check(registered == REGISTRATIONS_MAX, "%d registrations at a source", registered);
	check_error(subscribe(fd, EV_KEY, 1 + REGISTRATIONS_MAX, A_HANDLER), ENOSPC, "one more");
	check(subscribe(fd, EV_KEY, 1, KEYS_HANDLER) == 0, "but any is replaced");
	device_send(&device, EV_KEY, 1, 1);
	device_send(&device, EV_KEY, KEY_M, 1);
	check_events("and all are in force", {KEYS_HANDLER, EV_KEY, 1, 1, ESM_EVENT_LAST},
		     {A_HANDLER, EV_KEY, KEY_M, 1, ESM_EVENT_LAST});
	must(unsubscribe(fd, EV_KEY, 1), "take one away");
	check(subscribe(fd, EV_KEY, 1 + REGISTRATIONS_MAX, A_HANDLER) == 0,
	      "and there is room again");
}

void case_registering(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	narrowest_counts(fd);
	packets_are_whole(fd);
	two_devices(fd);
	by_number();
	as_many_as_allowed(fd);
	device_destroy(&device);
}

static int register_with(struct esm_registration what)
{
	return call_register(&what, sizeof(what), 0);
}

static void refused_values(int fd)
{
	const struct esm_registration good = {
		.handler = A_HANDLER, .fd = fd, .type = EV_KEY, .code = KEY_A};
	struct esm_registration what = good;

	what.type = EV_MAX + 1;
	check_error(register_with(what), EINVAL, "a type beyond the last");
	what = good;
	what.type = EV_SYN;
	what.code = SYN_REPORT;
	check_error(register_with(what), EINVAL, "the end of a packet");
	what = good;
	what.type = ESM_ANY;
	check_error(register_with(what), EINVAL, "a code of any type");
	what = good;
	what.reserved = 1;
	check_error(register_with(what), EINVAL, "a value where none may be");
	what = good;
	what.source = 1;
	check_error(register_with(what), EINVAL, "a device and a source");
	what.fd = -1;
	what.source = UINT32_MAX;
	check_error(register_with(what), ENODEV, "a source that is not there");
	what.fd = -2;
	what.source = 0;
	check_error(register_with(what), EBADF, "a descriptor below 0");
	what.fd = 1000;
	check_error(register_with(what), EBADF, "a descriptor that is not open");
	what = good;
	check_error(call_register(&what, sizeof(what), 1), EINVAL, "a flag that is not known");
	check_error(call_register(&what, sizeof(what), 1U << 31), EINVAL, "another");
	what.handler = 0;
	check_error(register_with(what), ENOENT, "taking away what is not there");
}

static void refused_sizes(int fd)
{
	struct {
		struct esm_registration known;
		uint64_t unknown;
	} longer = {.known = {.handler = A_HANDLER, .fd = fd, .type = EV_KEY, .code = KEY_A}};
	/* Not known to the compiler, which would see that nothing is there. */
	void *volatile nowhere = (void *)8;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		give_up("no page: %s", strerror(errno));
	check_error(call_register(&longer.known, 0, 0), EINVAL, "a registration without a size");
	check_error(call_register(&longer.known, ESM_REGISTRATION_SIZE_VER0 - 1, 0), EINVAL,
		    "one that is too short");
	check_error(call_register(&longer.known, SIZE_MAX, 0), E2BIG, "one larger than memory");
	check(call_register(&longer.known, sizeof(longer), 0) == 0,
	      "a longer one is taken while the rest is 0");
	longer.unknown = 1;
	check_error(call_register(&longer.known, sizeof(longer), 0), E2BIG, "and not if it is not");
	check_error(call_register(nowhere, sizeof(longer.known), 0), EFAULT, "a bad address");
	check_error(call_register(NULL, sizeof(longer.known), 0), EFAULT, "no address");
	check_error(call_register((void *)(pages + 4096 - 8), sizeof(longer.known), 0), EFAULT,
		    "half of one that can be read");
	check_error(call_register((void *)-4096L, sizeof(longer.known), 0), EFAULT,
		    "an address of the kernel's");
	munmap(pages, 4096);
}

static int subscribe_opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC), result;

	if (fd < 0)
		give_up("cannot open %s: %s", path, strerror(errno));
	result = subscribe(fd, EV_KEY, ESM_ANY, A_HANDLER);
	close(fd);
	return result;
}

static void refused_files(void)
{
	int event = eventfd(0, EFD_CLOEXEC);

	check_error(subscribe_opened(device.path, O_WRONLY), EBADF, "a device open for writing");
	check_error(subscribe_opened(device.path, O_PATH), EBADF, "a device that is not opened");
	check_error(subscribe_opened("/dev/null", O_RDONLY), EINVAL, "a file that is no device");
	check_error(subscribe_opened("/dev", O_RDONLY), EINVAL, "a folder");
	check_error(subscribe(event, EV_KEY, ESM_ANY, A_HANDLER), EINVAL, "an eventfd");
	check_error(subscribe(device.uinput, EV_KEY, ESM_ANY, A_HANDLER), EINVAL,
		    "the side of the device that sends");
	check(subscribe_opened(device.path, O_RDWR) == 0, "but a device open for both");
	close(event);
}

void case_refused_registrations(void)
{
	int fd;

	device_create(&device, "lull-esm-test");
	fd = device_open(&device, O_RDONLY);
	refused_values(fd);
	refused_sizes(fd);
	refused_files();
	device_destroy(&device);
}
