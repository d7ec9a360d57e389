/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the Event Stream Model know of each other; README.md tells
 * how they work together.
 */
#ifndef _LULL_ESM_H
#define _LULL_ESM_H

#include <linux/bits.h>
#include <linux/input.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

#include "esm_abi.h"
#include "esm_evdev.h"
#include "esm_fifo.h"
#include "esm_source.h"

struct esm_application;
struct esm_pollable;
struct file;
struct kobject;
struct pid;
struct task_struct;
struct ucounts;

/* Bounds of the work that one packet makes in an interrupt. */
#define ESM_REGISTRATIONS	64	/* of one task at one source */
#define ESM_FOREGROUND		16	/* processes */
#define ESM_THREADS		16	/* registered tasks of one process */

#define ESM_FIFO_MIN		8
#define ESM_FIFO_MAX		65536

/*
 * Protects all lists, who is in the foreground, and whether the system is on.
 * Whoever exits takes it: nothing under it allocates memory, runs a driver's
 * code or waits for a grace period.
 */
extern struct mutex esm_mutex;
extern bool esm_on;

/**
 * struct esm_match - one registration
 * @key: type and code, in the order in which a table is sorted
 * @handler: what the task wants to be given back
 * @file: what it was made with; NULL if with a number
 * @reader: who would read through @file
 */
struct esm_match {
	u32 key;
	u64 handler;
	struct file *file;
	struct esm_reader *reader;
};

/**
 * struct esm_matches - all registrations of one task at one source
 * @types: a bit for each type that may match
 * @count: how many there are
 * @match: sorted by key
 */
struct esm_matches {
	u32 types;
	unsigned int count;
	struct esm_match match[ESM_REGISTRATIONS];
};

static inline u32 esm_key(u16 type, u16 code)
{
	return (u32)type << 16 | code;
}

struct esm_match *esm_matches_exact(struct esm_matches *matches, u32 key);
const struct esm_match *esm_matches_find(struct esm_matches *matches, u16 type, u16 code,
					 const struct esm_reader *only);
struct esm_match *esm_matches_insert(struct esm_matches *matches, u32 key);
void esm_matches_remove(struct esm_matches *matches, struct esm_match *match);

/**
 * struct esm_source - what raises events
 * @number: its name for programs, from 1, never used twice
 * @name: its name for people
 * @irq: the interrupt that brings its events, 0 if not known
 * @node: in esm_sources
 * @active: subscriptions of applications in the foreground; read under RCU
 * @subscriptions: how many there are, active or not
 * @consumer: the CPU that its interrupt was told its events are for, or -1
 * @numbered: registrations that were made by its number, and those on their way
 * @handle: of an input device, which is open while @numbered; NULL if a driver pushes
 * @ref: the memory, which outlives @node while somebody registers by number
 * @files: registrations that were made with a file; changed between two packets
 * @packets: number of the last packet; its pushers are serialised
 *
 * @node to @numbered under esm_mutex.
 */
struct esm_source {
	u32 number;
	const char *name;
	unsigned int irq;
	struct list_head node;
	struct list_head active;
	unsigned int subscriptions;
	int consumer;
	unsigned int numbered;
	struct input_handle *handle;
	struct kref ref;
	unsigned int files;
	u64 packets;
};

/**
 * struct esm_subscription - that an application receives from a source
 * @application: who
 * @source: from whom
 * @of_application: in its list
 * @active: in the source's list while @is_active; read under RCU
 * @is_active: whether the application is in the foreground
 * @matches: what; changed under esm_mutex and the application's lock
 * @rcu: for the end
 */
struct esm_subscription {
	struct esm_application *application;
	struct esm_source *source;
	struct list_head of_application;
	struct list_head active;
	bool is_active;
	struct esm_matches matches;
	struct rcu_head rcu;
};

