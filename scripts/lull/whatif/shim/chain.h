/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded run, and what would have become of it with other idle states. Times are nanoseconds. */
#ifndef LULL_CHAIN_H
#define LULL_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#define CHAIN_STATES 10
#define CHAIN_STREAMS 9  /* of a CPU: stream 0, and a timer each */
#define CHAIN_NOT_YET INT64_MIN

/* In place of a governor. */
#define CHAIN_AS_RECORDED -1
#define CHAIN_BY_HINDSIGHT -2
#define CHAIN_RECORD -3 /* each sleep ends as recorded: only the hardware's part of it is asked for */

/* A recorded sleep, with the work that follows it. */
struct chain_sleep {
	int64_t lead;       /* from `now` of the choice to the entry, but for `stop` */
	int64_t hrtimer;    /* when the first timer of high resolution is due */
	int64_t fixed;      /* the same of those that keep their time; NEVER without one */
	int64_t wheel;      /* when the wheel's is */
	int64_t qos;
	int64_t woken;      /* when the interrupt came that ended it */
	int64_t end, length;
	int64_t software;   /* the way out without the hardware's part */
	int64_t work;       /* from the end to the next entry, but for what the tick took */
	int64_t stop;       /* what stopping the tick took on the way in; 0 if it was not stopped there */
	int64_t restart;    /* what starting the tick took on the way out; 0 if it was not started there */
	int64_t handled;    /* what handling the tick took until the next entry, if it was not the reason of the wake-up */
	int64_t beside;     /* when the timer was due that was handled with the tick; NEVER without one */
	int32_t set_after;  /* the sleep in whose work a program set the drifting timer that ended it, or -1 */
	int32_t next;       /* the next sleep of its stream, or `count` */
	int8_t state;
	int8_t sender;      /* the CPU whose IPI ended it, or -1 */
	int8_t only_tick;   /* the tick ended it, and nothing else was done */
	int8_t got_tick;
	int8_t late_tick;   /* the tick's handler ran in a later interrupt, but before a task did */
	int8_t leaves;      /* a task ran after it */
	int8_t kept;        /* the kernel kept the tick, whatever the governor said */
	int8_t stops;       /* the tick was stopped for it */
	int8_t by_timer;    /* a timer other than the tick ended it */
	int8_t refused;     /* by the hardware */
	int8_t given;       /* nobody chooses it again: 1, or 2 if it is in the deepest state allowed */
	int8_t stream;      /* 0, or the number of the drifting timer that ended it */
};

struct chain_state {
	double entry, exit, flush, refill, fill;
	int32_t cluster_off;
	int32_t keeps_caches;
	int32_t alone;      /* the state whose costs are paid while the cluster stays on */
	int32_t like;       /* the recorded state of its kind, whose way out the software has */
	int64_t usual;      /* the software's part of the way out, median */
	int64_t given_up;   /* a sleep that was given up, median */
};

struct chain_cpu {
	const struct chain_sleep *sleeps;
	int32_t count;
	int32_t cluster;
	int32_t stopped;    /* the tick is, at the first sleep */
	int32_t state_count;
	int32_t deepest;    /* state allowed */
	int64_t begin;      /* the first entry, but for `stop` */
	int64_t tick_work;  /* the usual work of a tick */
	int64_t stop;       /* what stopping the tick takes, where it was not stopped in the record */
	int64_t restart;    /* the same for starting it */
	int64_t handled;    /* the same for handling it in a wake-up that has another reason */
	int64_t events;     /* the part of each sleep that the kernel does not measure */
	struct chain_state states[CHAIN_STATES];
	int32_t first[CHAIN_STREAMS]; /* sleep of each stream, or `count` */
	int64_t *shifts;    /* of each sleep's end against the record, once it has ended */
};

struct chain_wake {
	int64_t start, woken, end;
	int64_t flush, entry, exit; /* of the hardware */
	int64_t hardware;   /* the way out: exit and refill; the rest is software */
	int64_t ticking;    /* what stopping the tick took before the sleep, and starting it after */
	int32_t cpu;
	int32_t state;      /* -1: the interrupt came while the CPU was at work */
	int32_t sleep;      /* the recorded one */
	int32_t given_up;   /* the interrupt came on the way in */
	int32_t added;      /* the tick ended it, as it did not in the record */
	int64_t cluster_off; /* how long the cluster was, before this CPU brought it back */
	int64_t refilled;    /* the CPU's work since its caches were lost before this sleep; -1: they were kept */
	int64_t refilled_l2; /* the same of the cluster's CPUs and its L2 */
};

struct chain_replay;      /* how far it is */

size_t chain_size(void);
void chain_begin(struct chain_replay *replay, int cpus, const struct chain_cpu *all);

/*
 * Returns the number of wake-ups. If that is `room`, more may follow at the next
 * call. The governor by hindsight needs `ideal`, the least sleep for which each
 * state of a CPU is worth its trip.
 */
int64_t chain_run(struct chain_replay *replay, int governor, int cpus, const struct chain_cpu *all, int64_t period,
		  int64_t room, struct chain_wake *wakes, const int64_t *ideal);

#endif
