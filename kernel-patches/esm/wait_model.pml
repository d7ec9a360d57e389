/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * esm_wait() against all who may come in between, in every order of their
 * steps: two interrupts that bring packets, the dispatcher thread (-DTHREAD),
 * a signal, the foreground that leaves and comes back, and a device that
 * goes away.
 *
 *	spin -a [-DTHREAD] wait_model.pml && cc -DSAFETY -o pan pan.c && ./pan
 *
 * What is proved: when nobody can move any more, the application has got all
 * that was queued for it, and if it has no registration left, it has been told;
 * and what it got of each source was each packet once, in order.
 *
 * A critical section is one step up to where it touches a second time what
 * others touch without the lock: the states of the two tasks, whether a signal
 * is pending, and the foreground. One source raises two packets, the other one;
 * with -DTHREAD there is only the first, to keep this below a minute.
 *
 * -DMUTANT=n breaks the code in one place. Each must be found:
 *	1  the queue is looked at without the lock
 *	2  the task's state is set after the lock is released
 *	3  events leave the queue before they are copied
 *	4  the end of the last registration wakes nobody
 *	5  the dispatcher looks before it sets its own state (-DTHREAD)
 *	6  the return to the foreground does not dispatch (-DTHREAD)
 *
 * The size of the queue is no matter here: esm_fifo_test.c is about that.
 */
#ifndef MUTANT
#define MUTANT 0
#endif

#define SOURCES 2
#define PACKETS 2
#define ROOM (SOURCES * PACKETS)

mtype = { RUNNING, EV_WAIT, IDLE };

/* application->lock and what it protects */
bool locked;
byte queue[ROOM];
byte queued;
bool waiting;
bool dispatching;
bool registered = true;

/* application->foreground, and that its subscriptions are on the lists */
bool foreground = true;
bool listed = true;

mtype task = RUNNING;
mtype dispatcher = RUNNING;
bool signalled;
bool told;			/* that there is nothing to wait for */

byte accepted[SOURCES];		/* the last packet that was queued, from 1 */
byte delivered[SOURCES];

inline lock()
{
	atomic { !locked -> locked = true }
}

inline unlock()
{
	locked = false
}

inline hand_over()
{
	waiting = false;
	/* wake_up_state(task, TASK_EV_WAIT) */
	atomic {
		if
		:: task == EV_WAIT -> task = RUNNING
		:: else
		fi
	}
}

inline dispatch()
{
	if
	:: waiting ->
#ifdef THREAD
		dispatching = true;
		atomic {
			if
			:: dispatcher == IDLE -> dispatcher = RUNNING
			:: else
			fi
		}
#else
		hand_over()
#endif
	:: else
	fi
}

/* esm_interpret() */
proctype interrupt(byte source)
{
	byte packet = 1;

	do
	:: packet <= PACKETS - source ->
		if
		:: listed ->
			atomic {
				lock();
				if
				:: registered ->
					queue[queued] = source * PACKETS + packet - 1;
					queued++;
					accepted[source] = packet;
					dispatch()
				:: else
				fi;
				unlock()
			}
		:: else		/* discarded */
		fi;
		packet++
	:: else -> break
	od
}

#ifdef THREAD
/* esm_dispatcher(); it ends with the application, which is not looked at here */
proctype dispatcher_thread()
{
	bool work, allowed;

	do
	:: true ->
#if MUTANT != 5
		dispatcher = IDLE;
#endif
		atomic {
			lock();
			work = dispatching;
			dispatching = false;
			allowed = foreground
		};
		atomic {
			if
			:: work && waiting && allowed -> hand_over()
			:: else
			fi;
			unlock()
		};
#if MUTANT == 5
		dispatcher = IDLE;
#endif
		if
		:: work
		:: else ->	/* schedule() */
end_idle:		dispatcher == RUNNING
		fi
	od
}
#endif

/* A signal, perhaps: pending first, then signal_wake_up(). */
proctype signal()
{
	if
	:: true -> goto end
	:: true
	fi;

	signalled = true;
	atomic {
		if
		:: task == EV_WAIT -> task = RUNNING
		:: else
		fi
	};
end:	skip
}

/* foreground_store(), perhaps, and then twice: away and back */
proctype session()
{
	if
	:: true -> goto end
	:: true
	fi;

	foreground = false;
	listed = false;

	foreground = true;
	listed = true;
#if MUTANT != 6
	atomic {
		lock();
		if
		:: queued -> dispatch()
		:: else
		fi;
		unlock()
	};
#endif
end:	skip
}

/* esm_subscriptions_end(), perhaps */
proctype removal()
{
	if
	:: true -> goto end
	:: true
	fi;

	atomic {
		lock();
		registered = false;
		unlock()
	};
	listed = false;
#if MUTANT != 4
	atomic {
		lock();
		if
		:: waiting -> hand_over()
		:: else
		fi;
		unlock()
	};
#endif
end:	skip
}

inline deliver(event)
{
	assert(event % PACKETS + 1 > delivered[event / PACKETS]);
	delivered[event / PACKETS] = event % PACKETS + 1
}

inline drop()
{
	d_step {
		index = 1;
		do
		:: index < queued -> queue[index - 1] = queue[index]; index++
		:: else -> break
		od;
		queued--;
		queue[queued] = 0;
		index = 0
	}
}

/* A program that calls esm_wait() until it is told that there is nothing more. */
active proctype application()
{
	byte event, index;
	bool wait;

call:	/* esm_application_wait() */
#if MUTANT == 1
	wait = queued == 0 && registered && !signalled;
	atomic {
		lock();
		waiting = wait
	};
#else
	atomic {
		lock();
		waiting = queued == 0 && registered && !signalled
	};
#endif
	if
	:: waiting ->
#if MUTANT == 2
		unlock();
		task = EV_WAIT;
#else
		atomic {
			task = EV_WAIT;
			unlock()
		};
#endif
		/* schedule() */
		atomic {
			if
			:: signalled -> task = RUNNING
			:: else
			fi
		};
end_wait:	task == RUNNING;
		goto call
	:: else
	fi;
	if
	:: queued -> unlock()
	:: !queued && !registered -> unlock(); told = true; goto end
	:: else -> unlock(); signalled = false; goto call	/* EINTR */
	fi;

	/* esm_deliver() */
	atomic {
		lock();
		event = queue[0];
#if MUTANT == 3
		drop();
#endif
		unlock()
	};
	if
	:: deliver(event)
	:: goto call		/* EFAULT */
	fi;
#if MUTANT != 3
	atomic {
		lock();
		drop();
		unlock()
	};
#endif
	event = 0;
	goto call;
end:	skip
}

init
{
	atomic {
		run interrupt(0);
#ifndef THREAD
		run interrupt(1);
#endif
		run signal();
		run session();
		run removal();
#ifdef THREAD
		run dispatcher_thread();
#endif
	};

	/* Nobody else can move. */
	timeout;
	assert(!queued);
	assert(delivered[0] == accepted[0] && delivered[1] == accepted[1]);
	assert(registered || told)
}
