// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every CPU's chain of sleep, wake-up and work, in the order of time. Events
 * from outside keep their time, and so do timers, but for drifting ones: a
 * program that sleeps for 16 ms after each look sets its timer later if it was
 * woken later. The sleeps that such a timer ends are a stream of their own.
 * Whichever stream's next interrupt comes first ends a sleep, so that the order
 * of wake-ups may become another one. Work keeps its length, and what stopping
 * and starting the tick takes is added where the tick is stopped and started.
 * An IPI moves with its sender's work. A wake-up whose interrupt came while the
 * CPU was still at work is no sleep: its work follows at once. What power-off
 * costs is counted as the firmware counts it (firmware-patches, fvp_sleep.c).
 */
#include "chain.h"
#include "governors.h"

#define SLICES 8          /* LAT_SLICES of the firmware */
#define LONG_AGO (-(1LL << 60)) /* full caches */
#define WAY_IN_NS 8000    /* assumed: from the event of the entry to the firmware's part of it */

struct running {
	int64_t time;     /* of the next event: an entry, or the end of a sleep */
	int64_t shift;    /* of its work against the record */
	int64_t on;       /* since its caches were lost last */
	int64_t start;    /* of its sleep */
	int64_t tick;     /* when the tick ends its sleep, if nothing does before */
	int64_t flush, entry;
	int64_t stop;     /* what stopping the tick took on the way in */
	int64_t worked;   /* since its caches were lost last */
	int64_t ended;    /* its last sleep did */
	double used;      /* the part of the caches that its sleep loses */
	int head[CHAIN_STREAMS]; /* the next sleep of each stream */
	int near;         /* the last sleep that had begun by now in the record */
	int at, left, stopped, state, asleep, last;
};

struct domain {           /* a cluster */
	int64_t on;       /* since its cache was lost last; in the future while it comes on */
	int64_t off_at;
	int64_t worked;   /* by its CPUs, since its cache was lost last */
	int64_t lost;     /* the same, when it went off */
	double used;
	int off;
};

struct chain_replay {
	struct running runs[SHIM_CPUS];
	struct domain domains[SHIM_CPUS];
};

static int64_t longest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The part of a cache, in slices, that was filled since it was lost last. */
static double filled(double fill, int64_t since)
{
	int slices;

	if (fill <= 0 || since >= fill)
		return 1;
	slices = since <= 0 ? 0 : (int)(since * SLICES / fill) + 1;
	return (double)slices / SLICES;
}

/* The deepest state that is worth its trip for a sleep of this length. */
static int by_hindsight(const struct chain_cpu *cpu, const int64_t *ideal, int64_t length)
{
	int state = 0;

	for (int i = 1; i < cpu->state_count; i++)
		if (ideal[i] <= length)
			state = i;
	return state;
}

/* Whether the tick alone ended it. */
static int is_tick(const struct chain_sleep *sleep)
{
	return sleep->got_tick && sleep->beside == SHIM_NEVER;
}

/* When the timer was due that ended it, alone or with the tick. */
static int64_t timer_of(const struct chain_sleep *sleep)
{
	return sleep->got_tick ? sleep->beside : sleep->woken;
}

/* Whether the program has set the timer that ends a sleep. */
static int is_set(const struct chain_cpu *cpu, const struct chain_sleep *sleep)
{
	return sleep->set_after < 0 || cpu->shifts[sleep->set_after] != CHAIN_NOT_YET;
}

/* How much later than recorded a drifting timer is due. */
static int64_t drift(const struct chain_cpu *cpu, const struct chain_sleep *sleep)
{
	return sleep->set_after < 0 || !is_set(cpu, sleep) ? 0 : cpu->shifts[sleep->set_after];
}

/* Whether timers drift on a CPU, so that its entries may come at other times and in another order than recorded. */
static int drifts(const struct chain_cpu *cpu)
{
	return cpu->first[1] < cpu->count;
}

/* The recorded sleep at whose entry the timers that keep their time were those of now. */
static const struct chain_sleep *nearest(const struct chain_cpu *cpu, struct running *run)
{
	while (run->near + 1 < cpu->count &&
	       cpu->sleeps[run->near + 1].end - cpu->sleeps[run->near + 1].length <= run->time)
		run->near++;
	return &cpu->sleeps[run->near];
}

/* When a timer is due that keeps its time: recorded at the entry of a sleep, or at the nearest one if that is over. */
static int64_t still(const struct running *run, int64_t due, int64_t near)
{
	return due > run->time ? due : near > run->time ? near : SHIM_NEVER;
}

/* When the wheel's next timer is due, at the entry of a sleep. */
static int64_t next_wheel(const struct chain_cpu *cpu, struct running *run, const struct chain_sleep *sleep)
{
	return drifts(cpu) ? still(run, sleep->wheel, nearest(cpu, run)->wheel) : sleep->wheel;
}

