// SPDX-License-Identifier: BSD-3-Clause
/* What is refused: requests that are wrong, and all of them while the system is off. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../connections.h"
#include "cases.h"
#include "eanem.h"
#include "netlink.h"
#include "report.h"
#include "sysfs.h"

void test_off(void)
{
	struct lull_eanem_socket one;
	size_t count = 1;

	turn("0");
	check(eanem_sockets(&eanem, &one, &count) == -ENODEV, "off lists no socket");
	check(eanem_target_process(&eanem, (uint32_t)getpid(), 1000) == -ENODEV,
	      "off takes no target");
	check(eanem_steer(&eanem, "0", 0, NULL, 0) == -ENODEV, "off steers nothing");
}

/* A thread of the kernel that is bound to CPU 0. */
static uint32_t softirq_thread(void)
{
	char path[64], name[32];

	for (uint32_t pid = 2; pid < 1000; pid++) {
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		if (!read_text(path, name, sizeof(name)) && !strcmp(name, "ksoftirqd/0"))
			return pid;
	}
	bail("there is no ksoftirqd/0");
}

void test_errors(void)
{
	struct sockaddr_in at;
	int fd = socket_at(SOCK_DGRAM, &at), raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	uint32_t nobody = 4000000, bound = softirq_thread();
	struct eanem second;

	check(eanem_target_socket(&eanem, 1ULL << 60, 1000) == -ENOENT, "there is no such socket");
	check(eanem_target_process(&eanem, nobody, 1000) == -ESRCH, "there is no such process");
	check(eanem_target_process(&eanem, (uint32_t)getpid(), (1ULL << 40) + 1) == -ERANGE,
	      "a target can be too large");
	check(eanem_target_socket(&eanem, cookie(fd), 1000) == -EOPNOTSUPP,
	      "datagrams have no window");
	check(raw >= 0 && eanem_target_socket(&eanem, cookie(raw), 1000) == -ENOENT,
	      "a raw socket is no connection");
	check(eanem_steer(&eanem, "zero", 0, NULL, 0) == -EINVAL, "a CPU is a number");
	check(eanem_steer(&eanem, "1000", 0, NULL, 0) == -ERANGE &&
		      eanem_steer(&eanem, "4294967296", 0, NULL, 0) == -ERANGE,
	      "which a machine has");
	check(eanem_steer(&eanem, "0", 0, &nobody, 1) == -ESRCH, "there is no such thread");
	check(eanem_steer(&eanem, "1", 0, &bound, 1) == -EINVAL, "a CPU's own thread stays there");
	must(eanem_open(&second), "open the second handle");
	must(eanem_steer(&eanem, "0", 0, NULL, 0), "steer");
	check(eanem_steer(&second, "0", 0, NULL, 0) == -EBUSY, "one steers at a time");
	must(eanem_steer(&eanem, "", 0, NULL, 0), "steer back");
	check(eanem_steer(&second, "0", 0, NULL, 0) == 0, "and then another one");
	eanem_close(&second);
	close(raw);
	close(fd);
}

/* A setting that is out of its range stays as it is. */
void test_settings(void)
{
	static const struct {
		const char *file, *value;
	} wrong[] = {
		{EANEM_DIR "/interval_us", "999"}, {EANEM_DIR "/interval_us", "10000001"},
		{EANEM_DIR "/period_us", "99"},	   {EANEM_DIR "/period_us", "100001"},
		{EANEM_DIR "/delta_us", "-1"},	   {EANEM_DIR "/delta_us", "1000001"},
	};
	char before[32], after[32];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		must(read_text(wrong[i].file, before, sizeof(before)), "read a setting");
		check(write_text(wrong[i].file, wrong[i].value) == -EINVAL &&
			      !read_text(wrong[i].file, after, sizeof(after)) &&
			      !strcmp(before, after),
		      "%s is out of the range of %s", wrong[i].value, wrong[i].file);
	}
}

/* Attributes of a request. */
struct attributes {
	char rest[512];
	size_t size;
};

static void add(struct attributes *to, uint16_t type, const void *value, size_t length)
{
	append(to->rest, &to->size, type, value, length);
}

static int answer_to(uint8_t command, const struct attributes *attributes)
{
	int records;

	ask(&eanem, command, NLM_F_ACK, attributes->rest, attributes->size);
	return answer(&eanem, &records);
}

static void test_target_attributes(void)
{
	uint64_t id = 1, target = 1000, self = (uint64_t)getpid();
	struct attributes value = {0}, socket = {0}, both, half, process;

	add(&value, LULL_EANEM_A_TARGET, &target, sizeof(target));
	check(answer_to(LULL_EANEM_COMMAND_TARGET, &value) == -EINVAL,
	      "a target is for a socket or for a process");
	add(&socket, LULL_EANEM_A_ID, &id, sizeof(id));
	check(answer_to(LULL_EANEM_COMMAND_TARGET, &socket) == -EINVAL, "it has a value");
	both = value;
	add(&both, LULL_EANEM_A_ID, &id, sizeof(id));
	add(&both, LULL_EANEM_A_PID, &self, sizeof(uint32_t));
	check(answer_to(LULL_EANEM_COMMAND_TARGET, &both) == -EINVAL, "and is not for both");
	half = socket;
	add(&half, LULL_EANEM_A_TARGET, &target, sizeof(target) / 2);
	check(answer_to(LULL_EANEM_COMMAND_TARGET, &half) == -EINVAL, "a target has its length");
	for (size_t length = 2; length <= 8; length *= 4) {
		process = value;
		add(&process, LULL_EANEM_A_PID, &self, length);
		check(answer_to(LULL_EANEM_COMMAND_TARGET, &process) == -EINVAL,
		      "a process's number has not %zu bytes", length);
	}
}

static void test_steering_attributes(void)
{
	static const uint32_t threads[LULL_EANEM_THREADS_MOST + 1];
	uint32_t self = (uint32_t)getpid();
	struct attributes thread = {0}, cpus = {0}, many, part, clock;
	uint64_t khz = 0;

	add(&thread, LULL_EANEM_A_THREADS, &self, sizeof(self));
	check(answer_to(LULL_EANEM_COMMAND_STEER, &thread) == -EINVAL, "steering has CPUs");
	add(&cpus, LULL_EANEM_A_CPUS, "0", 2);
	many = cpus;
	add(&many, LULL_EANEM_A_THREADS, threads, sizeof(threads));
	check(answer_to(LULL_EANEM_COMMAND_STEER, &many) == -ERANGE,
	      "there can be too many threads");
	part = cpus;
	add(&part, LULL_EANEM_A_THREADS, threads, sizeof(threads[0]) + 2);
	check(answer_to(LULL_EANEM_COMMAND_STEER, &part) == -EINVAL,
	      "there is no half of a thread");
	for (size_t length = 2; length <= 8; length *= 4) {
		clock = cpus;
		add(&clock, LULL_EANEM_A_KHZ, &khz, length);
		check(answer_to(LULL_EANEM_COMMAND_STEER, &clock) == -EINVAL,
		      "a frequency has not %zu bytes", length);
	}
}

/* Requests with attributes that are wrong, missing or too many. */
void test_attributes(void)
{
	test_target_attributes();
	test_steering_attributes();
}
