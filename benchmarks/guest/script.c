// SPDX-License-Identifier: BSD-3-Clause
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "end.h"
#include "m5.h"
#include "process.h"
#include "sysfs.h"

#define SCRIPT "/run/lull-script"
#define FIRST_LINE "#lull limit_s="
#define FW_CFG_SCRIPT "/sys/firmware/qemu_fw_cfg/by_name/opt/lull/script/raw"

static char chunk[1 << 16];

bool kernel_parameter(const char *name, char *value, size_t size)
{
	static char line[4096];
	size_t length = strlen(name);
	int error = read_text("/proc/cmdline", line, sizeof(line));
	char *rest = NULL;

	if (error)
		fail("cannot read /proc/cmdline: %s", strerror(-error));
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (strncmp(word, name, length) != 0 || (word[length] && word[length] != '='))
			continue;
		snprintf(value, size, "%s", word[length] ? word + length + 1 : "");
		return true;
	}
	return false;
}

static double parse_limit(const char *text, const char *where)
{
	char *end;
	double limit = strtod(text, &end);

	/* A year of simulated time is more than any engine reaches. */
	if (end == text || (*end && *end != '\n') || !(limit > 0 && limit < 3e7))
		fail("limit_s in %s is not a positive number of seconds", where);
	return limit;
}

static void save(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, data, length);

		if (done < 0)
			fail("cannot write " SCRIPT ": %s", strerror(errno));
		data += done;
		length -= (size_t)done;
	}
}

static void fetch_from_gem5(int to)
{
	uint64_t offset = 0;
	size_t got;

	while ((got = m5_read_file(chunk, sizeof(chunk), offset)) > 0) {
		save(to, chunk, got);
		offset += got;
	}
}

static void fetch_from_qemu(int to)
{
	int from = open(FW_CFG_SCRIPT, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	/* QEMU was given no script. */
	if (from < 0 && errno == ENOENT)
		return;
	if (from < 0)
		fail("cannot open " FW_CFG_SCRIPT ": %s", strerror(errno));
	while ((got = read(from, chunk, sizeof(chunk))) > 0)
		save(to, chunk, (size_t)got);
	if (got < 0)
		fail("cannot read " FW_CFG_SCRIPT ": %s", strerror(errno));
	close(from);
}

struct script fetch_script(enum engine engine)
{
	struct script script = {0};
	int fd = open(SCRIPT, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char first[64];
	ssize_t length;

	if (fd < 0)
		fail("cannot create " SCRIPT ": %s", strerror(errno));
	if (engine == ENGINE_GEM5)
		fetch_from_gem5(fd);
	else
		fetch_from_qemu(fd);

	length = pread(fd, first, sizeof(first) - 1, 0);
	if (length < 0)
		fail("cannot read " SCRIPT ": %s", strerror(errno));
	first[length] = '\0';
	close(fd);

	script.empty = length == 0;
	if (strncmp(first, FIRST_LINE, strlen(FIRST_LINE)) == 0) {
		first[strcspn(first, "\n")] = '\0';
		script.limit_s = parse_limit(first + strlen(FIRST_LINE), "the script");
	} else if (kernel_parameter("lull.limit_s", first, sizeof(first))) {
		script.limit_s = parse_limit(first, "the kernel command line");
	}
	return script;
}

static void set_environment(enum engine engine)
{
	char platform[64];

	machine_property("platform", platform, sizeof(platform));
	clearenv();
	setenv("PATH", "/usr/bin:/usr/sbin:/bin:/sbin", 1);
	setenv("HOME", "/", 1);
	setenv("LULL_ENGINE", engine_name(engine), 1);
	setenv("LULL_PLATFORM", platform, 1);
}

int run_script(const struct script *script, enum engine engine)
{
	char *const argv[] = {"sh", SCRIPT, NULL};

	set_environment(engine);
	return run_piped("/bin/sh", argv, script->limit_s);
}

int run_shell(enum engine engine)
{
	char *const argv[] = {"sh", "-l", NULL};

	set_environment(engine);
	setenv("TERM", "vt100", 1);
	return run_on_console("/bin/sh", argv);
}
