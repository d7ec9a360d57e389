// SPDX-License-Identifier: BSD-3-Clause
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "end.h"
#include "m5.h"
#include "process.h"
#include "sysfs.h"

#define SCRIPT "/run/lull-script"
#define FIRST_LINE "#lull limit_s="
#define FW_CFG_SCRIPT "/sys/firmware/qemu_fw_cfg/by_name/opt/lull/script/raw"

/* It takes about one. */
#define SHELL_WAIT_MS 1000

/* As large as a pipe can be made, and as a script. */
#define SCRIPT_MAX (1 << 20)

/* The shell, and our end of the pipe that it reads the script from. */
static struct piped shell;
static int to_shell;

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

/* Nobody can write into a pipe without a reader. */
static int open_to_shell(void)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	int fd = -1;

	for (int waited = 0; fd < 0 && waited < SHELL_WAIT_MS; waited++) {
		fd = open(SCRIPT, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && errno != ENXIO)
			break;
		if (fd < 0)
			nanosleep(&millisecond, NULL);
	}
	if (fd < 0)
		fail("the shell does not start: %s", strerror(errno));
	return fd;
}

void start_shell(enum engine engine)
{
	char *const warm_up[] = {"sh", "-c", "lull-policy; :", NULL};
	char *const argv[] = {"sh", SCRIPT, NULL};

	set_environment(engine);
	/* What the first use of a program's pages costs beyond others, no run has to pay. */
	shell = start_piped("/bin/sh", warm_up);
	finish_piped(&shell, 0);

	if (mkfifo(SCRIPT, 0600))
		fail("cannot create " SCRIPT ": %s", strerror(errno));
	shell = start_piped("/bin/sh", argv);
	to_shell = open_to_shell();
	if (fcntl(to_shell, F_SETPIPE_SZ, SCRIPT_MAX) < 0)
		fail("cannot make room for the script: %s", strerror(errno));
	unlink(SCRIPT);
}

/*
 * Some of the script from an offset on; 0 at its end or when there is none. On gem5 more may stand
 * in the host's file behind a zero byte, which is for a command of the script (lull-m5 read-file).
 */
static size_t fetch(enum engine engine, char *text, size_t size, uint64_t offset)
{
	ssize_t got;
	int fd;

	if (engine == ENGINE_GEM5)
		return m5_read_file(text, size, offset);
	fd = open(FW_CFG_SCRIPT, O_RDONLY | O_CLOEXEC);
	/* QEMU was given no script. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		fail("cannot open " FW_CFG_SCRIPT ": %s", strerror(errno));
	got = pread(fd, text, size, (off_t)offset);
	if (got < 0)
		fail("cannot read " FW_CFG_SCRIPT ": %s", strerror(errno));
	close(fd);
	return (size_t)got;
}

static double limit_of(const char *first)
{
	char line[64];

	if (strncmp(first, FIRST_LINE, strlen(FIRST_LINE)) == 0) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(first, "\n"), first);
		return parse_limit(line + strlen(FIRST_LINE), "the script");
	}
	if (kernel_parameter("lull.limit_s", line, sizeof(line)))
		return parse_limit(line, "the kernel command line");
	return 0;
}

struct script fetch_script(enum engine engine)
{
	struct script script = {.empty = true};
	char part[4096 + 1];
	uint64_t offset = 0;
	size_t got, length;

	while ((got = fetch(engine, part, sizeof(part) - 1, offset)) > 0) {
		part[got] = '\0';
		length = strlen(part);
		if (script.empty)
			script.limit_s = limit_of(part);
		script.empty = false;
		if (length && write(to_shell, part, length) != (ssize_t)length)
			fail("the shell does not take the script, of at most %d bytes", SCRIPT_MAX);
		if (length < got)
			break;
		offset += got;
	}
	return script;
}

int run_script(const struct script *script)
{
	/* Where the shell sees the script's end. */
	close(to_shell);
	return finish_piped(&shell, script->limit_s);
}

int run_shell(void)
{
	char *const argv[] = {"sh", "-l", NULL};

	setenv("TERM", "vt100", 1);
	return run_on_console("/bin/sh", argv);
}
