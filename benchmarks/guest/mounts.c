// SPDX-License-Identifier: BSD-3-Clause
#include "mounts.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "end.h"

static const struct file_system {
	const char *type;
	const char *where;
	const char *options;
	bool required;
} file_systems[] = {
	{"proc", "/proc", NULL, true},
	{"sysfs", "/sys", NULL, true},
	{"devtmpfs", "/dev", "mode=0755", true},
	{"tmpfs", "/dev/shm", "mode=1777", true},
	{"tmpfs", "/tmp", "mode=1777", true},
	{"tmpfs", "/run", "mode=0755", true},
	{"tmpfs", OUT_DIR, "mode=0755", true},
	{"tracefs", "/sys/kernel/tracing", NULL, false},
	{"debugfs", "/sys/kernel/debug", NULL, false},
	{"cgroup2", "/sys/fs/cgroup", NULL, false},
};

void mount_all(void)
{
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++) {
		const struct file_system *fs = &file_systems[i];

		/* Fails where it is there already or in sysfs; what matters is the mount. */
		mkdir(fs->where, 0755);
		if (mount(fs->type, fs->where, fs->type, 0, fs->options) == 0)
			continue;
		if (fs->required)
			fail("cannot mount %s on %s: %s", fs->type, fs->where, strerror(errno));
		note("no %s: %s", fs->type, strerror(errno));
	}
}

void set_host_name(const char *name)
{
	if (sethostname(name, strlen(name)))
		fail("cannot set the host name to %s: %s", name, strerror(errno));
}

void bring_up_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		note("no network: %s", strerror(errno));
		return;
	}
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request))
		note("cannot bring up lo: %s", strerror(errno));
	close(fd);
}
