// SPDX-License-Identifier: BSD-3-Clause
#include "calls.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "esm.h"

/* More than any test expects to be there. */
#define TAKEN_MAX 512

int call_register(const struct esm_registration *what, size_t size, unsigned int flags)
{
	long result = esm_sys_register(what, size, flags);

	return result < 0 ? -errno : (int)result;
}

int call_wait(void *events, size_t event_size, unsigned int count, unsigned int flags)
{
	long result = esm_sys_wait(events, event_size, count, flags, NULL);

	return result < 0 ? -errno : (int)result;
}

int call_wait_until(struct esm_event *events, unsigned int count, unsigned int flags,
		    const struct __kernel_timespec *until)
{
	long result = esm_sys_wait(events, sizeof(*events), count, flags | ESM_WAIT_UNTIL, until);

	return result < 0 ? -errno : (int)result;
}

int call_fd(unsigned int flags)
{
	long result = syscall(ESM_NR_FD, flags);

	return result < 0 ? -errno : (int)result;
}

int subscribe(int fd, uint16_t type, uint16_t code, uint64_t handler)
{
	const struct esm_registration what = {
		.handler = handler, .fd = fd, .type = type, .code = code};

	return call_register(&what, sizeof(what), 0);
}

int unsubscribe(int fd, uint16_t type, uint16_t code)
{
	return subscribe(fd, type, code, 0);
}

int take(struct esm_event *events, unsigned int count)
{
	return call_wait(events, sizeof(*events), count, ESM_WAIT_NONBLOCK);
}

bool events_are(const struct esm_event *events, int count, const struct want *want,
		size_t want_count)
{
	bool right = count == (int)want_count;

	for (int i = 0; i < count && i < (int)want_count; i++)
		right &= events[i].handler == want[i].handler && events[i].type == want[i].type &&
			 events[i].code == want[i].code && events[i].value == want[i].value &&
			 events[i].flags == want[i].flags;
	for (int i = 0; !right && i < count; i++)
		note("event %d of %d: handler %#llx type %u code %u value %d flags %#x", i + 1,
		     count, (unsigned long long)events[i].handler, events[i].type, events[i].code,
		     events[i].value, events[i].flags);
	if (!right)
		note("%d came, %zu were expected", count, want_count);
	return right;
}

bool check_received(const char *text, const struct want *want, size_t count)
{
	static struct esm_event events[TAKEN_MAX];
	int taken = take(events, TAKEN_MAX);

	if (taken < 0)
		note("esm_wait: %s", strerror(-taken));
	return check(events_are(events, taken < 0 ? 0 : taken, want, count), "%s", text);
}

bool check_nothing(const char *text)
{
	struct esm_event event;
	int taken = take(&event, 1);

	if (taken > 0)
		events_are(&event, taken, NULL, 0);
	return check(taken == -EAGAIN, "%s", text);
}

bool check_error(int result, int error, const char *text)
{
	if (result != -error)
		note("it was %d, %s", result, result < 0 ? strerror(-result) : "no error");
	return check(result == -error, "%s: %s", text, strerror(error));
}

void must(int result, const char *what)
{
	if (result < 0)
		give_up("%s: %s", what, strerror(-result));
}
