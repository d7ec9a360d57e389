/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of "--name VALUE", or of "-n VALUE" where a name is one letter. */
#ifndef LULL_OPTIONS_H
#define LULL_OPTIONS_H

#include <stdint.h>

/* Where the value goes: to a text, or else to a number, which must be from least to most. */
struct option_to {
	const char *name;
	const char **text;
	uint64_t *number;
	uint64_t least, most;
};

/* The last of the options has no name. Anything else ends the program: a sentence, status 2. */
void options_parse(char **argv, const struct option_to *options, const char *usage);

#endif
