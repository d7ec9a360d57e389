// SPDX-License-Identifier: BSD-3-Clause
#include "end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "channel.h"
#include "m5.h"

#define MESSAGE_MAX 512

static enum engine engine;
static bool is_peer;
static struct channel stdout_channel, status_channel;
static bool channels_tried, stdout_open, status_open;
static bool mid_line;

static void write_console(const char *text, size_t length)
{
	/* The kernel opened it as our standard error; a console that fails has no one to tell. */
	while (length > 0) {
		ssize_t done = write(STDERR_FILENO, text, length);

		if (done <= 0)
			return;
		text += done;
		length -= (size_t)done;
	}
}

static size_t format_line(char *line, const char *format, va_list args)
{
	int prefix = snprintf(line, MESSAGE_MAX, "lull: ");
	int body = vsnprintf(line + prefix, MESSAGE_MAX - (size_t)prefix - 1, format, args);
	size_t length = (size_t)prefix + (body < 0 ? 0 : (size_t)body);

	if (length > MESSAGE_MAX - 2)
		length = MESSAGE_MAX - 2;
	line[length++] = '\n';
	return length;
}

void note(const char *format, ...)
{
	char line[MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	write_console(line, format_line(line, format, args));
	va_end(args);
}

void set_engine(enum engine on)
{
	engine = on;
}

void set_peer(void)
{
	is_peer = true;
}

static const char *stdout_name(void)
{
	return is_peer ? CHANNEL_PEER_STDOUT : CHANNEL_STDOUT;
}

static const char *status_name(void)
{
	return is_peer ? CHANNEL_PEER_STATUS : CHANNEL_STATUS;
}

static int open_both(void)
{
	int status_error = channel_open(&status_channel, engine, status_name());
	int stdout_error = channel_open(&stdout_channel, engine, stdout_name());

	status_open = !status_error;
	stdout_open = !stdout_error;
	channels_tried = true;
	return status_error ? status_error : stdout_error;
}

void open_channels(void)
{
	int error = open_both();

	if (error)
		fail("cannot open channel %s: %s", status_open ? stdout_name() : status_name(),
		     strerror(-error));
}

void send_stdout(const char *data, size_t length)
{
	int error;

	if (length == 0)
		return;
	mid_line = data[length - 1] != '\n';
	error = channel_write(&stdout_channel, data, length);
	if (error) {
		stdout_open = false;
		fail("cannot write channel %s: %s", stdout_name(), strerror(-error));
	}
}

void say(const char *format, ...)
{
	char line[MESSAGE_MAX];
	va_list args;

	if (mid_line)
		send_stdout("\n", 1);
	va_start(args, format);
	send_stdout(line, format_line(line, format, args));
	va_end(args);
}

static _Noreturn void stop_machine(void)
{
	static bool stopping;

	/* Here again: the engine is not the one that the device tree names. */
	if (stopping)
		reboot(RB_POWER_OFF);
	stopping = true;
	sync();
	/* A peer waits for the end of the machine under test, which ends the simulation. */
	if (is_peer)
		;
	else if (engine == ENGINE_GEM5)
		m5_exit(0);
	else
		reboot(RB_POWER_OFF);
	/* gem5 leaves a moment after the operation; a host that lets us go on gets silence. */
	for (;;)
		pause();
}

void fail(const char *format, ...)
{
	static bool failing;
	char line[MESSAGE_MAX];
	size_t length;
	va_list args;

	/* Failing to report a failure must not recurse. */
	if (failing)
		stop_machine();
	failing = true;
	kill(-1, SIGKILL);

	va_start(args, format);
	length = format_line(line, format, args);
	va_end(args);
	write_console(line, length);
	if (!channels_tried && engine != ENGINE_UNKNOWN)
		open_both();
	if (stdout_open) {
		if (mid_line)
			channel_write(&stdout_channel, "\n", 1);
		channel_write(&stdout_channel, line, length);
	}
	finish(STATUS_INIT_FAILED);
}

void finish(int status)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d\n", status);
	int error;

	if (status_open) {
		error = channel_write(&status_channel, text, (size_t)length);
		if (error)
			note("cannot write channel %s: %s", status_name(), strerror(-error));
	}
	note("status %d", status);
	stop_machine();
}

static void on_crash(int signal)
{
	fail("init got signal %d (%s)", signal, strsignal(signal));
}

void catch_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	/* A second crash inside the handler comes back here and then stops the machine. */
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}