/**
 * struct esm_application - a task that receives events
 * @task: the task, which lives longer
 * @process: its thread group
 * @dispatcher: the thread that hands over; NULL if interrupts do
 * @charged: whose process @dispatcher counts as
 * @lock: protects what follows down to @registrations
 * @fifo: what waits for it
 * @waiting: it is in EV_WAIT and has not been handed anything
 * @dispatching: @dispatcher has been told to look
 * @pollable: what its files of esm_fd() have in common; NULL if it has none
 * @registrations: at all sources
 * @node: in esm_applications, and from here on under esm_mutex
 * @subscriptions: one for each source
 * @foreground: whether it may receive now; also read without the mutex
 * @consumer_cpu: the CPU that it last told routing of, which only the task itself uses
 * @consumer_generation: when it did
 * @rcu: for the end
 */
struct esm_application {
	struct task_struct *task;
	struct pid *process;
	struct task_struct *dispatcher;
	struct ucounts *charged;

	raw_spinlock_t lock; /* see above */
	struct esm_fifo fifo;
	bool waiting;
	bool dispatching;
	struct esm_pollable *pollable;
	unsigned int registrations;

	struct list_head node;
	struct list_head subscriptions;
	bool foreground;
	int consumer_cpu;
	unsigned int consumer_generation;
	struct rcu_head rcu;
};

/**
 * struct esm_packet - what the interpreter tells of the packet it has before it
 */
struct esm_packet {
	struct esm_source *source;
	u64 number;
	u64 hardware_ns;
	u64 kernel_ns;
	const struct input_value *values;
	unsigned int count;
	u32 types;
	const struct esm_reader *only;
};

extern struct list_head esm_applications;
extern struct list_head esm_sources;

/* esm.c */
extern unsigned int esm_fifo_size;

/* esm_application.c */
int esm_application_create(void);
void esm_application_wake(struct esm_application *application);
void esm_application_resume(struct esm_application *application);
void esm_application_push(struct esm_application *application, const struct esm_packet *packet);
int esm_application_wait(struct esm_application *application, bool block, ktime_t *until);
unsigned int esm_application_peek(struct esm_application *application, struct esm_event *events,
				  unsigned int count);
void esm_application_drop(struct esm_application *application, unsigned int count);
bool esm_application_idle(struct esm_application *application);

/* esm_dispatch.c */
extern struct kobj_attribute esm_dispatch_attr;
extern struct kobj_attribute esm_dispatcher_cpus_attr;
void esm_dispatch_init(void);
int esm_dispatcher_start(struct esm_application *application);
bool esm_dispatcher_run(struct esm_application *application);
void esm_dispatcher_stop(struct esm_application *application);
void esm_dispatch(struct esm_application *application);
void esm_hand_over(struct esm_application *application);

/* esm_fd.c */
void esm_pollable_notify(struct esm_application *application);
void esm_pollable_end(struct esm_application *application);

/* esm_consumer.c */
void esm_consumer_changed(void);
void esm_consumer_set(struct esm_source *source, int cpu);
bool esm_consumer_told(const struct esm_application *application);
void esm_consumer_here(struct esm_application *application);

/* esm_debug.c */
void esm_debug_init(void);

/* esm_subscription.c */
int esm_may_subscribe(const struct esm_application *application, const struct pid *process,
		      const struct esm_source *source, u32 key);
int esm_subscribe(struct esm_application *application, struct esm_source *source,
		  struct esm_subscription **spare, const struct esm_match *now);
int esm_unsubscribe(struct esm_application *application, struct esm_source *source, u32 key);
void esm_subscriptions_end(struct esm_application *application, const struct esm_source *source,
			   const struct esm_reader *reader);
void esm_subscription_activate(struct esm_subscription *subscription, bool active);

/* esm_source.c */
void esm_source_add(struct esm_source *source);
void esm_source_silence(struct esm_source *source);
void esm_source_remove(struct esm_source *source);
struct esm_source *esm_source_by_number(u32 number);
struct esm_source *esm_source_by_device(const struct input_dev *dev);
void esm_source_reserve(struct esm_source *source);
void esm_source_release(struct esm_source *source);
void esm_source_put(struct esm_source *source);

/* esm_input.c */
int esm_input_open(struct esm_source *source);
void esm_input_close(struct esm_source *source);
void esm_input_free(struct kref *ref);
int esm_input_register(void);
void esm_input_unregister(void);

/* esm_foreground.c */
extern struct kobj_attribute esm_foreground_attr;
bool esm_foreground_has(const struct pid *process);

#endif /* _LULL_ESM_H */
