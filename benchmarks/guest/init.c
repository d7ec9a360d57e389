// SPDX-License-Identifier: BSD-3-Clause
/*
 * PID 1 on both engines: sets the machine up, on gem5 takes the checkpoint, runs the host's
 * script, sends its output, its files and its status, and ends the machine.
 */
#include <limits.h>
#include <stdbool.h>
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
#include "network.h"
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

static void pause_ms(long ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};

	nanosleep(&pause, NULL);
}

static void settle(void)
{
	sync();
	pause_ms(SETTLE_MS);
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

static bool has_script(void)
{
	char byte;

	return m5_read_file(&byte, sizeof(byte), 0) > 0;
}

/*
 * A checkpoint of two machines has both of them waiting here: the one under test asks for it until
 * its peer is ready too. Nobody has a script before the checkpoint is restored, and both have one
 * from then on.
 */
static void checkpoint_both(enum part part)
{
	struct channel ready;

	if (part == PART_PEER && channel_open(&ready, ENGINE_GEM5, CHANNEL_PEER_READY))
		fail("cannot open channel %s", CHANNEL_PEER_READY);
	do {
		pause_ms(1);
		if (part == PART_MACHINE)
			m5_checkpoint(0, 0);
	} while (!has_script());
}

/* Restored, a machine goes on behind this; nothing before it may depend on the run. */
static void checkpoint(enum part part)
{
	if (part == PART_ALONE)
		m5_checkpoint(0, 0);
	else
		checkpoint_both(part);
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
	enum part part;
	int status;

	if (getpid() != 1) {
		fprintf(stderr, "lull: init runs as process 1 only\n");
		return 2;
	}
	catch_crashes();
	mount_all();
	engine = find_engine();
	part = machine_part();
	if (part == PART_PEER)
		set_peer();
	set_host_name(part == PART_PEER ? "peer" : "lull");
	bring_up_loopback();
	bring_up_network();
	online_all_cpus();
	disable_deep_idle();
	start_shell(engine);
	settle();
	cpuidle_begin();

	if (engine == ENGINE_GEM5)
		checkpoint(part);

	open_channels();
	status = run(engine);
	if (part == PART_PEER)
		finish(status);
	cpuidle_report(engine);
	send_files(engine);
	finish(status);
}
