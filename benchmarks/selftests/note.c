// SPDX-License-Identifier: BSD-3-Clause
#include "note.h"

#include <stdarg.h>

#include "tap.h"

void note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tap_note_list(format, arguments);
	va_end(arguments);
}
