// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "random.h"
#include "scroll.h"

#define MAX_THREADS 64
#define RT_PRIORITY 10

static struct scroll load;
static pthread_t threads[MAX_THREADS];
static int started;
static atomic_bool stopping;
static sem_t to_render, to_raster;
static _Atomic uint64_t tiles_left, due_ns, frame_count, frame_sum_ns, frame_most_ns;

static void work(uint64_t steps)
{
	uint64_t value = 1;

	for (uint64_t i = 0; i < steps; i++)
		value = value * 6364136223846793005ULL + i;
	__asm__ volatile("" ::"r"(value));
}

static void sleep_until(uint64_t ns)
{
	const struct timespec at = clock_time(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

/* Handles input once a frame, and lets the frame be rendered. A frame that is late delays the next.
 */
static void *ui(void *argument)
{
	uint64_t next = clock_ns();

	(void)argument;
	while (!stopping) {
		uint64_t now;

		next += 1000 * load.frame_us;
		sleep_until(next);
		now = clock_ns();
		if (now > next + 1000 * load.frame_us)
			next = now;
		work(load.ui_steps);
		due_ns = next;
		sem_post(&to_render);
	}
	sem_post(&to_render);
	return NULL;
}

static void finish_frame(void)
{
	uint64_t took = clock_ns() - due_ns;

	frame_count++;
	frame_sum_ns += took;
	if (took > frame_most_ns)
		frame_most_ns = took;
}

static void *render(void *argument)
{
	(void)argument;
	for (;;) {
		while (sem_wait(&to_render))
			;
		if (!stopping)
			work(load.render_steps);
		tiles_left = load.raster_threads;
		for (uint64_t i = 0; i < load.raster_threads; i++)
			sem_post(&to_raster);
		if (stopping)
			return NULL;
		if (!load.raster_threads)
			finish_frame();
	}
}

static void *raster(void *argument)
{
	(void)argument;
	for (;;) {
		while (sem_wait(&to_raster))
			;
		if (stopping)
			return NULL;
		work(load.raster_steps);
		if (--tiles_left == 0)
			finish_frame();
	}
}

static void *background(void *argument)
{
	uint64_t seed = load.seed + (uint64_t)(uintptr_t)argument;

	while (!stopping) {
		sleep_until(clock_ns() + next_random(&seed) % (2000 * load.background_us));
		work(load.background_steps);
	}
	return NULL;
}

static void *realtime(void *argument)
{
	const struct sched_param priority = {.sched_priority = RT_PRIORITY};
	uint64_t next = clock_ns();

	(void)argument;
	sched_setscheduler(0, SCHED_FIFO, &priority);
	while (!stopping) {
		next += 1000 * load.rt_us;
		sleep_until(next);
		work(load.rt_steps);
	}
	return NULL;
}

static int start(void *(*run)(void *), uint64_t count)
{
	int error = 0;

	for (uint64_t i = 0; !error && i < count; i++) {
		if (started == MAX_THREADS)
			return -EAGAIN;
		error = pthread_create(&threads[started], NULL, run, (void *)(uintptr_t)i);
		started += !error;
	}
	return -error;
}

int scroll_start(const struct scroll *scroll)
{
	int error;

	load = *scroll;
	sem_init(&to_render, 0, 0);
	sem_init(&to_raster, 0, 0);
	error = start(raster, load.raster_threads);
	if (!error)
		error = start(render, 1);
	if (!error)
		error = start(ui, 1);
	if (!error)
		error = start(background, load.background_threads);
	if (!error)
		error = start(realtime, load.rt_threads);
	return error;
}

struct frames scroll_frames(void)
{
	return (struct frames){
		.count = atomic_exchange(&frame_count, 0),
		.sum_ns = atomic_exchange(&frame_sum_ns, 0),
		.most_ns = atomic_exchange(&frame_most_ns, 0),
	};
}

void scroll_stop(void)
{
	stopping = true;
	while (started)
		pthread_join(threads[--started], NULL);
}
