// SPDX-License-Identifier: BSD-3-Clause
/* tar-directory DIR: the archive on standard output. */
#include <stdio.h>
#include <string.h>

#include "tar.h"

static int to_stdout(void *context, const void *data, size_t length)
{
	(void)context;
	return fwrite(data, 1, length, stdout) == length ? 0 : -5;
}

int main(int argc, char *argv[])
{
	char failed[PATH_MAX];
	int error;

	if (argc != 2)
		return 2;
	error = tar_directory(argv[1], to_stdout, NULL, failed);
	if (error)
		fprintf(stderr, "%s: %s\n", failed, strerror(-error));
	return error ? 1 : 0;
}
