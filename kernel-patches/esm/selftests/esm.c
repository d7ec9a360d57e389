// SPDX-License-Identifier: BSD-3-Clause
/*
 * The Event Stream Model does what it says: esm [--case NAME] [--dispatch direct|thread]
 *						 [--events N] [--calls N] [--seed N]
 *
 * Every case in both modes of dispatch, or the given ones. N events (6000) go through the
 * stress test, N calls (3000) with arguments at random through another. Fewer make other
 * cases shorter too.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "esm-cases/cases.h"
#include "esm-cases/report.h"
#include "esm-cases/system.h"
#include "options.h"
#include "tap.h"

static const char usage[] = "usage: esm [--case NAME] [--dispatch direct|thread] [--events N] "
			    "[--calls N] [--seed N]\n";

/* A case that takes longer hangs, with events and calls as they are by default. */
#define CASE_LIMIT_S 300

#define GAVE_UP 3

struct amount amount = {.events = 6000, .calls = 3000, .seed = 1};

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"registering", case_registering},
	{"refused-registrations", case_refused_registrations},
	{"waiting", case_waiting},
	{"refused-waits", case_refused_waits},
	{"signals", case_signals},
	{"timeouts", case_timeouts},
	{"polling", case_polling},
	{"queue", case_queue},
	{"foreground", case_foreground},
	{"lifecycle", case_lifecycle},
	{"devices", case_devices},
	{"evdev", case_evdev},
	{"grabs", case_grabs},
	{"switch", case_switch},
	{"security", case_security},
	{"limits", case_limits},
	{"memory", case_memory},
	{"names", case_names},
	{"independence", case_independence},
	{"calls-at-random", case_calls_at_random},
	{"trace", case_trace},
	{"interrupt", case_interrupt},
	{"stress", case_stress},
};

/* Of all cases, whose processes begin with what the one before left. */
static struct {
	int run, failed;
} * count;
static char where[64];

bool check(bool passed, const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tap_ok(passed, "%s: %s", where, text);
	count->run = tap_run;
	count->failed = tap_failed;
	return passed;
}

void give_up(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tap_note_list(format, arguments);
	va_end(arguments);
	_exit(GAVE_UP);
}

static void run_case(const char *name, void (*run)(void))
{
	pid_t child;
	int status;

	snprintf(where, sizeof(where), "%s", name);
	child = fork();
	if (child < 0)
		tap_bail("cannot fork: %s", strerror(errno));
	if (child == 0) {
		foreground(getpid());
		alarm(CASE_LIMIT_S + (unsigned int)(amount.events / 100 + amount.calls / 100));
		run();
		_exit(0);
	}
	waitpid(child, &status, 0);
	tap_run = count->run;
	tap_failed = count->failed;
	if (status)
		check(false, "%s",
		      WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it hangs"
		      : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
					    : "it gave up");
}

/* What cases leave behind may still be on its way out. */
static void set_dispatch(const char *mode)
{
	int error = -EBUSY;

	for (int tries = 0; error == -EBUSY && tries < 1000; tries++) {
		error = system_write("dispatch", mode);
		if (error == -EBUSY)
			usleep(10000);
	}
	if (error)
		tap_bail("cannot dispatch %s: %s", mode, strerror(-error));
}

static void run_all(const char *mode, const char *only)
{
	char name[64];

	set_dispatch(mode);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (only && strcmp(only, cases[i].name) != 0)
			continue;
		snprintf(name, sizeof(name), "%s, %s", mode, cases[i].name);
		run_case(name, cases[i].run);
	}
}

int main(int argc, char **argv)
{
	const char *only = NULL, *dispatch = NULL;
	const struct option_to options[] = {
		{.name = "case", .text = &only},
		{.name = "dispatch", .text = &dispatch},
		{.name = "events", .number = &amount.events, .least = 1, .most = INT32_MAX},
		{.name = "calls", .number = &amount.calls, .least = 1, .most = INT32_MAX},
		{.name = "seed", .number = &amount.seed, .most = UINT32_MAX},
		{0},
	};
	char enabled[8], mode[32];

	(void)argc;
	options_parse(argv, options, usage);
	if (system_read("enabled", enabled, sizeof(enabled))) {
		printf("1..0 # SKIP this kernel has no Event Stream Model\n");
		return 0;
	}
	if (system_read("dispatch", mode, sizeof(mode)) || system_write("enabled", "1"))
		tap_bail("cannot switch the Event Stream Model on");
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (count == MAP_FAILED)
		tap_bail("no memory: %s", strerror(errno));
	if (!dispatch || strcmp(dispatch, "direct") == 0)
		run_all("direct", only);
	if (!dispatch || strcmp(dispatch, "thread") == 0)
		run_all("thread", only);
	set_dispatch(mode);
	foreground_nobody();
	system_set("enabled", enabled);
	return tap_finish();
}
