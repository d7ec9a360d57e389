// SPDX-License-Identifier: BSD-3-Clause
/* gem5's pseudo-operations for scripts. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "m5.h"
#include "machine.h"

static const char usage[] = "usage: lull-m5 OPERATION\n"
			    "  dump            write the statistics so far\n"
			    "  reset           start the statistics afresh\n"
			    "  dump-reset      both\n"
			    "  work-begin N    mark the beginning of work item N\n"
			    "  work-end N      mark its end\n"
			    "  checkpoint      ask for a checkpoint\n"
			    "  read-file N     print the host's script file from byte N on\n"
			    "  exit            end the simulation here, with no status\n"
			    "  fail N          the same, with gem5's exit code N\n";

static void dump(uint64_t unused)
{
	(void)unused;
	m5_dump_stats(0, 0);
}

static void reset(uint64_t unused)
{
	(void)unused;
	m5_reset_stats(0, 0);
}

static void dump_reset(uint64_t unused)
{
	(void)unused;
	m5_dump_reset_stats(0, 0);
}

static void work_begin(uint64_t id)
{
	m5_work_begin(id, 0);
}

static void work_end(uint64_t id)
{
	m5_work_end(id, 0);
}

static void checkpoint(uint64_t unused)
{
	(void)unused;
	m5_checkpoint(0, 0);
}

static void read_file(uint64_t offset)
{
	static char part[1 << 16];
	size_t got;

	while ((got = m5_read_file(part, sizeof(part), offset)) > 0) {
		for (size_t done = 0; done < got;) {
			ssize_t written = write(STDOUT_FILENO, part + done, got - done);

			if (written < 0) {
				perror("lull-m5: read-file");
				exit(1);
			}
			done += (size_t)written;
		}
		offset += got;
	}
}

static void end(uint64_t unused)
{
	(void)unused;
	m5_exit(0);
}

static void end_failed(uint64_t code)
{
	m5_fail(0, code);
}

static const struct operation {
	const char *name;
	void (*run)(uint64_t argument);
	int arguments;
} operations[] = {
	{"dump", dump, 0},
	{"reset", reset, 0},
	{"dump-reset", dump_reset, 0},
	{"work-begin", work_begin, 1},
	{"work-end", work_end, 1},
	{"checkpoint", checkpoint, 0},
	{"read-file", read_file, 1},
	{"exit", end, 0},
	{"fail", end_failed, 1},
};

static const struct operation *find(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	return NULL;
}

int main(int argc, char *argv[])
{
	const struct operation *operation = argc > 1 ? find(argv[1]) : NULL;
	uint64_t argument = 0;

	if (!operation || argc != 2 + operation->arguments) {
		fputs(usage, stderr);
		return 2;
	}
	if (operation->arguments) {
		char *end;

		errno = 0;
		argument = strtoull(argv[2], &end, 0);
		if (errno || end == argv[2] || *end || argv[2][0] == '-') {
			fprintf(stderr, "lull-m5: %s is not a number\n", argv[2]);
			return 2;
		}
	}
	if (machine_engine() != ENGINE_GEM5) {
		fprintf(stderr, "lull-m5: %s works on gem5 only, this is %s\n", operation->name,
			engine_name(machine_engine()));
		return 1;
	}
	operation->run(argument);
	return 0;
}
