// SPDX-License-Identifier: BSD-3-Clause
#include "actions.h"

#include <stdatomic.h>
#include <stdint.h>

#include "clock.h"
#include "events.h"
#include "path.h"
#include "report.h"
#include "system.h"
#include "task_state.h"

static uint32_t actions;

void press(enum act act)
{
	atomic_store(&shared->act, act);
	put(EVENTS_DIR "enabled", "0");
	put(EVENTS_DIR "enabled", "1");
}

bool press_and_hold(enum act act)
{
	unsigned long holds = stat_of("holds");

	press(act);
	for (int i = 0; i < SLACK_MS + 10; i++) {
		if (stat_of("holds") > holds)
			return true;
		clock_sleep(MS);
	}
	return false;
}

void finish(void)
{
	actions++;
	for (int i = 0; atomic_load(&shared->done) != actions; i++) {
		if (i == 20000)
			bail("the consumer did not finish");
		clock_sleep(MS);
	}
	/* Until it waits for the next key. */
	if (!task_rests(ui))
		bail("the consumer does not wait for a key");
	clock_sleep(5 * MS);
}

void do_all(enum act act)
{
	press(act);
	finish();
}
