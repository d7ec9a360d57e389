// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every CPU's chain of sleep, wake-up and work, in the order of time. Timers
 * and events from outside keep their time. Work keeps its length. An IPI moves
 * with its sender's work. A wake-up whose interrupt came while the CPU was
 * still at work is no sleep: its work follows at once.
 */
#include "chain.h"
#include "governors.h"

struct running {
	int64_t time;    /* of the next entry */
	int64_t shift;   /* of its work against the record */
	int64_t active;  /* since the caches were lost */
	int64_t until;   /* the end of the last sleep */
	int at, stopped, state;
};

static int64_t longest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The deepest state that is worth its trip for a sleep until then. */
static int by_hindsight(const struct chain_cpu *cpu, const int64_t *ideal, int64_t length)
{
	int state = 0;

	for (int i = 1; i < cpu->state_count; i++)
		if (ideal[i] <= length)
			state = i;
	return state;
}

static int choose(int governor, const struct chain_cpu *cpu, int number, struct running *run, int64_t tick, int *stop)
{
	const struct chain_sleep *sleep = &cpu->sleeps[run->at];
	struct shim_choice choice;
	struct shim_view view = {
		.clock = run->time,
		.now = run->time - sleep->lead,
		.tick = tick,
		.hrtimer = sleep->hrtimer,
		.wheel = sleep->wheel,
		.qos = sleep->qos,
		.stopped = run->stopped,
	};

	if (governor == -1) {
		*stop = sleep->stops;
		return sleep->state;
	}
	if (governor == -2) { /* the state is chosen once the sleep's end is known */
		*stop = 1;
		return 0;
	}
	if (sleep->kept && !run->stopped)
		view.wheel = view.now;
	shim_select(governor, number, &view, &choice);
	*stop = choice.stop_tick && !(view.wheel - view.now <= 0 && sleep->kept);
	return choice.state;
}

int64_t chain_run(int governor, int cpus, const struct chain_cpu *all, int64_t period, int64_t room,
		  struct chain_wake *wakes, const int64_t *ideal)
{
	struct running runs[SHIM_CPUS] = { 0 };
	int64_t made = 0;

	for (int i = 0; i < cpus; i++) {
		runs[i].time = all[i].begin;
		runs[i].stopped = all[i].stopped;
		runs[i].state = -1;
		runs[i].active = 1LL << 40;
	}
	for (;;) {
		const struct chain_cpu *cpu;
		const struct chain_sleep *sleep;
		const struct chain_state *costs, *leaving;
		struct chain_wake *wake;
		struct running *run;
		int64_t tick, woken, asleep, end, work;
		int number = -1, state, stop, last = 1, first = 1, by_tick = 0;
		double share;

		for (int i = 0; i < cpus; i++)
			if (runs[i].at < all[i].count && (number < 0 || runs[i].time < runs[number].time))
				number = i;
		if (number < 0)
			return made;
		if (made == room)
			return -1;
		cpu = &all[number];
		run = &runs[number];
		sleep = &cpu->sleeps[run->at];

		woken = sleep->woken;
		if (sleep->sender >= 0 && sleep->sender != number)
			woken += runs[sleep->sender].shift;
		if (woken < run->time - sleep->lead && sleep->woken >= sleep->end - sleep->length) {
			/* It came while the CPU was at work. */
			wakes[made++] = (struct chain_wake){
				.start = run->time, .woken = woken, .end = run->time,
				.cpu = number, .state = -1, .sleep = run->at,
			};
			run->shift = run->time - sleep->end;
			run->time += sleep->work;
			run->active += sleep->work;
			run->stopped = run->stopped && !sleep->leaves;
			run->at++;
			continue;
		}
		tick = run->stopped ? (sleep->wheel < SHIM_NEVER ? sleep->wheel : SHIM_NEVER)
				    : run->time - run->time % period + period;
		state = choose(governor, cpu, number, run, tick, &stop);

		/* The tick is let go unless a timer is due before the next one. */
		if (!run->stopped && stop && !(sleep->wheel <= tick))
			run->stopped = 1;
		if (run->stopped)
			while (sleep->only_tick && run->at + 1 < cpu->count && sleep->wheel > sleep->woken) {
				sleep = &cpu->sleeps[++run->at];
				woken = sleep->woken;
				if (sleep->sender >= 0 && sleep->sender != number)
					woken += runs[sleep->sender].shift;
			}
		else if (tick < woken) {
			woken = tick;
			by_tick = 1;
		}
		if (governor == -2)
			state = by_hindsight(cpu, &ideal[number * CHAIN_STATES], woken - run->time);

		for (int i = 0; i < cpus; i++) {
			if (i == number || all[i].cluster != cpu->cluster)
				continue;
			last &= runs[i].state >= 0 && runs[i].until > run->time &&
				all[i].states[runs[i].state].cluster_off;
		}
		costs = &cpu->states[state];
		if (costs->cluster_off && !last)
			costs = &cpu->states[state - 1 > 0 ? state - 1 : 0];
		share = costs->fill > 0 ? run->active / costs->fill : 0;
		share = share > 1 ? 1 : share;
		wake = &wakes[made++];
		wake->cpu = number;
		wake->start = run->time;
		wake->state = state;
		wake->sleep = run->at;
		wake->added = by_tick;
		wake->cluster_off = costs->cluster_off;
		wake->flush = share * costs->flush;
		wake->entry = costs->entry;
		asleep = run->time + wake->flush + wake->entry;
		wake->given_up = woken < asleep && state > 0;
		wake->woken = woken;
		if (wake->given_up) {
			end = longest(run->time, woken) + cpu->states[state].given_up;
			wake->exit = 0;
		} else {
			woken = longest(woken, run->time);
			for (int i = 0; i < cpus; i++) {
				if (i == number || all[i].cluster != cpu->cluster)
					continue;
				first &= runs[i].state >= 0 && runs[i].until > woken &&
					 all[i].states[runs[i].state].cluster_off;
			}
			leaving = &cpu->states[state];
			if (leaving->cluster_off && !first)
				leaving = &cpu->states[state - 1 > 0 ? state - 1 : 0];
			wake->exit = leaving->exit;
			/* The recorded way out, or the usual one of another state. */
			end = woken + wake->exit + (int64_t)(share * leaving->refill) +
			      (state == sleep->state && !by_tick ? sleep->software : cpu->states[state].usual);
		}
		wake->end = end;

		work = by_tick ? cpu->tick_work : sleep->work;
		if (governor >= 0) {
			if (wake->given_up)
				shim_rejected(number);
			else
				shim_reflect(governor, number, end, state, end - run->time,
					     by_tick || sleep->got_tick);
		}
		run->state = state;
		run->until = end;
		run->active = cpu->states[state].keeps_caches || wake->given_up ? run->active + work : work;
		run->time = end + work;
		if (!by_tick) {
			run->shift = end - sleep->end;
			if (sleep->leaves)
				run->stopped = 0;
			run->at++;
		}
	}
}
