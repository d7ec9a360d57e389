// SPDX-License-Identifier: BSD-3-Clause
/*
 * PID 1 on both engines: sets the machine up, on gem5 takes the checkpoint, runs the host's
 * script, sends its output, its files and its status, and ends the machine.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"
#include "cpuidle.h"
#include "cpus.h"
#include "end.h"
#include "m5.h"
#include "machine.h"
#include "mounts.h"
#include "script.h"
#include "tar.h"

/* Long enough for boot-time work queues and RCU to run dry. */
#define SETTLE_MS 20

static enum engine find_engine(void)
{
	enum engine engine = machine_engine();

	if (engine == ENGINE_UNKNOWN)
		fail("the device tree has no /lull node with engine gem5 or qemu");
	set_engine(engine);
	return engine;
}

static void settle(void)
{
	const struct timespec pause = {.tv_nsec = SETTLE_MS * 1000000L};

	sync();
	nanosleep(&pause, NULL);
}

static int send_part(void *context, const void *data, size_t length)
{
	return channel_write(context, data, length);
}

static void send_files(enum engine engine)
{
	struct channel channel;
	char failed[PATH_MAX];
	int error = channel_open(&channel, engine, CHANNEL_FILES);

	if (error)
		fail("cannot open channel %s: %s", CHANNEL_FILES, strerror(-error));
	error = tar_directory(OUT_DIR, send_part, &channel, failed);
	if (error)
		fail("cannot send " OUT_DIR "/%s: %s", failed, strerror(-error));
}

static int run(enum engine engine)
{
	struct script script = fetch_script(engine);
	char unused[2];
	int status = run_script(&script);

	if (script.empty && kernel_parameter("lull.shell", unused, sizeof(unused)))
		return run_shell();
	return status;
}

int main(void)
{
	enum engine engine;
	int status;

	if (getpid() != 1) {
		fprintf(stderr, "lull: init runs as process 1 only\n");
		return 2;
	}
	catch_crashes();
	mount_all();
	engine = find_engine();
	set_host_name("lull");
	bring_up_loopback();
	online_all_cpus();
	disable_deep_idle();
	start_shell(engine);
	settle();
	cpuidle_begin();

	/* Restored, it goes on behind this; nothing before it may depend on the run. */
	if (engine == ENGINE_GEM5)
		m5_checkpoint(0, 0);

	open_channels();
	status = run(engine);
	cpuidle_report(engine);
	send_files(engine);
	finish(status);
}