/* When the first timer of high resolution is due, at the entry of a sleep. */
static int64_t first_hrtimer(const struct chain_cpu *cpu, struct running *run, const struct chain_sleep *sleep)
{
	int64_t due = sleep->fixed;
	int drifting = 0;

	if (!drifts(cpu))
		return sleep->hrtimer;
	due = still(run, sleep->fixed, nearest(cpu, run)->fixed);
	for (int s = 1; s < CHAIN_STREAMS; s++) {
		const struct chain_sleep *next = &cpu->sleeps[run->head[s]];

		if (run->head[s] >= cpu->count || !is_set(cpu, next))
			continue;
		drifting = 1;
		if (timer_of(next) + drift(cpu, next) < due)
			due = timer_of(next) + drift(cpu, next);
	}
	return drifting || sleep->hrtimer <= run->time ? due : sleep->hrtimer;
}

static int choose(int governor, const struct chain_cpu *cpu, int number, struct running *run, int64_t tick,
		  int64_t wheel, int *stop)
{
	const struct chain_sleep *sleep = &cpu->sleeps[run->at];
	struct shim_choice choice;
	struct shim_view view = {
		.clock = run->time,
		.now = run->time - sleep->lead,
		.tick = tick,
		.hrtimer = first_hrtimer(cpu, run, sleep),
		.wheel = wheel,
		.qos = sleep->qos,
		.stopped = run->stopped,
	};

	if (governor == CHAIN_AS_RECORDED || governor == CHAIN_RECORD || sleep->given) {
		*stop = sleep->stops;
		if (governor == CHAIN_AS_RECORDED || governor == CHAIN_RECORD)
			return sleep->state;
		return sleep->given == 2 || sleep->state > cpu->deepest ? cpu->deepest : sleep->state;
	}
	if (governor == CHAIN_BY_HINDSIGHT) { /* the state is chosen once the sleep's end is known */
		*stop = run->stopped || !sleep->kept;
		return 0;
	}
	if (sleep->kept && !run->stopped)
		view.wheel = view.now;
	shim_select(governor, number, &view, &choice);
	*stop = choice.stop_tick && !(view.wheel - view.now <= 0 && sleep->kept);
	return choice.state;
}

/* How much longer the way into a sleep takes if the tick is stopped there. */
static int64_t stopping(int governor, const struct chain_cpu *cpu, const struct chain_sleep *sleep, int stops)
{
	if (governor == CHAIN_RECORD)
		return sleep->stop;
	return !stops ? 0 : sleep->stop ? sleep->stop : cpu->stop;
}

/*
 * The work after a sleep, from `begin` on. A tick that is stopped is started
 * before a task runs. `tick` is when a tick is due that is not stopped: if the
 * CPU is still at work then, it handles the tick, too.
 */
static int64_t work_after(int governor, const struct chain_cpu *cpu, const struct chain_sleep *sleep, int *stopped,
			  int64_t begin, int64_t tick, int64_t period, struct chain_wake *wake)
{
	int64_t work = sleep->work, restart = 0;

	if (governor == CHAIN_RECORD || governor == CHAIN_AS_RECORDED) {
		*stopped = *stopped && !sleep->leaves;
		wake->ticking += sleep->restart;
		return work + sleep->restart + sleep->handled;
	}
	if (*stopped && sleep->leaves) {
		*stopped = 0;
		restart = sleep->restart ? sleep->restart : cpu->restart;
		tick = begin - begin % period + period;
	}
	wake->ticking += restart;
	work += restart;
	if (!*stopped && tick <= begin + work && !is_tick(sleep))
		work += sleep->handled ? sleep->handled : cpu->handled;
	return work;
}

/* When the interrupt comes that ends a sleep. */
static int64_t due(int governor, const struct chain_cpu *cpu, const struct running *runs,
		   const struct chain_sleep *sleep, int number)
{
	if (governor != CHAIN_RECORD && sleep->stream > 0) {
		int64_t timer = timer_of(sleep) + drift(cpu, sleep);

		/* It is handled with the tick, as recorded, if it is due before the tick's way out ends. */
		return !runs[number].stopped && sleep->got_tick && timer >= sleep->woken && timer <= sleep->end ?
			       sleep->woken : timer;
	}
	/* A tick that is stopped does not come before the timer that was handled with it. */
	if (governor != CHAIN_RECORD && runs[number].stopped && sleep->got_tick && !is_tick(sleep))
		return sleep->beside;
	if (sleep->sender >= 0 && sleep->sender != number)
		return sleep->woken + runs[sleep->sender].shift;
	return sleep->woken;
}

