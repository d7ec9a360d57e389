// SPDX-License-Identifier: BSD-3-Clause
/* ssd: a disk in memory keeps what is written, takes as long as its drive, and many at a time. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fail_each.h"
#include "random.h"
#include "sysfs.h"
#include "tap.h"

#define SYSTEM "/sys/kernel/lull/ssd/"
#define DISK "/dev/lull-ssd"
#define BLOCK 4096
#define US 1000ULL
#define READS 16
#define THREADS 8

static void must(int error, const char *what)
{
	if (error)
		tap_bail("cannot %s: %s", what, strerror(error < 0 ? -error : error));
}

static void put(const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), SYSTEM "%s", file);
	must(write_text(path, value), path);
}

static int try(const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), SYSTEM "%s", file);
	return write_text(path, value);
}

static unsigned char *block(void)
{
	void *memory;

	must(posix_memalign(&memory, BLOCK, BLOCK), "get memory");
	return memory;
}

static int open_disk(int flags)
{
	int fd = open(DISK, flags | O_CLOEXEC);

	must(fd < 0 ? errno : 0, "open " DISK);
	return fd;
}

static void test_settings(void)
{
	static const char *const bad[][2] = {
		{"model", "floppy"}, {"model", ""},   {"size_mib", "0"}, {"size_mib", "513"},
		{"size_mib", "x"},   {"seed", "1.5"}, {"seed", "-1"},	 {"seed", "1000000001"},
	};
	bool refused = true;
	pid_t pid;
	int status;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (try(bad[i][0], bad[i][1][0] ? bad[i][1] : "\n") != -EINVAL) {
			tap_note("%s takes '%s'", bad[i][0], bad[i][1]);
			refused = false;
		}
	tap_ok(refused, "EINVAL: another drive, and numbers out of range");
	tap_ok(access(DISK, F_OK) && errno == ENOENT, "there is no disk while the system is off");

	pid = fork();
	if (!pid) {
		char text[64];

		_exit(setuid(1000) || try("enabled", "1") != -EACCES ||
		      try("model", "nvme-980-pro") != -EACCES ||
		      read_text(SYSTEM "stats", text, sizeof(text)) != -EACCES);
	}
	tap_ok(waitpid(pid, &status, 0) == pid && !status, "EACCES: not root");
}

static int turn_on(void)
{
	int error = try("enabled", "1");

	if (error && !access(DISK, F_OK))
		return -EPROTO;
	return error;
}

static void turn_off(void)
{
	put("enabled", "0");
}

static void test_memory(void)
{
	fail_check(tap_ok, fail_each(turn_on, turn_off), "no memory for a disk, and there is none");
}

static void test_busy(void)
{
	int fd;

	tap_ok(try("model", "nvme-980-pro") == -EBUSY && try("size_mib", "4") == -EBUSY &&
		       try("seed", "3") == -EBUSY,
	       "EBUSY: settings while there is a disk");
	fd = open_disk(O_RDONLY);
	tap_ok(try("enabled", "0") == -EBUSY, "EBUSY: turning it off while somebody has it open");
	close(fd);
}

/* Blocks are written in one order and read in another. */
static void test_data(void)
{
	unsigned char *data = block();
	bool right = true;
	int fd = open_disk(O_RDWR | O_DIRECT);

	memset(data, 0xff, BLOCK);
	right &= pread(fd, data, BLOCK, 0) == BLOCK && !data[0] && !data[BLOCK - 1];
	tap_ok(right, "it is empty at first");
	for (int i = 0; i < 64; i++) {
		memset(data, i + 1, BLOCK);
		right &= pwrite(fd, data, BLOCK, (off_t)(i * 7 % 64) * BLOCK) == BLOCK;
	}
	for (int i = 0; i < 64; i++) {
		right &= pread(fd, data, BLOCK, (off_t)(i * 7 % 64) * BLOCK) == BLOCK;
		right &= data[0] == i + 1 && !memcmp(data, data + 1, BLOCK - 1);
	}
	tap_ok(right, "what is read is what was written");
	tap_ok(!fsync(fd), "it can be flushed");
	tap_ok(pwrite(fd, data, BLOCK, (off_t)2 << 20) < 0 && errno == ENOSPC,
	       "ENOSPC: beyond its end");
	close(fd);
	free(data);
}

