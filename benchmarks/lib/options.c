// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_called(const struct option_to *option, const char *word)
{
	size_t dashes = option->name[1] ? 2 : 1;

	return strncmp(word, "--", dashes) == 0 && strcmp(word + dashes, option->name) == 0;
}

static void take(const struct option_to *option, const char *value)
{
	char *end;

	if (option->text) {
		*option->text = value;
		return;
	}
	errno = 0;
	*option->number = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && !errno && *option->number >= option->least &&
	    *option->number <= option->most)
		return;
	fprintf(stderr, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64 "\n",
		program_invocation_short_name, value, option->least, option->most);
	exit(2);
}

void options_parse(char **argv, const struct option_to *options, const char *usage)
{
	for (char **word = argv + 1; *word; word += 2) {
		const struct option_to *option = options;

		while (option->name && !is_called(option, *word))
			option++;
		if (!option->name || !word[1]) {
			fputs(usage, stderr);
			exit(2);
		}
		take(option, word[1]);
	}
}