/* The sleep that ends next on a CPU: of all streams, the one whose interrupt comes first. */
static int upcoming(int governor, const struct chain_cpu *cpu, const struct running *runs, int number)
{
	const struct running *run = &runs[number];
	int64_t first = SHIM_NEVER;
	int found = cpu->count, least = cpu->count;

	for (int s = 0; s < CHAIN_STREAMS; s++) {
		int at = run->head[s];
		int64_t when;

		if (at >= cpu->count)
			continue;
		least = at < least ? at : least;
		if (!is_set(cpu, &cpu->sleeps[at]))
			continue;
		when = due(governor, cpu, runs, &cpu->sleeps[at], number);
		if (when < first || (when == first && at < found)) {
			first = when;
			found = at;
		}
	}
	return governor == CHAIN_RECORD || found >= cpu->count ? least : found;
}

/* The sleep `at` is over: its end was later than recorded by the shift of its CPU. */
static void advance(const struct chain_cpu *cpu, struct running *run)
{
	cpu->shifts[run->at] = run->shift;
	run->head[cpu->sleeps[run->at].stream] = cpu->sleeps[run->at].next;
	run->left--;
}

/* Whether all others of its cluster sleep as deeply as the cluster's sleep needs. */
static int is_last(const struct chain_cpu *all, const struct running *runs, int cpus, int number)
{
	for (int i = 0; i < cpus; i++) {
		/* Of a CPU whose last sleep was the last event, the record has no end. */
		int sleeps = runs[i].asleep || !runs[i].left;

		if (i == number || !all[i].count || all[i].cluster != all[number].cluster)
			continue;
		if (!sleeps || !all[i].states[runs[i].state].cluster_off)
			return 0;
	}
	return 1;
}

/* What the hardware takes to bring a CPU back, and whether its cluster has to come on before. */
static int64_t come_on(const struct chain_cpu *cpu, struct running *run, struct domain *domain, int64_t woken,
		       struct chain_wake *wake)
{
	const struct chain_state *state = &cpu->states[run->state];
	double refill;

	wake->refilled = wake->refilled_l2 = -1;
	if (state->keeps_caches) {
		wake->exit = state->exit;
		return wake->exit;
	}
	if (state->cluster_off && ((domain->off && woken >= domain->off_at) || woken < domain->on)) {
		wake->exit = state->exit;
		if (domain->off) {
			wake->cluster_off = woken - domain->off_at;
			domain->on = woken + wake->exit;
			wake->refilled_l2 = domain->lost;
			domain->worked = 0;
		}
		domain->off = 0;
		refill = domain->used * state->refill;
	} else {
		state = &cpu->states[state->alone];
		wake->exit = state->exit;
		refill = run->used * state->refill;
	}
	run->on = woken + wake->exit + (int64_t)refill;
	wake->refilled = run->worked;
	run->worked = 0;
	return wake->exit + (int64_t)refill;
}

size_t chain_size(void)
{
	return sizeof(struct chain_replay);
}

void chain_begin(struct chain_replay *replay, int cpus, const struct chain_cpu *all)
{
	struct running *runs = replay->runs;
	struct domain *domains = replay->domains;

	*replay = (struct chain_replay){ 0 };
	for (int i = 0; i < cpus; i++) {
		runs[i].time = all[i].begin;
		runs[i].stopped = all[i].stopped;
		runs[i].ended = all[i].begin;
		runs[i].on = domains[i].on = LONG_AGO;
		runs[i].worked = domains[i].worked = -LONG_AGO;
		runs[i].left = all[i].count;
		for (int s = 0; s < CHAIN_STREAMS; s++)
			runs[i].head[s] = all[i].first[s];
	}
}