static uint64_t random_read(int fd, unsigned char *data, uint64_t *numbers)
{
	uint64_t before = clock_ns();

	if (pread(fd, data, BLOCK, (off_t)(next_random(numbers) % 256) * BLOCK) != BLOCK)
		tap_bail("cannot read: %s", strerror(errno));
	return clock_ns() - before;
}

static uint64_t least_of_reads(void)
{
	uint64_t numbers = 1, least = UINT64_MAX;
	unsigned char *data = block();
	int fd = open_disk(O_RDONLY | O_DIRECT);

	for (int i = 0; i < READS; i++) {
		uint64_t took = random_read(fd, data, &numbers);

		least = took < least ? took : least;
	}
	close(fd);
	free(data);
	return least;
}

static void *read_some(void *number)
{
	uint64_t numbers = (uintptr_t)number + 1;
	unsigned char *data = block();
	int fd = open_disk(O_RDONLY | O_DIRECT);

	for (int i = 0; i < READS; i++)
		random_read(fd, data, &numbers);
	close(fd);
	free(data);
	return NULL;
}

/* No read is quicker than the drive's time less its spread; eight at a time share its channels. */
static void test_times(const char *model, uint64_t read_us)
{
	uint64_t least, began, took;
	pthread_t threads[THREADS];

	put("model", model);
	put("size_mib", "2");
	put("enabled", "1");
	least = least_of_reads();
	if (!tap_ok(least >= read_us * US * 97 / 100, "%s: a read takes its time", model))
		tap_note("one took %llu ns", (unsigned long long)least);

	began = clock_ns();
	for (uintptr_t i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, read_some, (void *)i), "start a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	took = clock_ns() - began;
	tap_ok(took >= READS * read_us * US * 97 / 100, "%s: many at a time take theirs", model);
	put("enabled", "0");
}

static void test_file_system(void)
{
	char text[32] = "";
	bool right;
	int fd;

	put("size_mib", "4");
	put("enabled", "1");
	if (system("busybox mke2fs " DISK " >/dev/null 2>&1") || mkdir("/tmp/ssd", 0700))
		tap_bail("cannot make a file system");
	must(mount(DISK, "/tmp/ssd", "ext2", 0, NULL) ? errno : 0, "mount it");
	tap_ok(try("enabled", "0") == -EBUSY, "EBUSY: turning it off while it is mounted");
	fd = open("/tmp/ssd/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	right = fd >= 0 && write(fd, "slept well", 10) == 10 && !fsync(fd) && !close(fd);
	must(umount("/tmp/ssd") ? errno : 0, "unmount it");
	must(mount(DISK, "/tmp/ssd", "ext2", MS_RDONLY, NULL) ? errno : 0, "mount it again");
	right &= !read_text("/tmp/ssd/file", text, sizeof(text)) && !strcmp(text, "slept well");
	must(umount("/tmp/ssd") ? errno : 0, "unmount it");
	rmdir("/tmp/ssd");
	tap_ok(right, "a file system keeps its files");
	put("enabled", "0");
}

int main(void)
{
	char model[32], size[16], enabled[4];

	if (access(SYSTEM "enabled", F_OK)) {
		printf("1..0 # SKIP this platform has no storage\n");
		return 0;
	}
	must(read_text(SYSTEM "enabled", enabled, sizeof(enabled)), "read the switch");
	put("enabled", "0");
	must(read_text(SYSTEM "model", model, sizeof(model)), "read which drive it is");
	must(read_text(SYSTEM "size_mib", size, sizeof(size)), "read its size");

	test_settings();
	put("size_mib", "2");
	test_memory();
	put("enabled", "1");
	test_busy();
	test_data();
	put("enabled", "0");
	/* 4 KiB, with the time on the link. */
	test_times("sata-850-pro", 100);
	test_times("nvme-980-pro", 45);
	test_file_system();
	for (int i = 0; i < 20; i++)
		put("enabled", i % 2 ? "0" : "1");
	tap_ok(access(DISK, F_OK) && errno == ENOENT,
	       "it can be turned on and off again and again");

	put("model", model);
	put("size_mib", size);
	put("enabled", enabled);
	return tap_finish();
}
