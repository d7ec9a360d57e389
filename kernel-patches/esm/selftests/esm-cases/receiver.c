// SPDX-License-Identifier: BSD-3-Clause
#include "receiver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "random.h"

#define EVENTS_AT_ONCE 32

void receiver_fail(struct receiver *self, const char *format, ...)
{
	va_list arguments;

	if (self->failed)
		return;
	va_start(arguments, format);
	vsnprintf(self->failure, sizeof(self->failure), format, arguments);
	va_end(arguments);
	self->failed = true;
}

/* untold: what was lost and told of, and has not been missed yet. */
static void look_at(struct receiver *self, const uint32_t *numbers, const struct esm_event *event,
		    int64_t *untold)
{
	uint64_t last, source = event->handler - 1;

	if (event->flags & ESM_EVENT_OVERFLOW) {
		*untold += event->value;
		self->overflows++;
		self->lost += (uint64_t)event->value;
		return;
	}
	if (source >= SOURCES || event->source != numbers[source]) {
		receiver_fail(self, "an event of source %u has handler %llu", event->source,
			      (unsigned long long)event->handler);
		return;
	}
	last = self->last[source];
	if (event->packet <= last)
		receiver_fail(self, "packet %llu comes after %llu",
			      (unsigned long long)event->packet, (unsigned long long)last);
	*untold -= (int64_t)(event->packet - last - 1);
	if (source != INJECTED && (uint64_t)event->value != event->packet)
		receiver_fail(self, "packet %llu has value %d", (unsigned long long)event->packet,
			      event->value);
	self->last[source] = event->packet;
	self->received++;
}

int64_t receive(struct receiver *self, const uint32_t *numbers, const _Atomic bool *all_sent,
		uint64_t seed, bool counts)
{
	struct esm_event events[EVENTS_AT_ONCE];
	int64_t untold = 0;
	bool over = false;

	while (!self->failed) {
		unsigned int count = 1 + (unsigned int)(next_random(&seed) % EVENTS_AT_ONCE);
		int taken;

		/* What is sent before it is over is there then. */
		over = over || *all_sent;
		taken = call_wait(events, sizeof(events[0]), count, over ? ESM_WAIT_NONBLOCK : 0);
		if (taken == -EAGAIN && over)
			break;
		if (taken == -EINTR)
			self->signals++;
		else if (taken <= 0)
			receiver_fail(self, "esm_wait: %s", strerror(-taken));
		for (int i = 0; i < taken; i++) {
			look_at(self, numbers, &events[i], &untold);
			if (counts && untold < 0)
				receiver_fail(self, "a loss before packet %llu is not told",
					      (unsigned long long)events[i].packet);
		}
	}
	return untold;
}
