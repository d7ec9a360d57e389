// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"
#include "tap.h"

bool check(bool passed, const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return tap_ok(passed, "%s", text);
}

void bail(const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tap_bail("%s", text);
}

int report_finish(void)
{
	return tap_finish();
}

void must(int error, const char *what)
{
	if (error)
		bail("cannot %s: %s", what, strerror(abs(error)));
}

void put(const char *file, const char *value)
{
	must(write_text(file, value), file);
}
