// SPDX-License-Identifier: BSD-3-Clause
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

#define TEXT (256 << 10)

char *read_all(const char *path)
{
	char *text = malloc(TEXT);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = -1;

	while (text && fd >= 0 && (got = read(fd, text + used, TEXT - 1 - used)) > 0)
		used += (size_t)got;
	if (got < 0 || used == TEXT - 1)
		bail("cannot read all of %s: %s", path, strerror(errno));
	text[used] = '\0';
	close(fd);
	return text;
}
