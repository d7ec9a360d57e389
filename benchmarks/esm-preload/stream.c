// SPDX-License-Identifier: BSD-3-Clause
#include "stream.h"

#include <errno.h>
#include <linux/input.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "esm.h"

/* Each with the end of its packet is one write, which a pipe takes whole. */
#define BATCH 64

#define NS 1000000000LL

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* What another clock shows when CLOCK_MONOTONIC shows 0; the best of three readings. */
static int64_t offset_ns(clockid_t clock)
{
	int64_t offset = 0, shortest = INT64_MAX;

	for (int i = 0; clock != CLOCK_MONOTONIC && i < 3; i++) {
		int64_t before = now_ns(CLOCK_MONOTONIC), now = now_ns(clock);
		int64_t after = now_ns(CLOCK_MONOTONIC);

		if (after - before < shortest) {
			shortest = after - before;
			offset = now - before - shortest / 2;
		}
	}
	return offset;
}

static struct input_event evdev_event(uint16_t type, uint16_t code, int32_t value, int64_t ns)
{
	return (struct input_event){
		.input_event_sec = (typeof(((struct input_event *)0)->input_event_sec))(ns / NS),
		.input_event_usec =
			(typeof(((struct input_event *)0)->input_event_usec))(ns % NS / 1000),
		.type = type,
		.code = code,
		.value = value,
	};
}

/* A gap is told as evdev tells it; what follows is whole, so the packet to skip is an empty one. */
static bool pass_on(struct stream *stream, const struct esm_event *events, long count)
{
	struct input_event out[2 * BATCH];
	int64_t offset = offset_ns(stream->clock);
	size_t used = 0;

	for (long i = 0; i < count; i++) {
		const struct esm_event *event = &events[i];
		int64_t ns = (int64_t)event->hardware_ns + offset;
		bool gap = event->flags & ESM_EVENT_OVERFLOW;

		out[used++] = gap ? evdev_event(EV_SYN, SYN_DROPPED, 0, ns)
				  : evdev_event(event->type, event->code, event->value, ns);
		if (gap || event->flags & ESM_EVENT_LAST)
			out[used++] = evdev_event(EV_SYN, SYN_REPORT, 0, ns);
	}
	return write(stream->pipe, out, used * sizeof(*out)) >= 0;
}

/* Where stream_end() may find the thread, besides in write(): it holds nothing there. */
static long wait_for_events(struct esm_event *events)
{
	long count;
	int before;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	count = esm_sys_wait(events, sizeof(*events), BATCH, 0, NULL);
	pthread_setcanceltype(before, NULL);
	return count;
}

/* Until the device is gone, the program reads no more, or stream_end(). */
static void *run(void *data)
{
	struct stream *stream = data;
	const struct esm_registration all = {
		.handler = 1, .fd = stream->device, .type = ESM_ANY, .code = ESM_ANY};
	struct esm_event events[BATCH];
	long count;

	prctl(PR_SET_NAME, "esm-preload");
	stream->error = esm_sys_register(&all, sizeof(all), 0) ? errno : 0;
	sem_post(&stream->ready);
	if (stream->error)
		return NULL;
	do {
		count = wait_for_events(events);
	} while (count > 0 ? pass_on(stream, events, count) : errno == EINTR);
	/* The program sees the end of the pipe. */
	close(stream->pipe);
	stream->pipe = -1;
	return NULL;
}

static int start_thread(struct stream *stream)
{
	sigset_t all, before;
	int error;

	/* Signals are the program's own threads'. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&stream->thread, NULL, run, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return error;
	while (sem_wait(&stream->ready))
		;
	if (stream->error)
		pthread_join(stream->thread, NULL);
	return stream->error;
}

struct stream *stream_start(int device, int pipe)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int error;

	if (!stream)
		return NULL;
	stream->device = device;
	stream->pipe = pipe;
	stream->clock = CLOCK_REALTIME;
	stream->owner = getpid();
	sem_init(&stream->ready, 0, 0);
	error = start_thread(stream);
	if (!error)
		return stream;
	sem_destroy(&stream->ready);
	free(stream);
	errno = error;
	return NULL;
}

void stream_end(struct stream *stream)
{
	if (stream->owner == getpid()) {
		pthread_cancel(stream->thread);
		pthread_join(stream->thread, NULL);
	}
	if (stream->pipe >= 0)
		close(stream->pipe);
	close(stream->device);
	sem_destroy(&stream->ready);
	free(stream);
}
