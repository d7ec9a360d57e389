// SPDX-License-Identifier: BSD-3-Clause
#include "phases.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define KBIT_S_MOST 10000000

static int number(const char **at, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return errno || *value > KBIT_S_MOST ? -EINVAL : 0;
}

int phases_parse(const char *text, struct phase phases[PHASES_MOST])
{
	for (int count = 0; count < PHASES_MOST; count++) {
		if (number(&text, &phases[count].rate_kbit_s) || *text++ != ':' ||
		    number(&text, &phases[count].target_kbit_s))
			return -EINVAL;
		if (!*text)
			return count + 1;
		if (*text++ != ',')
			return -EINVAL;
	}
	return -EINVAL;
}
