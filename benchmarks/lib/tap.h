/* SPDX-License-Identifier: BSD-3-Clause */
/* TAP for selftests in C: tap_ok() for each test, `return tap_finish()` at the end of main(). */
#ifndef LULL_TAP_H
#define LULL_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_run, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool tap_ok(bool passed, const char *format,
								 ...)
{
	va_list arguments;

	tap_failed += !passed;
	printf("%sok %d - ", passed ? "" : "not ", ++tap_run);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	return passed;
}

/* Something that explains the test before it. */
__attribute__((format(printf, 1, 0), unused)) static void tap_note_list(const char *format,
									va_list arguments)
{
	fputs("# ", stdout);
	vprintf(format, arguments);
	putchar('\n');
	fflush(stdout);
}

__attribute__((format(printf, 1, 2), unused)) static void tap_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tap_note_list(format, arguments);
	va_end(arguments);
}

/* Nothing can be tested any more, which is a failure: no plan follows. */
__attribute__((format(printf, 1, 2), noreturn, unused)) static void tap_bail(const char *format,
									     ...)
{
	va_list arguments;

	fputs("Bail out! ", stdout);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(1);
}

__attribute__((unused)) static int tap_finish(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed || tap_run == 0;
}

#endif