int64_t chain_run(struct chain_replay *replay, int governor, int cpus, const struct chain_cpu *all, int64_t period,
		  int64_t room, struct chain_wake *wakes, const int64_t *ideal)
{
	struct running *runs = replay->runs;
	struct domain *domains = replay->domains;
	int64_t made = 0;

	for (;;) {
		const struct chain_cpu *cpu;
		const struct chain_sleep *sleep;
		const struct chain_state *costs;
		struct chain_wake *wake;
		struct running *run;
		struct domain *domain;
		int64_t tick, wheel, woken, end, work, hardware = 0;
		int number = -1, stop, stops, by_tick, given_up;

		for (int i = 0; i < cpus; i++)
			if (runs[i].left && (number < 0 || runs[i].time < runs[number].time))
				number = i;
		if (number < 0 || made == room)
			return made;
		cpu = &all[number];
		run = &runs[number];
		domain = &domains[cpu->cluster];
		run->at = upcoming(governor, cpu, runs, number);
		sleep = &cpu->sleeps[run->at];
		woken = due(governor, cpu, runs, sleep, number);

		if (!run->asleep) {
			if (woken < run->time - sleep->lead && sleep->woken >= sleep->end - sleep->length) {
				/* It came while the CPU was at work. */
				wake = &wakes[made++];
				*wake = (struct chain_wake){
					.start = run->time, .woken = woken, .end = run->time,
					.cpu = number, .state = -1, .sleep = run->at,
					.refilled = -1, .refilled_l2 = -1,
				};
				run->shift = run->time - sleep->end;
				run->time += work_after(governor, cpu, sleep, &run->stopped, run->time,
							run->time - run->time % period + period, period, wake);
				advance(cpu, run);
				continue;
			}
			wheel = next_wheel(cpu, run, sleep);
			tick = run->stopped ? wheel : run->time - run->time % period + period;
			run->state = choose(governor, cpu, number, run, tick, wheel, &stop);
			run->tick = SHIM_NEVER;

			/* The tick is let go unless a timer is due before the next one. A record says whether it was. */
			stops = !run->stopped && stop && (governor < 0 || !(wheel <= tick));
			run->stopped = run->stopped || stops;
			run->stop = stopping(governor, cpu, sleep, stops);
			run->start = run->time + run->stop;
			if (governor != CHAIN_RECORD && run->stopped) {
				while (sleep->only_tick && run->left > 1 && sleep->wheel > sleep->woken) {
					advance(cpu, run);
					run->at = upcoming(governor, cpu, runs, number);
					sleep = &cpu->sleeps[run->at];
				}
				woken = due(governor, cpu, runs, sleep, number);
			} else if (governor != CHAIN_RECORD) {
				run->tick = tick;
				woken = tick < woken ? tick : woken;
			}
			if (governor == CHAIN_BY_HINDSIGHT && !sleep->given)
				run->state = by_hindsight(cpu, &ideal[number * CHAIN_STATES], woken - run->start);

			costs = &cpu->states[run->state];
			run->last = costs->cluster_off && is_last(all, runs, cpus, number);
			if (!run->last)
				costs = &cpu->states[costs->alone];
			run->used = filled(costs->fill, run->start + WAY_IN_NS - (run->last ? domain->on : run->on));
			run->worked += run->start - run->ended;
			domain->worked += run->start - run->ended;
			run->flush = costs->fill > 0 ? run->used * costs->flush : costs->flush;
			run->entry = costs->entry;
			if (run->last) {
				domain->off = 1;
				domain->off_at = run->start + run->flush + run->entry;
				domain->used = run->used;
				domain->lost = domain->worked;
			}
			run->asleep = 1;
			run->time = longest(run->start, woken);
			continue;
		}

		by_tick = run->tick < woken;
		woken = by_tick ? run->tick : woken;
		if (woken > run->time) { /* the sender of its interrupt is later than it was */
			run->time = woken;
			continue;
		}
		given_up = woken < run->start + run->flush + run->entry && run->state > 0;
		if (governor == CHAIN_RECORD)
			given_up = sleep->refused;
		wake = &wakes[made++];
		wake->cpu = number;
		wake->start = run->start;
		wake->state = run->state;
		wake->sleep = run->at;
		wake->added = by_tick;
		wake->flush = run->flush;
		wake->entry = run->entry;
		wake->given_up = given_up;
		wake->woken = woken;
		wake->ticking = run->stop;
		/* Whoever wakes before the cluster is off keeps it on. */
		if (domain->off && (woken < domain->off_at || given_up))
			domain->off = 0;
		woken = longest(woken, run->start);
		if (given_up) {
			end = woken + cpu->states[run->state].given_up;
			wake->exit = 0;
			wake->refilled = wake->refilled_l2 = -1;
		} else {
			hardware = come_on(cpu, run, domain, woken, wake);
			/* The recorded way out, or the usual one of another state. */
			end = woken + hardware + (cpu->states[run->state].like == sleep->state && !by_tick ?
						  sleep->software : cpu->states[run->state].usual);
		}
		if (governor == CHAIN_RECORD)
			end = sleep->end;
		wake->end = end;
		wake->hardware = hardware;

		if (governor >= 0) {
			if (given_up)
				shim_rejected(number);
			else
				shim_reflect(governor, number, end, run->state,
					     longest(0, end - run->start - cpu->events),
					     by_tick || is_tick(sleep) ||
						     ((sleep->got_tick || sleep->late_tick) && !run->stopped));
		}
		work = by_tick ? cpu->tick_work :
				 work_after(governor, cpu, sleep, &run->stopped, end, run->tick, period, wake);
		run->asleep = 0;
		run->ended = end;
		run->time = end + work;
		if (!by_tick) {
			run->shift = end - sleep->end;
			advance(cpu, run);
		}
	}
}
