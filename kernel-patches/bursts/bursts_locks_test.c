// SPDX-License-Identifier: GPL-2.0-only
/* Tests of who is known to wait for a lock, so that it is not held. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "bursts.h"

struct lull_locks {
	/* What is waited for. */
	struct mutex mutex;
	struct semaphore semaphore;
	struct rw_semaphore rwsem;
	/* How a task waits for one of them. */
	int (*wait)(struct lull_locks *locks);
	int error;
	bool known_after;
	struct completion done;
};

static struct lull_locks *lull_locks_make(struct kunit *test)
{
	struct lull_locks *locks = kunit_kzalloc(test, sizeof(*locks), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, locks);
	mutex_init(&locks->mutex);
	sema_init(&locks->semaphore, 1);
	init_rwsem(&locks->rwsem);
	init_completion(&locks->done);
	return locks;
}

/* As lull_bursts_must_wake() sees it. */
static bool lull_waits_for_lock(struct task_struct *p)
{
#ifdef CONFIG_RT_MUTEXES
	if (READ_ONCE(p->pi_blocked_on))
		return true;
#endif
	/* Flags of a task that sleeps do not change. */
	return data_race(p->flags) & PF_LULL_LOCKS;
}

static int lull_locks_wait(void *data)
{
	struct lull_locks *locks = data;

	locks->error = locks->wait(locks);
	locks->known_after = lull_waits_for_lock(current);
	complete(&locks->done);
	return 0;
}

/* Starts a task that waits for what the caller has. Returns whether it is known to wait. */
static bool lull_locks_known(struct kunit *test, struct lull_locks *locks)
{
	struct task_struct *p;
	int ms;

	static_branch_inc(&lull_locks_key);
	p = kthread_run(lull_locks_wait, locks, "lull-locks");
	if (IS_ERR(p)) {
		static_branch_dec(&lull_locks_key);
		complete(&locks->done);
		return false;
	}
	for (ms = 0; ms < 10000 && !(READ_ONCE(p->__state) & TASK_INTERRUPTIBLE); ms++)
		fsleep(USEC_PER_MSEC);
	static_branch_dec(&lull_locks_key);

	return lull_waits_for_lock(p);
}

static void lull_locks_expect_end(struct kunit *test, struct lull_locks *locks)
{
	wait_for_completion(&locks->done);
	KUNIT_EXPECT_EQ(test, locks->error, 0);
	KUNIT_EXPECT_FALSE(test, locks->known_after);
}

static int lull_wait_for_mutex(struct lull_locks *locks)
{
	int error = mutex_lock_interruptible(&locks->mutex);

	if (!error)
		mutex_unlock(&locks->mutex);
	return error;
}

static void lull_locks_mutex(struct kunit *test)
{
	struct lull_locks *locks = lull_locks_make(test);

	locks->wait = lull_wait_for_mutex;
	mutex_lock(&locks->mutex);
	KUNIT_EXPECT_TRUE(test, lull_locks_known(test, locks));
	mutex_unlock(&locks->mutex);
	lull_locks_expect_end(test, locks);
}

static int lull_wait_for_semaphore(struct lull_locks *locks)
{
	int error = down_interruptible(&locks->semaphore);

	if (!error)
		up(&locks->semaphore);
	return error;
}

static void lull_locks_semaphore(struct kunit *test)
{
	struct lull_locks *locks = lull_locks_make(test);

	locks->wait = lull_wait_for_semaphore;
	down(&locks->semaphore);
	KUNIT_EXPECT_TRUE(test, lull_locks_known(test, locks));
	up(&locks->semaphore);
	lull_locks_expect_end(test, locks);
}

static int lull_wait_for_reading(struct lull_locks *locks)
{
	int error = down_read_interruptible(&locks->rwsem);

	if (!error)
		up_read(&locks->rwsem);
	return error;
}

static void lull_locks_rwsem(struct kunit *test)
{
	struct lull_locks *locks = lull_locks_make(test);

	locks->wait = lull_wait_for_reading;
	down_write(&locks->rwsem);
	KUNIT_EXPECT_TRUE(test, lull_locks_known(test, locks));
	up_write(&locks->rwsem);
	lull_locks_expect_end(test, locks);
}

static struct kunit_case lull_locks_cases[] = {
	KUNIT_CASE(lull_locks_mutex),
	KUNIT_CASE(lull_locks_semaphore),
	KUNIT_CASE(lull_locks_rwsem),
	{}
};

static struct kunit_suite lull_locks_suite = {
	.name = "lull-bursts-locks",
	.test_cases = lull_locks_cases,
};

kunit_test_suite(lull_locks_suite);
